"""Prose without its markup: Markdown, reStructuredText, AsciiDoc, Javadoc and HTML alike.

The first paragraph of a README that says something: no title, badge, quote, table or list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import chain, islice, takewhile

from cub.repomap.safe_text import to_one_line

_RULES = [
    (re.compile(pattern), by)
    for pattern, by in (
        (r"<!--.*?(?:-->|$)", " "),
        (r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", " "),  # images, badges
        (r"\|[\w .-]+\|(?:_\b)?", " "),  # |substitution|
        (r"(?:https?://|link:)[^\s\[]+\[([^\]]*)\]", r"\1"),  # AsciiDoc
        (r"\[\s*\](?:\([^)]*\)|\[[^\]]*\])", " "),  # a link around a badge that is gone
        (r"\[([^\]\[]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1"),
        (r"\[\^?\d+\]_?|\[\[?([^\]\[|]+)\]?\](?!\()", r"\1"),
        (r":[a-z][\w:+.-]*:`~?\.?([^`<]+?)(?:\s*<[^`>]*>)?`", r"\1"),  # :py:class:`Name`
        (r"`([^`<>]+?)\s*<[^`>]+>`__?", r"\1"),
        (r"\{@\w+\s+(?:[^{}|]*\|\s*)?#?([^{}|]*)\}", r"\1"),  # {@code Name}, {@link url | Name}
        (r"</?[A-Za-z][^<>]*>", ""),
        (r"`+([^`]*)`+(?:__?\b)?", r"\1"),
        (r"(?<![\w*\\])(\*{1,3}|_{1,3}|~~)(?=\S)([^*_~]+?)(?<=\S)\1(?![\w*])", r"\2"),
        (r"(?<=[A-Za-z0-9])__?(?=[\s.,;:)]|$)", ""),  # Name_
        (r"\\([\\`*_{}\[\]()#+.!<>|-])", r"\1"),
    )
]
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]?(?=\s+[\"'(\[]?[A-Z0-9\W])|[\u3002\uff01\uff1f]")
_ABBREVIATED = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|inc|dr|mr|ms|no|st|[a-z])\.$"
)
_TWO = 2


def strip_markup(text: str) -> str:
    """One paragraph on one line, without markup."""
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return re.sub(r" +([.,;:!?)])(?!\w)", r"\1", to_one_line(unescape(text)))


def take_sentences(text: str, limit: int) -> str:
    """The first sentence of a line, and the second one where both fit into `limit` characters."""
    ends = [end.end() for end in _ENDS.finditer(text) if not _ABBREVIATED.search(text[: end.end()])]
    first, *more = (*ends[:_TWO], len(text))[:_TWO]
    fitting = [end for end in more if end <= limit and not text[:end].endswith(":")]
    return text[: max((first, *fitting))].strip().rstrip(":")


def take_first_sentence(text: str) -> str:
    """The first sentence of a line, without its full stop."""
    return take_sentences(text, 0).rstrip(" .:;,")


_FENCE = re.compile(r"\s{0,3}(```|~~~|----+$|\.\.\.\.+$|====+$)")
_UNDERLINE = re.compile(r"\s*([=\-~^\"'`*+#<>_:.])\1{2,}\s*$")
_TITLE = re.compile(r"\s{0,3}(?:#{1,6}|={1,6})\s+(.*?)[\s#=]*$")
# Quotes, tables, lists, directives, attributes, link definitions, rules, comments of rst.
_OTHER = re.compile(
    r"\s{0,3}(?:>|\||!!!|\?\?\?|[-*+•]\s|\d+[.)]\s|\.\.(?:\s|$)|:[\w-]+:|\[[^\]]+\]:|//|toc::|image::|\+[-=])"
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_FIELD = re.compile(r"\s{0,3}(?:import|export)\s.*from|\s{0,3}\{[%{]")
# What stands where a description should be.
_NOTHING = re.compile(
    r"(?i)^\W*(?:copyright|\(c\)|licen[sc]ed?\b|spdx|the mit\b|apache licen|permission is"
    r"|(?:auto-?|code |automatically )generated|do not\b|don't|-\*-|vim:|created by|authors?\b"
    r"|todo\b|fixme|see\b|vi(?:ew|sit) (?:at|it|our|the)\b|check out|read (?:the|more|about)\b"
    r"|click (?:here|on|the)\b|more info|learn (?:more|how)|for more|for full"
    r"|this (?:readme|document|page|file|guide|tutorial)\b"
    r"|(?:the )?(?:full |latest )?documentation\b|@\w+|please\b|note(?: that|\W*:)|warning\b"
    r"|this (?:project|template|is a) .*(?:bootstrap|generated|created with|get you started)"
    r"|getting started|important\b|deprecated\W*$|welcome to|table of|thank|sponsor|usage\b"
    r"|to (?:run|install|build|use)\b|run\b|install(?:ing|ation)?\b|(?:this is )?(?:a )?work in"
    r"|[^.!]{,80}\?(?:\s|$)|the (?:recommended|easiest|best|quickest|simplest|fastest) way\b"
    r"|english\b|translations?\b|we are\b|we're\b|if you\b|you can\b|in order to\b)"
)
_IS_A = re.compile(
    r"\W*(?:the\s+)?([\w.{}-]+)(?:\s*\([^)]*\))?,?\s+(?:is|are)\s+(?:an?|the)\b", re.IGNORECASE
)
_STATES = re.compile(r"\b(?:is|are|provides|lets|allows|helps|makes|contains|implements)\b")
_MOST = 60  # paragraphs
_FIRST = 5  # of them are looked at for one that says what the project is
_LONGEST = 2_000  # characters of one


def extract_title(text: str) -> str:
    """The heading of a README, without markup."""
    for paragraph in _paragraphs(text):
        found = _TITLE.match(paragraph[0])
        if found and strip_markup(found[1]):
            return strip_markup(found[1])
        bare = [line for line in paragraph if not _UNDERLINE.match(line)]
        if len(bare) < len(paragraph) and bare and strip_markup(bare[0]):
            return strip_markup(bare[0])
    return ""


def is_boilerplate(text: str) -> bool:
    """Whether a text is a notice, a request or a direction, and describes nothing."""
    return bool(_NOTHING.match(text))


def extract_comment_paragraph(text: str) -> str:
    """The first paragraph of a comment, however short; its title if there is nothing else."""
    bare = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
    for paragraph in _paragraphs(bare):
        lines = _above_list(_without_title(paragraph))
        said = strip_markup("\n".join(lines)[:_LONGEST])
        if said and not _OTHER.match(lines[0]):
            return said
    return extract_title(bare)


def _above_list(lines: list[str]) -> list[str]:
    """The lines of a paragraph up to a list that begins in it."""
    return list(takewhile(lambda line: not _ITEM.match(line), lines)) or lines


def extract_opening_paragraph(text: str) -> str:
    """The first real paragraph above the second heading, without markup; "" if there is none."""
    return next(filter(None, (said for said, inner in _statements(text) if not inner)), "")


def extract_first_paragraph(text: str) -> str:
    """The first real paragraph; a quote or HTML only if there is none above the second heading."""
    statements = list(islice(_statements(text), _FIRST))
    name = extract_title(text)
    defined = [said for said, _ in statements if _is_of(name, said)]
    early = [said for said, inner in statements if not inner]
    late = [said for said, _ in statements]
    return next(chain(defined, early, _quotes(text), late), "")


def _quotes(text: str) -> Iterator[str]:
    for lines in _paragraphs(text):
        said = strip_markup("\n".join(lines)[:_LONGEST].lstrip("> "))
        if lines[0].lstrip()[:1] in {">", "<"} and _says_something(said):
            yield said


def _is_of(name: str, said: str) -> bool:
    """Whether a statement says what the thing of this name is: `Name is a ...`."""
    found = _IS_A.match(said)
    return found is not None and found[1].lower() in name.lower()


def _statements(text: str) -> Iterator[tuple[str, bool]]:
    """Each real paragraph in plain words, and whether it is below the second heading."""
    headings = 0
    for paragraph in _paragraphs(text):
        lines = _without_title(paragraph)
        headings += len(lines) < len(paragraph)
        lines = _above_list(lines)
        if lines and not _OTHER.match(lines[0]) and not lines[0].lstrip().startswith("<"):
            said = strip_markup("\n".join(lines)[:_LONGEST])
            if _says_something(said):
                yield said, headings > 1


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Runs of lines between blank ones, without fenced code, front matter and comments."""
    text = re.sub(r"\A\ufeff?---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.DOTALL)
    lines: list[str] = []
    fence, count = "", 0
    for line in (*text.split("\n"), ""):
        found = _FENCE.match(line)
        if fence:
            fence = "" if found and found[1][:3] == fence else fence
        elif found and not (lines and _UNDERLINE.match(line)):
            fence = found[1][:3]
        elif line.strip():
            lines.append(line)
            continue
        if lines:
            yield lines
            lines, count = [], count + 1
        if count == _MOST:
            return


def _without_title(lines: list[str]) -> list[str]:
    """What stands below a title in the same paragraph, or nothing."""
    at = 0
    while at < len(lines):
        if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]):
            at += 2
        elif _TITLE.match(lines[at]) or _UNDERLINE.match(lines[at]):
            at += 1
        else:
            break
    indented = at < len(lines) and lines[at].startswith(("    ", "\t"))
    return [] if indented or (at < len(lines) and _FIELD.match(lines[at])) else lines[at:]


def _says_something(text: str) -> bool:
    """Whether it has words enough for a statement, and is no notice or row of links."""
    if is_boilerplate(text) or (text.endswith(":") and not _STATES.search(text)):
        return False
    words = re.findall(r"[^\W\d_]{2,}", text)
    wide = sum(1 for c in text if c > "\u2e80")  # scripts without blanks between words
    return len(words) >= 4 or wide >= 8
