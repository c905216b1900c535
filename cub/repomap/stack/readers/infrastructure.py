"""Read the files of operations: containers, Terraform and Helm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from cub.repomap.stack.facts import EntryPoint, Fact, Technology
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import YamlScalar, read_yaml_scalars, select_below

_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,3})(?![\w.])")
_ARGUMENT = re.compile(r"\$(?:(\w++)|\{(\w++)(?::-([^}\n]{0,100}))?[^}\n]{0,100}\})")
_FROM = re.compile(r"(?:--\S++[ \t]++)*+(\S++)(?:[ \t]++AS[ \t]++(\S++))?", re.IGNORECASE)
_MAX_LINE_CHARS = 2000
_MAX_LINES = 500  # of one instruction
_MAX_IMAGE_CHARS = 300
_MAX_PORTS = 4


_Instruction = tuple[str, str]  # its word, and the rest


def read_dockerfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the base images of a Dockerfile, and what its container starts."""
    if manifest.path.endswith(".dockerignore"):
        return
    instructions = list(_iter_instructions(manifest.text))
    if not any(word == "FROM" for word, _ in instructions):
        raise ValueError("no base image: FROM is missing")
    for image in _iter_base_images(instructions):
        yield from _find_image(image, manifest)
    yield manifest.make_technology("Docker", "tool")
    yield from _list_entry_points(instructions, manifest)


def _iter_instructions(text: str) -> Iterator[_Instruction]:
    """Yield the instructions, with continued lines joined."""
    parts: list[str] = []
    for line in (full[:_MAX_LINE_CHARS].strip() for full in text.split("\n")):
        if line.startswith("#") or not (line or parts):
            continue
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\") or len(parts) > _MAX_LINES:
            word, _, rest = " ".join(parts).strip().partition(" ")
            yield word.upper(), rest.strip()
            parts = []


def _iter_base_images(instructions: list[_Instruction]) -> Iterator[str]:
    """Yield the images that stages begin with, arguments filled in, without earlier stages."""
    arguments: dict[str, str] = {}
    stages: set[str] = set()
    for word, rest in instructions:
        if word == "ARG":
            name, _, value = rest.partition("=")
            arguments.setdefault(name.strip(), value.strip().strip("\"'"))
        if stage := _FROM.match(rest) if word == "FROM" else None:
            image = _fill_arguments(stage[1], arguments)
            if image.lower() not in stages:
                yield image
            stages.add((stage[2] or "").lower())


def _fill_arguments(text: str, arguments: dict[str, str]) -> str:
    def get_value(argument: re.Match[str]) -> str:
        return arguments.get(argument[1] or argument[2]) or argument[3] or ""

    return _ARGUMENT.sub(get_value, text[:_MAX_IMAGE_CHARS])[:_MAX_IMAGE_CHARS]


def _find_image(image: str, manifest: Manifest) -> tuple[Technology, ...]:
    """Return the technology of an image such as "docker.io/library/python:3.12-slim"."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    version = _VERSION.match(tag)
    return manifest.find_known("docker", [(name, version[1] if version else "")])


def _list_entry_points(
    instructions: list[_Instruction], manifest: Manifest
) -> Iterator[EntryPoint]:
    """Yield what a container of the last stage starts, and the ports that it listens to."""
    last = max(number for number, (word, _) in enumerate(instructions) if word == "FROM")
    stage = dict(instructions[last:])
    line = " ".join(_join_words(stage[word]) for word in ("ENTRYPOINT", "CMD") if word in stage)
    exposed = " ".join(rest for word, rest in instructions[last:] if word == "EXPOSE").split()
    ports = [port for port in exposed if re.fullmatch(r"\d+(?:/\w+)?", port)]
    if line:
        suffix = f" (port {', '.join(ports[:_MAX_PORTS])})" if ports else ""
        yield manifest.make_entry_point(manifest.name, f"{line}{suffix}")


def _join_words(line: str) -> str:
    """Return a command line, which may be a list in JSON."""
    try:
        words = json.loads(line) if line.startswith("[") else None
    except ValueError:
        words = None
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return " ".join(words)
    return line


def read_compose_file(manifest: Manifest) -> Iterator[Fact]:
    """Read the services of a compose file."""
    services = select_below(read_yaml_scalars(manifest.text), "services")
    for keys, value in services:
        if keys[1:] == ("image",):
            yield from _find_image(_fill_arguments(value, {}), manifest)
    yield manifest.make_technology("Docker Compose", "tool")
    if manifest.name.rpartition(".")[0] in ("compose", "docker-compose"):
        yield manifest.make_command("run", "docker compose up")
    yield from _list_built_services(services, manifest)


def _list_built_services(services: list[YamlScalar], manifest: Manifest) -> Iterator[EntryPoint]:
    """Yield the services that are built from files of the project."""
    builds: dict[str, dict[str, str]] = {}
    for keys, value in services:
        if keys[1:2] == ("build",) and len(keys) <= 3:
            builds.setdefault(keys[0], {})[keys[2] if len(keys) == 3 else "context"] = value
    for service, build in builds.items():
        folder, file = build.get("context", "."), build.get("dockerfile", "Dockerfile")
        path = manifest.resolve_path(f"{folder}/{file}")
        if path in manifest.paths:
            yield manifest.make_entry_point(service, path)


_PROVIDER = re.compile(r'provider[ \t]++"(\w++)"')
_PROVIDER_SOURCE = re.compile(r'source[ \t]*+=[ \t]*+"(?:registry\.\w++\.io/)?\w[\w-]*+/([\w-]++)"')


def read_terraform(manifest: Manifest) -> Iterator[Fact]:
    """Read the providers, in order of the alphabet."""
    lines = iter_code_lines(manifest.text)
    matches = (_PROVIDER.match(line) or _PROVIDER_SOURCE.match(line) for line in lines)
    providers = [(provider[1], "") for provider in matches if provider]
    yield from sorted(manifest.find_known("terraform", providers))


def read_chart(manifest: Manifest) -> Iterator[Fact]:
    """Read a chart of Helm."""
    fields = {scalar.keys: scalar.value for scalar in read_yaml_scalars(manifest.text)}
    name = fields.get(("name",), "")
    if not name:
        raise ValueError("this chart has no name")
    yield manifest.make_package(name, fields.get(("description",), ""))
