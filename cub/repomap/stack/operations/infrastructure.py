"""Infrastructure as code: Nix, Terraform, Helm, Ansible, Serverless."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import above
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.lines import code_lines, without_comments
from cub.repomap.stack.formats.yaml_lines import entries

_REQUIRED = re.compile(r'required_version[ \t]*+=[ \t]*+"([^"\n]++)"')
_PROVIDER = re.compile(r'provider[ \t]++"(\w++)"')
_PROVIDER_SOURCE = re.compile(r'source[ \t]*+=[ \t]*+"(?:registry\.\w++\.io/)?\w[\w-]*+/([\w-]++)"')
_PROVIDERS = {
    "aws": "AWS", "azurerm": "Azure", "cloudflare": "Cloudflare", "digitalocean": "DigitalOcean",
    "github": "GitHub", "google": "Google Cloud", "hcloud": "Hetzner Cloud", "helm": "Helm",
    "kubernetes": "Kubernetes", "oci": "Oracle Cloud",
}  # fmt: skip


def _flake(manifest: Manifest) -> Facts:
    text, source, folder = without_comments(manifest.text, "#"), manifest.path, manifest.folder
    shell = [Command("install", "nix develop", source, folder)] if "devShell" in text else []
    build = [Command("build", "nix build", source, folder)] if "packages" in text else []
    return Facts(
        technologies=(Technology("Nix", "tool", "", source),),
        commands=(*shell, *build),
    )


def _terraform(manifest: Manifest) -> Facts:
    lines = list(code_lines(manifest.text))
    source, folder = manifest.path, manifest.folder
    versions = [found[1] for line in lines if (found := _REQUIRED.match(line))]
    return Facts(
        technologies=(
            Technology("Terraform", "tool", "".join(versions[:1]), source),
            *(Technology(name, "tool", "", source) for name in _providers(lines)),
        ),
        commands=(
            Command("lint", "terraform validate", source, folder),
            Command("format", "terraform fmt -recursive", source, folder),
        ),
    )


def _providers(lines: list[str]) -> list[str]:
    """The clouds that are provided for, in order of the alphabet."""
    found = [_PROVIDER.match(line) or _PROVIDER_SOURCE.match(line) for line in lines]
    return sorted({_PROVIDERS[each[1]] for each in found if each and each[1] in _PROVIDERS})


def _chart(manifest: Manifest) -> Facts:
    fields = {each.keys: each.value for each in entries(manifest.text)}
    name, source, folder = fields.get(("name",), ""), manifest.path, manifest.folder
    if not name:
        raise ValueError("this chart has no name")
    command = Command("lint", "helm lint .", source, folder)
    return Facts(
        technologies=(Technology("Helm", "tool", "", source),),
        commands=() if above(manifest, "Chart.yaml") else (command,),
        packages=(Package(folder, name, fields.get(("description",), ""), source),),
    )


def _ansible(manifest: Manifest) -> Facts:
    return Facts(technologies=(Technology("Ansible", "tool", "", manifest.path),))


def _serverless(manifest: Manifest) -> Facts:
    found = entries(manifest.text)
    fields = {each.keys: each.value for each in found}
    name, source = fields.get(("service",)) or fields.get(("service", "name"), ""), manifest.path
    version = fields.get(("frameworkVersion",), "")
    handlers = [each for each in found if each.keys[::2] == ("functions", "handler")]
    return Facts(
        technologies=(
            Technology("Serverless Framework", "framework", version, source),
            *_cloud(fields.get(("provider", "name"), ""), source),
        ),
        entry_points=tuple(
            EntryPoint(each.keys[1], each.value, source) for each in handlers if len(each.keys) == 3
        ),
        packages=(Package(manifest.folder, name, "", source),) if name else (),
    )


def _cloud(name: str, source: str) -> Iterator[Technology]:
    known = {"aws": "AWS", "azure": "Azure", "google": "Google Cloud"}
    if name in known:
        yield Technology(known[name], "tool", "", source)


READERS: tuple[Reader, ...] = (
    Reader(("flake.nix",), _flake),
    Reader(("main.tf", "versions.tf", "providers.tf", "terraform.tf"), _terraform),
    Reader(("Chart.yaml",), _chart),
    Reader(("serverless.yml", "serverless.yaml"), _serverless),
    Reader(("ansible.cfg",), _ansible),
)
