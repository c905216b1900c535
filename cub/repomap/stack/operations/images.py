"""What a container image stands for, by its name."""

from __future__ import annotations

import re

from cub.repomap.stack.facts import Technology

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


def technology_of(image: str, source: str) -> Technology | None:
    """The technology of an image such as "docker.io/library/python:3.12-slim"; None for others."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    found = _VERSION.match(tag)
    version = found[1] if found else ""
    if name in _RUNTIMES:
        return Technology(_RUNTIMES[name], "runtime", version, source)
    return Technology(_SERVICES[name], "tool", version, source) if name in _SERVICES else None
