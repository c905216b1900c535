"""Values that their names call secret: in an assignment, a settings file, JSON, an option, XML.

How much a value has to look like a secret depends on how sure its name is, and on who writes like
that: `DB_PASS=word` is an environment, `password=word` may be an argument of a call.

Which names call their values secret: by their words, however these are spelt together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from cub.masking.value_heuristics import (
    MASK,
    is_harmless_value,
    is_number,
    is_word,
    looks_like_id,
    looks_random,
)

_LONGEST_NAME = 80
_JUDGED = 200  # characters of a value without quotes, by which it is known
_IN_NAME = re.compile(r"[\w-]*+")
_QUOTED = (
    r"[fbrFBR@]?(?P<quote>\\{0,3}[\"'`])"
    r"(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\r\n])){1,1000})(?P=quote)"
)
# Only so many `=` in it, that a row of them costs no more than its length.
_BARE = r"\\{0,3}[\"'`]?(?P<bare>[^\s\"'`,;&\\=]{1,4000}+(?:=+[^\s\"'`,;&\\=]{0,200}){0,2})"
_ASSIGNED = re.compile(
    r"(?P<name>[\w-]{1,120})[\]\[\\\"'`?!)]{0,9}[^\S\r\n]{0,9}"
    r"(?P<mark>:=|=>|={1,3}|!==?|->|:(?:[^\S\n]?[A-Za-z]{3,12}[^\S\n]?=(?!=))?)"
    rf"(?P<space>[^\S\r\n]{{0,9}})(?:{_QUOTED}|{_BARE})"
)
_OPTION = re.compile(rf"(?P<name>[\w-]{{1,120}})(?P<space>[^\S\n]{{1,4}})(?:{_QUOTED}|{_BARE})")
_ELEMENT = re.compile(r"(?P<name>[\w-]{1,120})>(?P<quoted>[^<>\n]{1,1000})</(?P=name)>")
# `the token is …`: what a person writes about a secret.
_TOLD = re.compile(
    r"(?P<name>[\w-]{1,120})[ \t\"'`(,]{1,4}(?:(?:is|was|of|for|with|value)[^\w\n]{1,4}){0,2}"
    r"(?P<told>[A-Za-z0-9][\w+/.~-]{15,400}={0,2})"
)
_COMPARED = re.compile(
    r"(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\r\n])){1,300})(?P=quote)\s{0,9}"
    r"[!=]==?\s{0,9}(?P<name>[\w.-]{1,120})"
)
_ENTRY = re.compile(r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<value>\S+)")
_USER = re.compile(r"(?:\s-u|--user|--proxy-user)[= ][\"']?[\w.@-]{1,64}:(?P<value>[^\s\"':]{3,})")
_LOGIN = re.compile(
    r"\b(?:sshpass|(?:docker|podman|helm|az|oc)[^\S\n](?:registry[^\S\n])?login|redis-cli)\b"
    r"(?:[^\S\n]+[^\s]{1,80}){0,8}?[^\S\n]-[pa][^\S\n]?(?P<value>[^\s]{3,200})"
)
_LISTED = re.compile(
    r"\bname[\"']?: [\"']?(?P<name>[\w-]{1,80})[\"']?,?\s{1,20}[\"']?value[\"']?: "
    r"[\"']?(?P<value>[^\s\"',{}]{4,400})"
)
_JWK = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s*:\s*\"(?P<value>[\w-]{40,})\"")
_MENTION = re.compile(
    r"(?i)\b(?:password|token|secret|key|credential|required|must|enter|your)s?\b"
)
# Each with what has to be in a text where it is looked for.
_FORMS = (
    (_ENTRY, "machine ", "password"), (_USER, "-u"), (_USER, "user"), (_LOGIN, " -", "login"),
    (_LOGIN, "sshpass"), (_LOGIN, "redis-cli"), (_LISTED, "name", "value"), (_JWK, '"kty"'),
)  # fmt: skip
# A directive: `secret "…";` as in settings of name servers.
_DIRECTIVE = re.compile(rf"(?P<name>[\w-]{{1,120}})[^\S\n]{{1,4}}{_QUOTED};")
_CLOSING = ")]}>"
_COMPARISONS = ("==", "===", "!=", "!==")
# A token is no phrase and no word; a password may well be one.
_OF_TOKENS = re.compile(r"[\w.~+/=:@%!-]+")


def mask_named_values(text: str) -> str:
    """A text without what its names call secret."""
    small = _lower_in_place(text)
    spans = [*_find_named(text, small)] if SECRET_NAME_HINT.search(small) else []
    spans += _find_others(text, small)
    made, done = list[str](), 0
    for start, end in sorted(spans):
        if start >= done:
            made += [text[done:start], MASK]
            done = end
    return "".join([*made, text[done:]])


def _lower_in_place(text: str) -> str:
    """The text in small letters, each in its place."""
    small = text.lower()
    return small if len(small) == len(text) else re.sub(r"[^\x00-\x7f]", "?", text).lower()


def _find_named(text: str, small: str) -> Iterator[tuple[int, int]]:
    done = 0
    for hint in SECRET_NAME_HINT.finditer(small):
        if hint.start() < done:
            continue
        start = _start_of_name(text, hint.start(), done)
        name = _IN_NAME.match(text, start)
        after = done = name.end() if name else hint.end()
        for found in _candidates(text, start):
            span = _secret_in(text, found, start)
            if span:
                yield span
                done = max(done, span[1])
                break
        done = max(done, after)
    yield from _find_comparisons(text)


def _find_others(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Values in forms of their own: netrc's, a user's of an option, a key's of JSON."""
    for pattern, *signs in _FORMS:
        for found in pattern.finditer(text) if all(sign in small for sign in signs) else ():
            sure = "name" not in pattern.groupindex or rate_name(found["name"]) == "strong"
            if sure and not is_harmless_value(found["value"]):
                yield found.span("value")


