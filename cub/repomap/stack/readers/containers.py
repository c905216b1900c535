"""Containers: Dockerfiles and compose files.

What a container image stands for, by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
)
from cub.repomap.stack.manifest_paths import resolve_manifest_path
from cub.repomap.stack.yaml_reader import YamlScalar, read_yaml_scalars, select_below

# A language in an image is what something runs on, and not what it is written in.
_RUNTIMES = {
    "bun": "Bun", "deno": "Deno", "eclipse-temurin": "Java", "elixir": "Elixir",
    "erlang": "Erlang", "golang": "Go", "node": "Node.js", "openjdk": "Java", "perl": "Perl",
    "php": "PHP", "python": "Python", "ruby": "Ruby", "rust": "Rust", "swift": "Swift",
}  # fmt: skip
_SERVICES = {
    "caddy": "Caddy", "cassandra": "Cassandra", "clickhouse-server": "ClickHouse",
    "cockroach": "CockroachDB", "couchdb": "CouchDB", "elasticsearch": "Elasticsearch",
    "etcd": "etcd", "grafana": "Grafana", "haproxy": "HAProxy", "kafka": "Kafka",
    "keycloak": "Keycloak", "localstack": "LocalStack", "mailhog": "MailHog",
    "mailpit": "Mailpit", "mariadb": "MariaDB", "memcached": "Memcached", "minio": "MinIO",
    "mongo": "MongoDB", "mssql": "SQL Server", "mysql": "MySQL", "nats": "NATS",
    "neo4j": "Neo4j", "nginx": "nginx", "opensearch": "OpenSearch", "postgis": "PostGIS",
    "postgres": "PostgreSQL", "prometheus": "Prometheus", "qdrant": "Qdrant",
    "rabbitmq": "RabbitMQ", "redis": "Redis", "timescaledb": "TimescaleDB",
    "traefik": "Traefik", "valkey": "Valkey", "vault": "Vault", "zookeeper": "ZooKeeper",
}  # fmt: skip
_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,3})(?![\w.])")


def detect_image_technology(image: str, source: str) -> Technology | None:
    """The technology of an image such as "docker.io/library/python:3.12-slim"; None for others."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    found = _VERSION.match(tag)
    version = found[1] if found else ""
    if name in _RUNTIMES:
        return Technology(_RUNTIMES[name], "runtime", version, source)
    return Technology(_SERVICES[name], "tool", version, source) if name in _SERVICES else None


_ARGUMENT = re.compile(r"\$(?:(\w++)|\{(\w++)(?::-([^}\n]{0,100}))?[^}\n]{0,100}\})")
_FROM = re.compile(r"(?:--\S++[ \t]++)*+(\S++)(?:[ \t]++AS[ \t]++(\S++))?", re.IGNORECASE)
_DOCKERFILES = ("Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile", "Containerfile.*")
_COMPOSE = ("compose*.yml", "compose*.yaml", "docker-compose*.yml", "docker-compose*.yaml")


class _Instruction(NamedTuple):
    word: str
    rest: str


def _dockerfile(manifest: Manifest) -> ManifestFacts:
    if manifest.path.endswith(".dockerignore"):
        return ManifestFacts()
    instructions = list(_instructions(manifest.text))
    if not any(each.word == "FROM" for each in instructions):
        raise ValueError("this begins with no image: there is no FROM")
    found = (detect_image_technology(image, manifest.path) for image in _bases(instructions))
    return ManifestFacts(
        technologies=(
            *(each for each in found if each),
            Technology("Docker", "tool", "", manifest.path),
        ),
        entry_points=tuple(_start(instructions, manifest)),
    )


def _instructions(text: str) -> Iterator[_Instruction]:
    """The instructions with the lines that they go on in."""
    pieces: list[str] = []
    for line in (whole[:2000].strip() for whole in text.split("\n")):
        if line.startswith("#") or not (line or pieces):
            continue
        pieces.append(line.removesuffix("\\"))
        if not line.endswith("\\") or len(pieces) > 500:
            word, _, rest = " ".join(pieces).strip().partition(" ")
            yield _Instruction(word.upper(), rest.strip())
            pieces = []


def _bases(instructions: list[_Instruction]) -> Iterator[str]:
    """The images that stages begin with, arguments put in, without those of earlier stages."""
    arguments: dict[str, str] = {}
    stages: set[str] = set()
    for word, rest in instructions:
        if word == "ARG":
            name, _, value = rest.partition("=")
            arguments.setdefault(name.strip(), value.strip().strip("\"'"))
        found = _FROM.match(rest) if word == "FROM" else None
        if found:
            image = _filled(found[1], arguments)
            if image.lower() not in stages:
                yield image
            stages.add((found[2] or "").lower())


def _filled(text: str, arguments: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        return arguments.get(found[1] or found[2]) or found[3] or ""

    return _ARGUMENT.sub(value, text[:300])[:300]


def _start(instructions: list[_Instruction], manifest: Manifest) -> Iterator[EntryPoint]:
    """What a container of the last stage starts, and the ports that it listens to."""
    last = max(n for n, each in enumerate(instructions) if each.word == "FROM")
    said = {each.word: each.rest for each in instructions[last:]}
    line = " ".join(_plain(said[word]) for word in ("ENTRYPOINT", "CMD") if word in said)
    ports = [each.rest for each in instructions[last:] if each.word == "EXPOSE"]
    shown = [port for port in " ".join(ports).split() if re.fullmatch(r"\d+(?:/\w+)?", port)]
    if line:
        where = f" (port {', '.join(shown[:4])})" if shown else ""
        yield EntryPoint(manifest.path.rpartition("/")[2], f"{line}{where}", manifest.path)


def _plain(line: str) -> str:
    """A command line, in the form of a list as well."""
    try:
        words = json.loads(line) if line.startswith("[") else None
    except ValueError:
        words = None
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return " ".join(words)
    return line


def _compose(manifest: Manifest) -> ManifestFacts:
    services = select_below(read_yaml_scalars(manifest.text), "services")
    images = [each.value for each in services if each.keys[1:] == ("image",)]
    found = (detect_image_technology(_filled(image, {}), manifest.path) for image in images)
    name = manifest.path.rpartition("/")[2]
    usual = name.rpartition(".")[0] in ("compose", "docker-compose")
    command = ProjectCommand("run", "docker compose up", manifest.path, manifest.folder)
    return ManifestFacts(
        technologies=(
            *(each for each in found if each),
            Technology("Docker Compose", "tool", "", manifest.path),
        ),
        commands=(command,) if usual else (),
        entry_points=tuple(_built(services, manifest)),
    )


def _built(services: list[YamlScalar], manifest: Manifest) -> Iterator[EntryPoint]:
    """The services that are made from files of the project."""
    for service, build in _contexts(services).items():
        folder, file = build.get("context", "."), build.get("dockerfile", "Dockerfile")
        path = resolve_manifest_path(manifest, f"{folder}/{file}")
        if path in manifest.paths:
            yield EntryPoint(service, path, manifest.path)


def _contexts(services: list[YamlScalar]) -> dict[str, dict[str, str]]:
    """For each service that is built, its folder and Dockerfile."""
    found: dict[str, dict[str, str]] = {}
    for keys, value, _ in services:
        if keys[1:2] == ("build",) and len(keys) <= 3:
            found.setdefault(keys[0], {})[keys[2] if len(keys) == 3 else "context"] = value
    return found


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(_DOCKERFILES, _dockerfile),
    ManifestReader(_COMPOSE, _compose),
)
