"""Mask values that their names call secret: in assignments, settings, JSON, options, XML.

How much a value has to look like a secret depends on how clearly its name says so, and on the form:
`DB_PASS=word` is an environment variable, `password=word` may be an argument of a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from cub.masking.value_heuristics import (
    is_harmless_value,
    is_number,
    is_word,
    looks_like_id,
    looks_random,
    mask_spans,
    read_table,
)

_MAX_NAME_CHARS = 80
_MAX_JUDGED_CHARS = 200  # of a value without quotes, by which it is judged
_IN_NAME = re.compile(r"[\w-]*+")
_QUOTED = (
    r"[fbrFBR@]?(?P<quote>\\{0,3}[\"'`])"
    r"(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\r\n])){1,1000})(?P=quote)"
)
# The number of `=` is bounded, so that a row of them costs no more than its length.
_BARE = r"\\{0,3}[\"'`]?(?P<bare>[^\s\"'`,;&\\=]{1,4000}+(?:=+[^\s\"'`,;&\\=]{0,200}){0,2})"
_ASSIGNED = re.compile(
    r"(?P<name>[\w-]{1,120})[\]\[\\\"'`?!)]{0,9}[^\S\r\n]{0,9}"
    r"(?P<mark>:=|=>|={1,3}|!==?|->|:(?:[^\S\n]?[A-Za-z]{3,12}[^\S\n]?=(?!=))?)"
    rf"(?P<space>[^\S\r\n]{{0,9}})(?:{_QUOTED}|{_BARE})"
)
_OPTION = re.compile(rf"(?P<name>[\w-]{{1,120}})(?P<space>[^\S\n]{{1,4}})(?:{_QUOTED}|{_BARE})")
_ELEMENT = re.compile(r"(?P<name>[\w-]{1,120})>(?P<quoted>[^<>\n]{1,1000})</(?P=name)>")
# As in a sentence: `the token is …`.
_MENTIONED = re.compile(
    r"(?P<name>[\w-]{1,120})[ \t\"'`(,]{1,4}(?:(?:is|was|of|for|with|value)[^\w\n]{1,4}){0,2}"
    r"(?P<mentioned>[A-Za-z0-9][\w+/.~-]{15,400}={0,2})"
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
# `-p` is also an option of commands that are given a folder or a container of this name.
_MYSQL = re.compile(
    r"(?<![\w.-])(?:mysql|mariadb)[\w-]{0,20}+[\"',]{0,2}(?:[^\S\n]+[^\s]{1,80}){0,12}?[^\S\n]"
    r"[\"']?(?:--password\d?=|-p(?!(?:rint0?|ath|erm|rune|ort|re|[arv]|\d{1,5}(?::\d{1,5})?)(?![\w:])))"
    r"[\"']?(?P<value>(?<=')[^'\n]{1,200}|(?<=\")[^\"\n]{1,200}|[^\s\"'`;|&()<>]{1,200})"
)
_LISTED = re.compile(
    r"\bname[\"']?: [\"']?(?P<name>[\w-]{1,80})[\"']?,?\s{1,20}[\"']?value[\"']?: "
    r"[\"']?(?P<value>[^\s\"',{}]{4,400})"
)
_JWK = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s*:\s*\"(?P<value>[\w-]{40,})\"")
_MENTION = re.compile(
    r"(?i)\b(?:password|token|secret|key|credential|required|must|enter|your)s?\b"
)
# Each with texts that any match contains.
_FORMS = (
    (_ENTRY, "machine ", "password"), (_USER, "-u"), (_USER, "user"), (_LOGIN, " -", "login"),
    (_LOGIN, "sshpass"), (_LOGIN, "redis-cli"), (_LISTED, "name", "value"), (_JWK, '"kty"'),
    (_MYSQL, "mysql"), (_MYSQL, "mariadb"),
)  # fmt: skip
# As in settings of name servers: `secret "…";`.
_DIRECTIVE = re.compile(rf"(?P<name>[\w-]{{1,120}})[^\S\n]{{1,4}}{_QUOTED};")
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
_COMPARISONS = ("==", "===", "!=", "!==")
# A token is not a phrase or a word; a password may be one.
_TOKEN = re.compile(r"[\w.~+/=:@%!-]+")


def mask_named_values(text: str) -> str:
    """Replace the values that their names call secret with the mask."""
    lower = text.lower()
    if len(lower) != len(text):  # keep each letter in its place
        lower = re.sub(r"[^\x00-\x7f]", "?", text).lower()
    spans = [*_find_named(text, lower)] if SECRET_NAME_HINT.search(lower) else []
    return mask_spans(text, sorted([*spans, *_find_others(text, lower)]))


def _find_named(text: str, lower: str) -> Iterator[tuple[int, int]]:
    searched = 0
    for hint in SECRET_NAME_HINT.finditer(lower):
        if hint.start() < searched:
            continue
        start = _find_name_start(text, hint.start(), searched)
        name = _IN_NAME.match(text, start)
        searched = name.end() if name else hint.end()
        for match in _match_values(text, start):
            if span := _find_secret(text, match, start):
                yield span
                searched = max(searched, span[1])
                break
    yield from _find_comparisons(text)


def _find_comparisons(text: str) -> Iterator[tuple[int, int]]:
    """Find values such as in `"…" == password`."""
    if "==" not in text and "!=" not in text:
        return
    for match in _COMPARED.finditer(text):
        name = match["name"].rpartition(".")[2]
        if rate_name(name) == "strong" and _is_secret_in_quotes(
            match["quoted"], name, "strong", is_compared=True
        ):
            yield match.span("quoted")


def _find_others(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Find values in special forms: of netrc, of an option for a user, of a JSON Web Key."""
    for pattern, *hints in _FORMS:
        for match in pattern.finditer(text) if all(hint in lower for hint in hints) else ():
            is_named = "name" not in pattern.groupindex or rate_name(match["name"]) == "strong"
            if is_named and not is_harmless_value(match["value"]):
                yield match.span("value")