def _start_of_name(text: str, at: int, lowest: int) -> int:
    before = text[max(lowest, at - _LONGEST_NAME) : at][::-1]
    found = _IN_NAME.match(before)
    return at - (found.end() if found else 0)


def _candidates(text: str, start: int) -> Iterator[re.Match[str]]:
    """How a name at `start` may be tied to a value, the surest first."""
    patterns = [_ASSIGNED, _DIRECTIVE, _TOLD]
    if text.startswith("-", start):
        patterns.insert(1, _OPTION)
    if text[start - 1 : start] == "<":
        patterns.insert(0, _ELEMENT)
    for pattern in patterns:
        if found := pattern.match(text, start):
            yield found


def _secret_in(text: str, match: re.Match[str], start: int) -> tuple[int, int] | None:
    """Where the secret of an assignment is; None for none."""
    groups = match.re.groupindex
    name = _whole_name(text, match["name"], start)
    sure = rate_name(name)
    if not sure:
        return None
    if "told" in groups:
        told = match["told"].rstrip(".")
        secret = sure == "strong" and looks_random(told) and not is_harmless_value(told)
        return (match.start("told"), match.start("told") + len(told)) if secret else None
    if (quoted := match["quoted"]) is not None:
        compared = "mark" in groups and match["mark"] in _COMPARISONS
        secret = _is_secret_in_quotes(quoted, name, sure, compared=compared)
        return match.span("quoted") if secret else None
    mark = match["mark"] if "mark" in groups else " "
    if mark in (*_COMPARISONS, "->"):
        return None
    bare = match["bare"]
    while bare and bare[-1] in _CLOSING and not _is_balanced(bare):
        bare = bare[:-1]
    shell = mark == "=" and not match["space"]
    end = match.start("bare") + len(bare)
    if _is_secret_value(
        bare[:_JUDGED], name, sure, is_shell=shell, in_url=text[start - 1 : start] in ("?", "&")
    ):
        return match.start("bare"), end
    return None


def _whole_name(text: str, name: str, start: int) -> str:
    """A name with the word in front of it: `API key` is written with a space."""
    before = text[max(0, start - 20) : start] if name.casefold().startswith("key") else ""
    if before.endswith(" ") and (words := before.split()) and words[-1].isalpha():
        joined = f"{words[-1]}_{name}"
        if rate_name(joined) != rate_name(name) and not rate_name(words[-1]):
            return joined
    return name


def _is_secret_in_quotes(value: str, name: str, sure: NameStrength, *, compared: bool) -> bool:
    if is_harmless_value(value) or (compared and is_word(value)):
        return False
    if "token" in name.casefold() and (is_word(value) or not _OF_TOKENS.fullmatch(value)):
        return False
    if sure == "weak":
        return looks_random(value) and not looks_like_id(value)
    return not (" " in value and _MENTION.search(value)) and not is_number(value)


def _is_secret_value(
    value: str, name: str, sure: NameStrength, *, is_shell: bool, in_url: bool
) -> bool:
    """Whether a value without quotes is one."""
    if len(value) < 4 or is_harmless_value(value):
        return False
    if sure == "weak" and not in_url:
        return looks_random(value) and not looks_like_id(value)
    if is_number(value):
        return value.isdigit() and len(value) > 4 and "pass" in name.casefold()
    if in_url or (is_shell and name != name.lower()):
        return not _names_itself(value)
    if is_word(value):
        return False
    return not _names_itself(value)


def _names_itself(value: str) -> bool:
    """Whether a value is itself the name of a secret, as where one is handed on."""
    return (
        re.fullmatch(r"[A-Za-z_][A-Za-z_]*", value) is not None
        and "_" in value
        and (rate_name(value) == "strong")
    )


def _is_balanced(value: str) -> bool:
    close = value[-1]
    return value.count(close) <= value.count("([{<"[_CLOSING.index(close)])


def _find_comparisons(text: str) -> Iterator[tuple[int, int]]:
    """`"…" == password`."""
    if "==" not in text and "!=" not in text:
        return
    for found in _COMPARED.finditer(text):
        name = found["name"].rpartition(".")[2]
        sure = rate_name(name)
        if sure == "strong" and _is_secret_in_quotes(found["quoted"], name, sure, compared=True):
            yield found.span("quoted")


NameStrength = Literal["", "weak", "strong"]

# What may stand in a name that matters, in small letters: looked for before anything else is.
SECRET_NAME_HINT = re.compile(
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
def rate_name(name: str) -> NameStrength:
    """How surely a value with this name is secret; a weak name asks for a value of chance."""
    words = [word.casefold() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[0] in _BEFORE_ALL or words[-1] in _ABOUT:
        return ""
    if any(_is_secret_name(words, at) for at in range(len(words))):
        return "strong"
    named_key = words[-1] in ("key", "keys") and len(words) > 1 and words[-2] in _OPEN_KEY
    return "weak" if words[-1] in _WEAK and not named_key else ""


def _is_secret_name(words: list[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if word == "key":
        return before in _BEFORE_KEY
    if word == "pass":
        return before in _BEFORE_PASS
    return word in _SECRET or word.endswith(("password", "passwd", "secret", "apikey"))
