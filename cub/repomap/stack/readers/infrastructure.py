"""Read infrastructure as code: Nix, Terraform, Helm and Serverless."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import Fact
from cub.repomap.stack.formats import find_first, iter_code_lines, strip_comments
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import read_yaml_scalars

_REQUIRED = re.compile(r'required_version[ \t]*+=[ \t]*+"([^"\n]++)"')
_PROVIDER = re.compile(r'provider[ \t]++"(\w++)"')
_PROVIDER_SOURCE = re.compile(r'source[ \t]*+=[ \t]*+"(?:registry\.\w++\.io/)?\w[\w-]*+/([\w-]++)"')


def read_flake(manifest: Manifest) -> Iterator[Fact]:
    """Read a flake of Nix."""
    text = strip_comments(manifest.text, "#")
    yield manifest.make_technology("Nix", "tool")
    if "devShell" in text:
        yield manifest.make_command("install", "nix develop")
    if "packages" in text:
        yield manifest.make_command("build", "nix build")


def read_terraform(manifest: Manifest) -> Iterator[Fact]:
    """Read the version of Terraform and the providers, in order of the alphabet."""
    lines = list(iter_code_lines(manifest.text))
    yield manifest.make_technology("Terraform", "tool", find_first(_REQUIRED, lines))
    matches = (_PROVIDER.match(line) or _PROVIDER_SOURCE.match(line) for line in lines)
    providers = [(provider[1], "") for provider in matches if provider]
    yield from sorted(manifest.find_known("terraform", providers))
    yield from manifest.make_commands(lint="terraform validate", format="terraform fmt -recursive")


def read_chart(manifest: Manifest) -> Iterator[Fact]:
    """Read a chart of Helm."""
    fields = {scalar.keys: scalar.value for scalar in read_yaml_scalars(manifest.text)}
    name = fields.get(("name",), "")
    if not name:
        raise ValueError("this chart has no name")
    yield manifest.make_technology("Helm", "tool")
    if not manifest.exists_above("Chart.yaml"):
        yield manifest.make_command("lint", "helm lint .")
    yield manifest.make_package(name, fields.get(("description",), ""))


def read_serverless(manifest: Manifest) -> Iterator[Fact]:
    """Read a service and its handlers."""
    scalars = read_yaml_scalars(manifest.text)
    fields = {scalar.keys: scalar.value for scalar in scalars}
    version = fields.get(("frameworkVersion",), "")
    yield manifest.make_technology("Serverless Framework", "framework", version)
    yield from manifest.find_known("serverless", [(fields.get(("provider", "name"), ""), "")])
    for keys, value, _ in scalars:
        if len(keys) == 3 and keys[::2] == ("functions", "handler"):
            yield manifest.make_entry_point(keys[1], value)
    yield manifest.make_package(fields.get(("service",)) or fields.get(("service", "name"), ""))
