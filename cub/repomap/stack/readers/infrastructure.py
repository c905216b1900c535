"""Read infrastructure as code: Nix, Terraform, Helm and Serverless."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import ManifestFacts
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import read_yaml_scalars

_REQUIRED = re.compile(r'required_version[ \t]*+=[ \t]*+"([^"\n]++)"')
_PROVIDER = re.compile(r'provider[ \t]++"(\w++)"')
_PROVIDER_SOURCE = re.compile(r'source[ \t]*+=[ \t]*+"(?:registry\.\w++\.io/)?\w[\w-]*+/([\w-]++)"')


def read_flake(manifest: Manifest) -> ManifestFacts:
    """Read a flake of Nix."""
    text = strip_comments(manifest.text, "#")
    shell = manifest.make_commands(install="nix develop") if "devShell" in text else ()
    build = manifest.make_commands(build="nix build") if "packages" in text else ()
    return ManifestFacts((manifest.make_technology("Nix", "tool"),), (*shell, *build))


def read_terraform(manifest: Manifest) -> ManifestFacts:
    """Read the version of Terraform and the providers, in order of the alphabet."""
    lines = list(iter_code_lines(manifest.text))
    versions = (required[1] for line in lines if (required := _REQUIRED.match(line)))
    return ManifestFacts(
        (
            manifest.make_technology("Terraform", "tool", next(versions, "")),
            *sorted(find_known_technologies("terraform", _iter_providers(lines), manifest.path)),
        ),
        manifest.make_commands(lint="terraform validate", format="terraform fmt -recursive"),
    )


def _iter_providers(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if provider := _PROVIDER.match(line) or _PROVIDER_SOURCE.match(line):
            yield provider[1], ""


def read_chart(manifest: Manifest) -> ManifestFacts:
    """Read a chart of Helm."""
    fields = {scalar.keys: scalar.value for scalar in read_yaml_scalars(manifest.text)}
    name = fields.get(("name",), "")
    if not name:
        raise ValueError("this chart has no name")
    is_part = manifest.exists_above("Chart.yaml")
    return ManifestFacts(
        (manifest.make_technology("Helm", "tool"),),
        () if is_part else manifest.make_commands(lint="helm lint ."),
        packages=(manifest.make_package(name, fields.get(("description",), "")),),
    )


def read_serverless(manifest: Manifest) -> ManifestFacts:
    """Read a service and its handlers."""
    scalars = read_yaml_scalars(manifest.text)
    fields = {scalar.keys: scalar.value for scalar in scalars}
    name = fields.get(("service",)) or fields.get(("service", "name"), "")
    cloud = fields.get(("provider", "name"), "")
    version = fields.get(("frameworkVersion",), "")
    return ManifestFacts(
        (
            manifest.make_technology("Serverless Framework", "framework", version),
            *find_known_technologies("serverless", [(cloud, "")], manifest.path),
        ),
        entry_points=tuple(
            manifest.make_entry_point(scalar.keys[1], scalar.value)
            for scalar in scalars
            if len(scalar.keys) == 3 and scalar.keys[::2] == ("functions", "handler")
        ),
        packages=(manifest.make_package(name),) if name else (),
    )
