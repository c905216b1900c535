"""Tell whether a value looks random, as a secret does, or is a word, code, a number, a path."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MASK = "[masked]"
_MIN_RANDOM_LENGTH = 16
# A value that is to be filled in, here or elsewhere.
_PLACEHOLDER = re.compile(
    r"(?i)redacted|masked|x{3,}|_+"
    r"|(?:your|enter|insert|replace|paste|fill)[-_ ].*|change[-_ ]?(?:me|it|this).*"
    r"|(?:my|some|the|an?|new|old)[-_ ]?(?:token|secret|password|key|api[-_ ]?key)"
    r"|.*[-_ ](?:here|placeholder)|place_?holder|todo|tbd"
    r"|(?:tests?|dummy|fake|example|sample|mock|demo|foo|bar|baz|invalid|wrong|bad|expired)"
    r"(?:[-_ ][a-z_ -]*)?|example.*"
    r"|none|null|nil|undefined|nan|true|false|yes|no|on|off|void"
    r"|str|string|text|int|integer|bool|boolean|bytes|float|number|object|array|list|dict|any"
    r"|char|varchar|secretstr|optional|required|missing|empty|unset|absent|present|valid|hidden"
    r"|password|passwd|passphrase|secret|token|key|apikey|api_key|credentials?|username|user"
)
_EDGES = re.compile(r"\A\W+|(?<!\W)\W+\Z")
_FILLED_IN_ELSEWHERE = ("<", "$", "{", "%", "#{", "@{")
_CODE = re.compile(
    r"[A-Za-z_$][\w.$:]*[(\[{<].*"  # a call, an index, a type with arguments
    r"|[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+"  # an attribute
    r"|!\w+.*|&\w+|\*\w+|[|>][+-]?|lambda\b.*|(?:await|new|not)\b.*"
)
_CALL = re.compile(r"^[(\[]|[A-Za-z_][\w.]*\(")
_COLOR = re.compile(r"#[0-9A-Fa-f]{3,8}")
_NUMBER = re.compile(
    r"[+-]?\d[\d.,_:/x-]*(?:%|(?i:[num]?s|secs?|mins?|[hdb]|[kmgt]i?b|px|em|chars?|bytes)\b)?"
)
_DIGEST = re.compile(r"(?i)(?:sha\d{1,3}|md5|blake\w{1,3})[-:=].*")
_PATH = re.compile(r"(?:[A-Za-z]:\\|\.{0,2}/|~/|\w+://|[\w@.-]+/[\w@./-]*\.\w{1,5}\b).*")
_IDENTIFIER = re.compile(r"[A-Za-z_]+[\w-]*")
_HASH = re.compile(r"(?i)[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def read_table(name: str) -> dict[str, Any]:
    """Return a table of facts that ships with this package."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def mask_group(match: re.Match[str], group: str = "value") -> str:
    """Return the text of `match` with the mask instead of the secret in `group`."""
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return match[0][:start] + MASK + match[0][end:]


def mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with the mask instead of each span; of overlapping ones, the first counts."""
    pieces, end = list[str](), 0
    for span_start, span_end in spans:
        if span_start >= end:
            pieces += [text[end:span_start], MASK]
            end = span_end
    return "".join([*pieces, text[end:]])


def looks_random(value: str, min_length: int = _MIN_RANDOM_LENGTH) -> bool:
    """Tell whether letters of both cases and digits alternate as in a secret.

    A name, a path or a test's id consists of words, and alternates rarely for its length.
    """
    if (
        len(value) < min_length
        or not any(map(str.isdigit, value))
        or not any(map(str.isalpha, value))
    ):
        return False
    runs = _KINDS.findall(value)
    words = sum(len(part) for part in _PARTS.findall(value) if len(part) > 4 and part.isalpha())
    return len(runs) >= 0.25 * len(value) and words <= 0.45 * len(value)


def looks_like_id(value: str) -> bool:
    """Tell whether a value is a UUID, or has the length of a digest."""
    return _UUID.fullmatch(value) is not None or _HASH.fullmatch(value) is not None


def is_harmless_value(value: str) -> bool:
    """Tell whether a value is a placeholder, code, a digest or a path, whatever its name."""
    core = _EDGES.sub("", value)
    if not core or value.startswith((MASK, *_FILLED_IN_ELSEWHERE)):
        return True
    if _DIGEST.match(value) or _COLOR.fullmatch(value):
        return True
    if _CALL.search(value):
        return not looks_random(value, 8)
    if _PLACEHOLDER.fullmatch(core) or _CODE.fullmatch(value):
        return not looks_random(value, 24)
    return _PATH.match(value) is not None and not any(
        looks_random(part) for part in re.split(r"[/\\=?&]", value)
    )


def is_number(value: str) -> bool:
    """Tell whether a value is a count, a time, a size or a version."""
    return _NUMBER.fullmatch(value) is not None


def is_word(value: str) -> bool:
    """Tell whether a value reads as a word or a name, which code may pass on."""
    if _IDENTIFIER.fullmatch(value) is None:
        return False
    return not any(map(str.isdigit, value)) and (len(value) < 24 or "_" in value or "-" in value)
