"""What a client's final message tells the loop: signals, the closing lines, a question.

The closing lines of a final message: what was done, what was tried, what is next.

Whether a text ends by asking somebody something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.harness.markdown import HIDDEN_CHAR, hide_code, split_markdown

MAX_TRIED = 5
_SUMMARY, _TRIED, _NEXT = 400, 160, 200  # characters
_KEY = re.compile(
    r" {0,3}(?:[-*+]\s+)?[*_]{0,2}(?P<key>status|summary|tried|next)[*_]{0,2}[ \t]*:(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_STATUS = re.compile(r"(done|no[ _-]change|stuck)\b(?!\s*(?:\||/|or\b))", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SIGNAL = re.compile(r"\s*[*_]{0,2}</?(?:promise|stuck)>", re.IGNORECASE)
_NOTHING = ("", "none", "n/a", "nothing", "nothing.", "none.", "-")


class Trailer(NamedTuple):
    """What the closing lines say; `status` is done, no_change, stuck or empty."""

    status: str = ""
    summary: str = ""
    tried: tuple[str, ...] = ()
    next: str = ""


class TrailerBlock(NamedTuple):
    """Keys in small letters with their lines, and the half-open span of lines they stand in."""

    start: int
    end: int
    values: Sequence[tuple[str, list[str]]]


def find_trailer(text: str) -> TrailerBlock | None:
    """The last block of closing lines; a fence around it is not part of it."""
    found: TrailerBlock | None = None
    values: list[tuple[str, list[str]]] = []
    start = end = 0
    blank = True
    for number, line in enumerate([*split_markdown(text), None]):
        key = _KEY.match(line.text) if line and not line.is_fence else None
        if key and values and key["key"].lower() == "status":
            found, values = _better(found, TrailerBlock(start, end, values)), []
        if key:
            start = start if values else number
            values.append((key["key"].lower(), [key["value"]]))
        elif values and (
            line is None or not _goes_on(line.text, values[-1][0], blank, line.is_fence)
        ):
            found, values = _better(found, TrailerBlock(start, end, values)), []
        elif values and line:
            values[-1][1].append(line.text)
        blank = line is not None and not line.text.strip()
        end = end if blank else number + 1
    return found


def parse_trailer(block: TrailerBlock | None) -> Trailer:
    """What a block says, within bounds."""
    values = block.values if block else ()
    said = {key: _clean(" ".join(found)) for key, found in values if key != "tried"}
    tried = [_clean(_ITEM.sub("", one, 1)) for key, found in values if key == "tried"
             for one in found]  # fmt: skip
    kept = [one[:_TRIED] for one in tried if one.lower() not in _NOTHING]
    return Trailer(
        _status(said.get("status", "")),
        said.get("summary", "")[:_SUMMARY],
        tuple(kept[:MAX_TRIED]),
        "" if said.get("next", "").lower() in _NOTHING else said["next"][:_NEXT],
    )


def _goes_on(line: str, key: str, blank: bool, fence: bool) -> bool:
    """Whether a line without a key belongs to the value above it."""
    if fence or line.lstrip().startswith(("#", ">")) or _SIGNAL.match(line):
        return False
    if not line.strip():
        return True
    if key == "tried" and _ITEM.match(line):
        return True
    return key != "status" and not blank


def _better(before: TrailerBlock | None, block: TrailerBlock) -> TrailerBlock | None:
    """The later block, if it is one: a single line that begins with `Next:` may be prose."""
    keys = {key for key, _ in block.values}
    return block if len(keys) > 1 or parse_trailer(block).status else before


def _status(said: str) -> str:
    found = _STATUS.match(said)
    return re.sub(r"[ -]", "_", found[1].lower()) if found else ""


def _clean(text: str) -> str:
    """One line, without the marks of bold text and code around it."""
    text = " ".join(text.split())
    return re.sub(r"^[*_`]+\s*|\s*(?:\*\*|__|(?<![`\w])`)$", "", text).strip()


_MOST = 300  # characters
_MOST_READ = 4_000
_SENTENCE = re.compile(r"(?<=[.!?\uff1f\u3002])[\"'\u201d\u2019)\]*_]{0,4}\s+|\n")
_CLOSERS = " \t\r\n\"'\u201d\u2019»)]*_"
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\w{1,3}[.)])\s")
_ASKS = re.compile(
    r"\W{0,4}(?:(?:so|then|also|now|otherwise|if so|or|please)[, ]{1,2})?(?:"
    r"(?:would|do|did) you (?:like|want|prefer|mean)\b|(?:should|shall|may|can) (?:I|we)\b"
    r"|which (?:one|of|option|approach|way|version)\b.{0,150}[?:]"
    r"|(?:let me know|tell me|please (?:confirm|advise|clarify|specify|choose|decide)|confirm)"
    r" (?:which|whether|how|what|where|when you|if I should|if you (?:want|would like) me to)\b"
    r"|please (?:confirm|advise|clarify)\b)",
    re.IGNORECASE,
)


def find_question(text: str) -> str:
    """The last sentence, if it asks something; "" if not. NUL stands for code.

    In front of a list or of code, only a sentence that plainly asks for an answer counts.
    """
    shown = text.rstrip(f" \t\r\n{HIDDEN_CHAR}")
    behind_code = HIDDEN_CHAR in text[len(shown) :]
    said = [line for line in shown[-_MOST_READ:].split("\n") if line.strip()]
    at_end = said[-1] if said else ""
    if not behind_code and at_end.rstrip(_CLOSERS).endswith(("?", "\uff1f")):
        return _clean_sentence(_sentences(at_end)[-1])
    while said and _LIST_ITEM.match(said[-1]):
        said.pop()
    asked = [one for one in _sentences(said[-1])[-2:] if _ASKS.match(one)] if said else []
    return _clean_sentence(asked[-1]) if asked else ""


def _sentences(line: str) -> list[str]:
    return [one for one in _SENTENCE.split(line) if one.strip()] or [line]


def _clean_sentence(sentence: str) -> str:
    told = " ".join(sentence.replace(HIDDEN_CHAR, " ").split())
    return _LIST_ITEM.sub("", told, 1).strip("*_ ")[-_MOST:]


NO_REASON = "no reason given"
_MOST_STUCK = 500  # characters
_MOST_WORDS = 200
_TAG = re.compile(
    r"(?P<begins>^ {0,3}(?:\*\*|__)?)?<(?P<end>/?)(?P<name>stuck|promise)>"
    r"(?P<ends>(?:\*\*|__)?[ \t\r]*$)?",
    re.IGNORECASE | re.MULTILINE,
)


class FinalSignals(NamedTuple):
    """The signals, what the closing lines say, and the question that the message ends with.

    `stuck` is None without the signal, "" where it tells no reason. `status` is done, no_change,
    stuck or empty.
    """

    promise: bool
    stuck: str | None
    status: str
    summary: str
    tried: tuple[str, ...]
    next: str
    question: str


class _Signal(NamedTuple):
    """A pair of tags on lines of its own: its half-open span, and that of what it says."""

    name: str
    start: int
    end: int
    inner: slice


def parse_signals(final: str) -> FinalSignals:
    """Read a final message; a signal in code, in a quote or within a line counts for nothing."""
    shown = hide_code(final)
    found = list(_pairs(shown))
    said = {one.name: " ".join(final[one.inner].split()) for one in found}
    stuck = said.get("stuck")
    block = find_trailer(final)
    trailer = parse_trailer(block)
    return FinalSignals(
        said.get("promise", "").upper() == "COMPLETE",
        stuck[:_MOST_STUCK] if stuck is not None else None,
        *trailer,
        find_question(_without(shown, shown, found, block)),
    )


def summarize_final_message(final: str) -> str:
    """What a final message says in the end, in one line: the summary of its closing lines, or else
    its last paragraph, of which a long one is cut; "" if it says nothing.
    """
    final = to_plain_text(final)
    block = find_trailer(final)
    if summary := parse_trailer(block).summary:
        return _cut(summary)
    shown = hide_code(final)
    said = list[str]()
    for line in reversed(_without(final, shown, list(_pairs(shown)), block).split("\n")):
        words = " ".join(line.split())
        if words and not words.startswith(("```", "~~~")):
            said.insert(0, words)
        if said and (not words or sum(map(len, said)) > _MOST_WORDS):
            break
    return _cut(" ".join(said if sum(map(len, said)) <= _MOST_WORDS else said[1:] or said))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[: _MOST_WORDS - 1]}…"


def _pairs(shown: str) -> Iterator[_Signal]:
    """The last opening tag in front of a closing one of its name belongs to it."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(shown):
        if not tag["end"]:
            opened = tag
            continue
        name = tag["name"].lower()
        if opened and opened["name"].lower() == name and tag["ends"] is not None:
            inner = slice(opened.end("name") + 1, tag.start("end") - 1)
            if opened["begins"] is not None:
                yield _Signal(name, opened.start(), tag.end(), inner)
        opened = None


def _without(text: str, shown: str, found: list[_Signal], block: TrailerBlock | None) -> str:
    """A message without its signals and its closing lines; `shown` says where its fences are."""
    kept, marks = _without_signals(text, found), _without_signals(shown, found)
    if block is None:
        return "\n".join(kept)
    start, end = block.start, block.end
    if start and not marks[start - 1].strip("\0 "):  # a fence around the closing lines goes too
        start -= 1
        end += 1
    return "\n".join([*kept[:start], *kept[end:]])


def _without_signals(text: str, found: list[_Signal]) -> list[str]:
    """The lines of a text; where signals stood, empty ones."""
    made, done = [], 0
    for one in found:
        made.append(text[done : one.start])
        made.append("\n" * text.count("\n", one.start, one.end))
        done = one.end
    return ("".join(made) + text[done:]).split("\n")