def _find_name_start(text: str, at: int, lowest: int) -> int:
    reversed_name = _IN_NAME.match(text[max(lowest, at - _MAX_NAME_CHARS) : at][::-1])
    return at - (reversed_name.end() if reversed_name else 0)


def _match_values(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield how the name at `start` may be tied to a value, the most certain form first."""
    patterns = [_ASSIGNED, _DIRECTIVE, _MENTIONED]
    if text.startswith("-", start):
        patterns.insert(1, _OPTION)
    if text[start - 1 : start] == "<":
        patterns.insert(0, _ELEMENT)
    return filter(None, (pattern.match(text, start) for pattern in patterns))


def _find_secret(text: str, match: re.Match[str], start: int) -> tuple[int, int] | None:
    """Return where the secret of a match is; None if its value is not one."""
    groups = match.re.groupindex
    name = _complete_name(text, match["name"], start)
    strength = rate_name(name)
    if not strength:
        return None
    if "mentioned" in groups:
        value = match["mentioned"].rstrip(".")
        is_secret = strength == "strong" and looks_random(value) and not is_harmless_value(value)
        start = match.start("mentioned")
        return (start, start + len(value)) if is_secret else None
    mark = match["mark"] if "mark" in groups else " "
    if (quoted := match["quoted"]) is not None:
        is_compared = mark in _COMPARISONS
        is_secret = _is_secret_in_quotes(quoted, name, strength, is_compared=is_compared)
        return match.span("quoted") if is_secret else None
    if mark in (*_COMPARISONS, "->"):
        return None
    bare = match["bare"]
    # A bracket at the end that nothing in the value opens is not a part of it.
    while bare.count(bare[-1:]) > bare.count(_OPENING.get(bare[-1:], bare[-1:])):
        bare = bare[:-1]
    is_shell = mark == "=" and not match["space"]
    in_url = text[start - 1 : start] in ("?", "&")
    judged = bare[:_MAX_JUDGED_CHARS]
    if not _is_secret_value(judged, name, strength, is_shell=is_shell, in_url=in_url):
        return None
    return match.start("bare"), match.start("bare") + len(bare)


def _complete_name(text: str, name: str, start: int) -> str:
    """Return a name with the word in front of it if that matters: `API key` has a space."""
    before = text[max(0, start - 20) : start] if name.casefold().startswith("key") else ""
    if before.endswith(" ") and (words := before.split()) and words[-1].isalpha():
        joined = f"{words[-1]}_{name}"
        if rate_name(joined) != rate_name(name) and not rate_name(words[-1]):
            return joined
    return name


def _is_secret_in_quotes(
    value: str, name: str, strength: NameStrength, *, is_compared: bool
) -> bool:
    if is_harmless_value(value) or (is_compared and is_word(value)):
        return False
    if "token" in name.casefold() and (is_word(value) or not _TOKEN.fullmatch(value)):
        return False
    if strength == "weak":
        return looks_random(value) and not looks_like_id(value)
    return not (" " in value and _MENTION.search(value)) and not is_number(value)


def _is_secret_value(
    value: str, name: str, strength: NameStrength, *, is_shell: bool, in_url: bool
) -> bool:
    """Tell whether a value without quotes is a secret."""
    if len(value) < 4 or is_harmless_value(value):
        return False
    if strength == "weak" and not in_url:
        return looks_random(value) and not looks_like_id(value)
    if is_number(value):
        return value.isdigit() and len(value) > 4 and "pass" in name.casefold()
    is_environment = is_shell and name != name.lower()
    if not (in_url or is_environment) and is_word(value):
        return False
    # The name of a secret may be passed on.
    is_name = "_" in value and re.fullmatch(r"[A-Za-z_]+", value) is not None
    return not (is_name and rate_name(value) == "strong")


NameStrength = Literal["", "weak", "strong"]

# Any name that matters contains one of these, in lower case.
SECRET_NAME_HINT = re.compile(
    r"pass|pwd|pw\b|secret|token|key|cred|auth|cookie|sess|sig|jwt|bearer|dsn|contrase|webhook|sid\b"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_WORDS = {key: frozenset(words.split()) for key, words in read_table("name_words").items()}


@lru_cache(maxsize=4096)
def rate_name(name: str) -> NameStrength:
    """Say how clearly a name calls its value secret; with a weak name, only random ones are."""
    words = [word.casefold() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[0] in _WORDS["before_all"] or words[-1] in _WORDS["about"]:
        return ""
    if any(_is_secret_name(words, at) for at in range(len(words))):
        return "strong"
    named_key = words[-1] in ("key", "keys") and len(words) > 1 and words[-2] in _WORDS["open_key"]
    return "weak" if words[-1] in _WORDS["weak"] and not named_key else ""


def _is_secret_name(words: list[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if word in ("key", "pass"):
        return before in _WORDS[f"before_{word}"]
    return word in _WORDS["secret"] or word.endswith(("password", "passwd", "secret", "apikey"))
