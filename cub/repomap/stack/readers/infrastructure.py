"""Infrastructure as code: Nix, Terraform, Helm, Ansible, Serverless."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import iter_code_lines, strip_comments
from cub.repomap.stack.manifest_paths import exists_above
from cub.repomap.stack.yaml_reader import read_yaml_scalars

_REQUIRED = re.compile(r'required_version[ \t]*+=[ \t]*+"([^"\n]++)"')
_PROVIDER = re.compile(r'provider[ \t]++"(\w++)"')
_PROVIDER_SOURCE = re.compile(r'source[ \t]*+=[ \t]*+"(?:registry\.\w++\.io/)?\w[\w-]*+/([\w-]++)"')
_PROVIDERS = {
    "aws": "AWS", "azurerm": "Azure", "cloudflare": "Cloudflare", "digitalocean": "DigitalOcean",
    "github": "GitHub", "google": "Google Cloud", "hcloud": "Hetzner Cloud", "helm": "Helm",
    "kubernetes": "Kubernetes", "oci": "Oracle Cloud",
}  # fmt: skip


def _flake(manifest: Manifest) -> ManifestFacts:
    text, source, folder = strip_comments(manifest.text, "#"), manifest.path, manifest.folder
    shell = [ProjectCommand("install", "nix develop", source, folder)] if "devShell" in text else []
    build = [ProjectCommand("build", "nix build", source, folder)] if "packages" in text else []
    return ManifestFacts(
        technologies=(Technology("Nix", "tool", "", source),),
        commands=(*shell, *build),
    )


def _terraform(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(manifest.text))
    source, folder = manifest.path, manifest.folder
    versions = [found[1] for line in lines if (found := _REQUIRED.match(line))]
    return ManifestFacts(
        technologies=(
            Technology("Terraform", "tool", "".join(versions[:1]), source),
            *(Technology(name, "tool", "", source) for name in _providers(lines)),
        ),
        commands=(
            ProjectCommand("lint", "terraform validate", source, folder),
            ProjectCommand("format", "terraform fmt -recursive", source, folder),
        ),
    )


def _providers(lines: list[str]) -> list[str]:
    """The clouds that are provided for, in order of the alphabet."""
    found = [_PROVIDER.match(line) or _PROVIDER_SOURCE.match(line) for line in lines]
    return sorted({_PROVIDERS[each[1]] for each in found if each and each[1] in _PROVIDERS})


def _chart(manifest: Manifest) -> ManifestFacts:
    fields = {each.keys: each.value for each in read_yaml_scalars(manifest.text)}
    name, source, folder = fields.get(("name",), ""), manifest.path, manifest.folder
    if not name:
        raise ValueError("this chart has no name")
    command = ProjectCommand("lint", "helm lint .", source, folder)
    return ManifestFacts(
        technologies=(Technology("Helm", "tool", "", source),),
        commands=() if exists_above(manifest, "Chart.yaml") else (command,),
        packages=(ProjectPackage(folder, name, fields.get(("description",), ""), source),),
    )


def _ansible(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(technologies=(Technology("Ansible", "tool", "", manifest.path),))


def _serverless(manifest: Manifest) -> ManifestFacts:
    found = read_yaml_scalars(manifest.text)
    fields = {each.keys: each.value for each in found}
    name, source = fields.get(("service",)) or fields.get(("service", "name"), ""), manifest.path
    version = fields.get(("frameworkVersion",), "")
    handlers = [each for each in found if each.keys[::2] == ("functions", "handler")]
    return ManifestFacts(
        technologies=(
            Technology("Serverless Framework", "framework", version, source),
            *_cloud(fields.get(("provider", "name"), ""), source),
        ),
        entry_points=tuple(
            EntryPoint(each.keys[1], each.value, source) for each in handlers if len(each.keys) == 3
        ),
        packages=(ProjectPackage(manifest.folder, name, "", source),) if name else (),
    )


def _cloud(name: str, source: str) -> Iterator[Technology]:
    known = {"aws": "AWS", "azure": "Azure", "google": "Google Cloud"}
    if name in known:
        yield Technology(known[name], "tool", "", source)


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("flake.nix",), _flake),
    ManifestReader(("main.tf", "versions.tf", "providers.tf", "terraform.tf"), _terraform),
    ManifestReader(("Chart.yaml",), _chart),
    ManifestReader(("serverless.yml", "serverless.yaml"), _serverless),
    ManifestReader(("ansible.cfg",), _ansible),
)
