"""Which names call their values secret: by their words, however these are spelt together."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Strength = Literal["", "weak", "strong"]

# What may stand in a name that matters, in small letters: looked for before anything else is.
HINT = re.compile(
    r"pass|pwd|pw\b|secret|token|key|cred|auth|cookie|sess|sig|jwt|bearer|dsn|contrase|webhook|sid\b"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SECRET = {
    "password", "passwd", "passphrase", "passwort", "passcode", "pwd", "pw", "secret", "token",
    "apikey", "accesskey", "secretkey", "privatekey", "authkey", "credential", "credentials",
    "authtoken", "accesstoken", "apitoken", "dbpass", "dbpassword", "userpass", "mypass",
    "contraseña", "contrasena", "pgpassword", "sshpass", "clientsecret", "bearer",
}  # fmt: skip
# Keys that are no column, index or button.
_BEFORE_KEY = {
    "api", "access", "secret", "private", "priv", "auth", "account", "service", "master", "client",
    "shared", "encryption", "encrypt", "signing", "sign", "storage", "subscription", "license",
    "deploy", "db", "database", "app", "application", "consumer", "webhook", "jwt", "session",
    "integration", "server", "admin", "write", "hmac", "aes", "wrapping", "unseal",
}  # fmt: skip
_BEFORE_PASS = {"db", "database", "user", "mysql", "postgres", "pg", "redis", "smtp", "mail", "ftp",
                "key", "admin", "root", "ldap", "proxy", "ssh", "email", "login", "http", "basic",
                "sudo", "mongo", "rabbitmq", "amqp"}  # fmt: skip
# Keys that anybody may read, or that name an entry.
_OPEN_KEY = {"public", "pub", "cache", "restore", "partition", "sort", "primary", "foreign", "row",
             "group", "host", "idempotency", "from", "object", "map", "dict", "hash"}  # fmt: skip
_WEAK = {
    "key", "keys", "auth", "signature", "sig", "session", "sessionid", "sid", "cookie", "pass",
    "jwt", "dsn", "tokens", "secrets", "passwords", "credentials", "webhook", "authorization",
}  # fmt: skip
# A name with one of these behind its secret word tells something about it.
_ABOUT = {
    "file", "files", "path", "dir", "folder", "name", "names", "id", "ids", "length", "len", "size",
    "type", "types", "field", "policy", "count", "limit", "url", "uri", "endpoint", "expires",
    "expiry", "expiration", "expired", "ttl", "min", "max", "required", "reset", "hint", "prompt",
    "strength", "rotation", "version", "arn", "manager", "ref", "label", "error", "errors", "is",
    "status", "provider", "store", "list", "enabled", "disabled", "input", "form", "placeholder",
    "regex", "pattern", "param", "header", "env", "var", "column", "index", "usage", "used", "kind",
    "class", "function", "func", "fn", "test", "tests", "py", "ts", "js", "go", "rs", "rb", "java",
    "tsx", "md", "json", "yaml", "yml", "toml", "txt", "html", "css", "sh", "at", "date", "time",
    "timeout", "age", "valid", "invalid", "validator", "validation", "match", "message", "text",
    "title", "page", "view", "service", "handler", "helper", "util", "utils", "stream",
    "budget", "estimate", "per", "rate", "schema", "model", "scope", "scopes", "config", "format",
    "algorithm", "method", "strategy", "backend", "bucket", "region", "user", "username", "owner",
    "event", "code", "press", "down", "up", "board", "word", "words", "frame", "frames", "prefix",
}  # fmt: skip
_BEFORE_ALL = {"test", "tests", "it", "should", "no", "max", "min", "num", "n", "has", "is", "use",
               "total", "prompt", "completion", "input", "output", "next", "prev", "missing",
               "invalid", "expected", "public", "pub", "error", "expired", "bad"}  # fmt: skip


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength:
    """How surely a value with this name is secret; a weak name asks for a value of chance."""
    words = [word.casefold() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[0] in _BEFORE_ALL or words[-1] in _ABOUT:
        return ""
    if any(_is_secret(words, at) for at in range(len(words))):
        return "strong"
    named_key = words[-1] in ("key", "keys") and len(words) > 1 and words[-2] in _OPEN_KEY
    return "weak" if words[-1] in _WEAK and not named_key else ""


def _is_secret(words: list[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if word == "key":
        return before in _BEFORE_KEY
    if word == "pass":
        return before in _BEFORE_PASS
    return word in _SECRET or word.endswith(("password", "passwd", "secret", "apikey"))
