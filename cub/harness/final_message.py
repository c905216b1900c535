"""Parse an agent's final message: its signals, its closing lines, and a question at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.checks.failing_items import truncate_line
from cub.checks.terminal_text import to_plain_text
from cub.harness.markdown import HIDDEN_CHAR, MarkdownLine, hide_code, split_markdown

NO_REASON = "no reason given"
MAX_TRIED = 5
_MAX_SUMMARY, _MAX_TRIED_LINE, _MAX_NEXT = 400, 160, 200  # characters
_MAX_STUCK, _MAX_QUESTION, _MAX_LAST_WORDS = 1500, 300, 200  # characters
_MAX_QUESTION_READ = 4_000  # characters, from the end
_KEY = re.compile(
    r" {0,3}(?:[-*+]\s+)?[*_]{0,2}(?P<key>status|summary|tried|next)[*_]{0,2}[ \t]*:(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_STATUS = re.compile(r"(done|no[ _-]change|stuck)\b(?!\s*(?:\||/|or\b))", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SIGNAL = re.compile(r"\s*[*_]{0,2}</?(?:promise|stuck)>", re.IGNORECASE)
_NO_VALUES = ("", "none", "n/a", "nothing", "nothing.", "none.", "-")


class FinalSignals(NamedTuple):
    """Hold the signals, the closing lines, and the question at the end.

    `stuck` is None without the signal, "" if it has no reason. `status` is done, no_change, stuck
    or empty.
    """

    promise: bool = False
    stuck: str | None = None
    status: str = ""
    summary: str = ""
    tried: tuple[str, ...] = ()
    next: str = ""
    question: str = ""


class TrailerBlock(NamedTuple):
    """Hold closing lines: keys in lower case with their lines, and their half-open span."""

    start: int
    end: int
    values: Sequence[tuple[str, list[str]]]


def find_trailer(text: str) -> TrailerBlock | None:
    """Return the last block of closing lines, without a fence around it, or None."""
    last: TrailerBlock | None = None
    values: list[tuple[str, list[str]]] = []
    start = end = 0
    is_blank = True
    for number, line in enumerate([*split_markdown(text), None]):
        key = _KEY.match(line.text) if line and not line.is_fence else None
        if key and values and key["key"].lower() == "status":
            last, values = _choose_block(last, TrailerBlock(start, end, values)), []
        if key:
            start = start if values else number
            values.append((key["key"].lower(), [key["value"]]))
        elif values and line and _continues_value(line, values[-1][0], is_after_blank=is_blank):
            values[-1][1].append(line.text)
        elif values:
            last, values = _choose_block(last, TrailerBlock(start, end, values)), []
        is_blank = line is not None and not line.text.strip()
        end = end if is_blank else number + 1
    return last


def parse_trailer(block: TrailerBlock | None) -> FinalSignals:
    """Return the values of a block, cut to their limits, without any signal besides."""
    values = block.values if block else ()
    texts = {key: _clean(" ".join(lines)) for key, lines in values if key != "tried"}
    status = _STATUS.match(texts.get("status", ""))
    tried_lines = (line for key, lines in values if key == "tried" for line in lines)
    tried = [_clean(_ITEM.sub("", line, 1)) for line in tried_lines]
    tried = [line[:_MAX_TRIED_LINE] for line in tried if line.lower() not in _NO_VALUES]
    return FinalSignals(
        status=re.sub(r"[ -]", "_", status[1].lower()) if status else "",
        summary=texts.get("summary", "")[:_MAX_SUMMARY],
        tried=tuple(tried[:MAX_TRIED]),
        next="" if texts.get("next", "").lower() in _NO_VALUES else texts["next"][:_MAX_NEXT],
    )


def _continues_value(line: MarkdownLine, key: str, *, is_after_blank: bool) -> bool:
    text = line.text
    if line.is_fence or text.lstrip().startswith(("#", ">")) or _SIGNAL.match(text):
        return False
    if not text.strip() or (key == "tried" and _ITEM.match(text)):
        return True
    return key != "status" and not is_after_blank


def _choose_block(before: TrailerBlock | None, block: TrailerBlock) -> TrailerBlock | None:
    """Return the later block, unless it may be prose: a single line that starts with `Next:`."""
    keys = {key for key, _ in block.values}
    return block if len(keys) > 1 or parse_trailer(block).status else before


def _clean(text: str) -> str:
    """Return one line, without the marks of bold text and code around it."""
    text = " ".join(text.split())
    return re.sub(r"^[*_`]+\s*|\s*(?:\*\*|__|(?<![`\w])`)$", "", text).strip()


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
    """Return the last sentence if it asks something, "" if not. NUL stands for code.

    Before a list or code, only a sentence that plainly asks for an answer counts.
    """
    visible = text.rstrip(f" \t\r\n{HIDDEN_CHAR}")
    ends_with_code = HIDDEN_CHAR in text[len(visible) :]
    lines = [line for line in visible[-_MAX_QUESTION_READ:].split("\n") if line.strip()]
    last_line = lines[-1] if lines else ""
    if not ends_with_code and last_line.rstrip(_CLOSERS).endswith(("?", "\uff1f")):
        return _clean_sentence(_split_sentences(last_line)[-1])
    while lines and _LIST_ITEM.match(lines[-1]):
        lines.pop()
    sentences = _split_sentences(lines[-1])[-2:] if lines else []
    questions = [sentence for sentence in sentences if _ASKS.match(sentence)]
    return _clean_sentence(questions[-1]) if questions else ""


def _split_sentences(line: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(line) if sentence.strip()] or [line]


def _clean_sentence(sentence: str) -> str:
    text = " ".join(sentence.replace(HIDDEN_CHAR, " ").split())
    return _LIST_ITEM.sub("", text, 1).strip("*_ ")[-_MAX_QUESTION:]


_TAG = re.compile(
    r"(?P<begins>^ {0,3})?(?:\*\*|__)?<(?P<end>/?)(?P<name>stuck|promise)>"
    r"(?P<ends>(?:\*\*|__)?[ \t\r]*$)?",
    re.IGNORECASE | re.MULTILINE,
)


class _Signal(NamedTuple):
    """Hold a pair of tags: its half-open span, and that of its text.

    `is_on_own_lines` is False if other text comes before it in its line.
    """

    name: str
    is_on_own_lines: bool
    start: int
    end: int
    inner: slice


def parse_signals(final: str) -> FinalSignals:
    """Parse a final message; a signal in code, in a quote or before other text does not count."""
    visible = hide_code(final)
    signals = list(_find_signals(visible))
    texts = {signal.name: " ".join(final[signal.inner].split()) for signal in signals}
    stuck = texts.get("stuck")
    block = _find_trailer_beside(signals, final)
    return parse_trailer(block)._replace(
        promise=texts.get("promise", "").upper() == "COMPLETE",
        stuck=truncate_line(stuck, _MAX_STUCK) if stuck else stuck,
        question=find_question(_remove_signals_and_block(visible, visible, signals, block)),
    )


def summarize_final_message(final: str) -> str:
    """Return the summary of the closing lines, or else the last paragraph, in one line.

    It is cut to 200 characters, and "" if the message says nothing.
    """
    final = to_plain_text(final)
    visible = hide_code(final)
    signals = list(_find_signals(visible))
    block = _find_trailer_beside(signals, final)
    if summary := parse_trailer(block).summary:
        return truncate_line(summary, _MAX_LAST_WORDS)
    lines = _remove_signals_and_block(final, visible, signals, block).split("\n")
    paragraph, length = list[str](), 0
    for line in reversed(lines):
        text = " ".join(line.split())
        if text and not text.startswith(("```", "~~~")):
            paragraph.insert(0, text)
            length += len(text)
        if paragraph and (not text or length > _MAX_LAST_WORDS):
            break
    words = paragraph if length <= _MAX_LAST_WORDS else paragraph[1:] or paragraph
    return truncate_line(" ".join(words), _MAX_LAST_WORDS)


def _find_signals(visible: str) -> Iterator[_Signal]:
    """Yield pairs of a closing tag at the end of a line and the last opening tag before it.

    A pair takes several lines only if it begins its first one.
    """
    opening: re.Match[str] | None = None
    for tag in _TAG.finditer(visible):
        if not tag["end"]:
            opening = tag
            continue
        name = tag["name"].lower()
        if opening and opening["name"].lower() == name and tag["ends"] is not None:
            inner = slice(opening.end("name") + 1, tag.start("end") - 1)
            is_on_own_lines = opening["begins"] is not None
            if is_on_own_lines or "\n" not in visible[inner]:
                yield _Signal(name, is_on_own_lines, opening.start(), tag.end(), inner)
        opening = None


def _find_trailer_beside(signals: Sequence[_Signal], final: str) -> TrailerBlock | None:
    """Return the closing lines; a signal at the end of one is not part of its value."""
    within_lines = [signal for signal in signals if not signal.is_on_own_lines]
    return find_trailer("\n".join(_remove_signals(final, within_lines)))


def _remove_signals_and_block(
    text: str, visible: str, signals: Sequence[_Signal], block: TrailerBlock | None
) -> str:
    """Return a message without signals and closing lines; `visible` says where fences are."""
    lines, visible_lines = _remove_signals(text, signals), _remove_signals(visible, signals)
    if block is None:
        return "\n".join(lines)
    start, end = block.start, block.end
    if start and not visible_lines[start - 1].strip("\0 "):  # remove a fence around the block too
        start -= 1
        end += 1
    return "\n".join([*lines[:start], *lines[end:]])


def _remove_signals(text: str, signals: Sequence[_Signal]) -> list[str]:
    """Return the lines of a text, with empty ones in the place of signals."""
    pieces, position = [], 0
    for signal in signals:
        pieces.append(text[position : signal.start])
        pieces.append("\n" * text.count("\n", signal.start, signal.end))
        position = signal.end
    return ("".join(pieces) + text[position:]).split("\n")
