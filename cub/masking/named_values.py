"""Values that their names call secret: in an assignment, a settings file, JSON, an option, XML.

How much a value has to look like a secret depends on how sure its name is, and on who writes like
that: `DB_PASS=word` is an environment, `password=word` may be an argument of a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.masking.names import HINT, Strength, strength
from cub.masking.values import MASK, is_innocent, is_number, is_word, looks_like_id, looks_random

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


def hide_named_values(text: str) -> str:
    """A text without what its names call secret."""
    small = _lowered(text)
    spans = [*_find_named(text, small)] if HINT.search(small) else []
    spans += _find_others(text, small)
    made, done = list[str](), 0
    for start, end in sorted(spans):
        if start >= done:
            made += [text[done:start], MASK]
            done = end
    return "".join([*made, text[done:]])


def _lowered(text: str) -> str:
    """The text in small letters, each in its place."""
    small = text.lower()
    return small if len(small) == len(text) else re.sub(r"[^\x00-\x7f]", "?", text).lower()


def _find_named(text: str, small: str) -> Iterator[tuple[int, int]]:
    done = 0
    for hint in HINT.finditer(small):
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
    yield from _compared(text)


def _find_others(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Values in forms of their own: netrc's, a user's of an option, a key's of JSON."""
    for pattern, *signs in _FORMS:
        for found in pattern.finditer(text) if all(sign in small for sign in signs) else ():
            sure = "name" not in pattern.groupindex or strength(found["name"]) == "strong"
            if sure and not is_innocent(found["value"]):
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


def _secret_in(text: str, found: re.Match[str], start: int) -> tuple[int, int] | None:
    """Where the secret of an assignment is; None for none."""
    groups = found.re.groupindex
    name = _whole_name(text, found["name"], start)
    sure = strength(name)
    if not sure:
        return None
    if "told" in groups:
        told = found["told"].rstrip(".")
        secret = sure == "strong" and looks_random(told) and not is_innocent(told)
        return (found.start("told"), found.start("told") + len(told)) if secret else None
    if (quoted := found["quoted"]) is not None:
        compared = "mark" in groups and found["mark"] in _COMPARISONS
        secret = _is_secret_in_quotes(quoted, name, sure, compared=compared)
        return found.span("quoted") if secret else None
    mark = found["mark"] if "mark" in groups else " "
    if mark in (*_COMPARISONS, "->"):
        return None
    bare = found["bare"]
    while bare and bare[-1] in _CLOSING and not _is_balanced(bare):
        bare = bare[:-1]
    shell = mark == "=" and not found["space"]
    end = found.start("bare") + len(bare)
    if _is_secret(
        bare[:_JUDGED], name, sure, is_shell=shell, in_url=text[start - 1 : start] in ("?", "&")
    ):
        return found.start("bare"), end
    return None


def _whole_name(text: str, name: str, start: int) -> str:
    """A name with the word in front of it: `API key` is written with a space."""
    before = text[max(0, start - 20) : start] if name.casefold().startswith("key") else ""
    if before.endswith(" ") and (words := before.split()) and words[-1].isalpha():
        joined = f"{words[-1]}_{name}"
        if strength(joined) != strength(name) and not strength(words[-1]):
            return joined
    return name


def _is_secret_in_quotes(value: str, name: str, sure: Strength, *, compared: bool) -> bool:
    if is_innocent(value) or (compared and is_word(value)):
        return False
    if "token" in name.casefold() and (is_word(value) or not _OF_TOKENS.fullmatch(value)):
        return False
    if sure == "weak":
        return looks_random(value) and not looks_like_id(value)
    return not (" " in value and _MENTION.search(value)) and not is_number(value)


def _is_secret(value: str, name: str, sure: Strength, *, is_shell: bool, in_url: bool) -> bool:
    """Whether a value without quotes is one."""
    if len(value) < 4 or is_innocent(value):
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
        and (strength(value) == "strong")
    )


def _is_balanced(value: str) -> bool:
    close = value[-1]
    return value.count(close) <= value.count("([{<"[_CLOSING.index(close)])


def _compared(text: str) -> Iterator[tuple[int, int]]:
    """`"…" == password`."""
    if "==" not in text and "!=" not in text:
        return
    for found in _COMPARED.finditer(text):
        name = found["name"].rpartition(".")[2]
        sure = strength(name)
        if sure == "strong" and _is_secret_in_quotes(found["quoted"], name, sure, compared=True):
            yield found.span("quoted")
