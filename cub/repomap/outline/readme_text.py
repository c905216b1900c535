"""Extract prose from READMEs and comments: Markdown, reStructuredText, AsciiDoc, Javadoc, HTML.

The first paragraph that says something counts, not a title, badge, quote, table or list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import chain, islice, takewhile

from cub.repomap.safe_text import find_sentence_ends, to_one_line

_TARGET = r"\((?:[^()]|\([^()]*+\))*+\)"  # of a link, which may have parentheses of its own
_RULES = [
    (re.compile(pattern), by)
    for pattern, by in (
        (r"<!--.*?(?:-->|$)", " "),
        (rf"!\[[^\]]*\](?:{_TARGET}|\[[^\]]*\])", " "),  # images, badges
        (r"\|[\w .-]+\|(?:_\b)?", " "),  # |substitution|
        (r"(?:https?://|link:)[^\s\[]+\[([^\]]*)\]", r"\1"),  # AsciiDoc
        (rf"\[\s*\](?:{_TARGET}|\[[^\]]*\])", " "),  # a link around a badge that is gone
        (rf"\[([^\]\[]+)\](?:{_TARGET}|\[[^\]]*\])", r"\1"),
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
_MAX_SENTENCES = 2


def strip_markup(text: str) -> str:
    """Return a paragraph on one line, without markup."""
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return re.sub(r" +([.,;:!?)])(?!\w)", r"\1", to_one_line(unescape(text)))


def take_sentences(text: str, limit: int) -> str:
    """Return the first sentence, and the second one if both fit into `limit` characters."""
    first, *more = (*find_sentence_ends(text), len(text))[:_MAX_SENTENCES]
    fitting = [end for end in more if end <= limit and not text[:end].endswith(":")]
    return text[: max((first, *fitting))].strip().rstrip(":")


def take_first_sentence(text: str) -> str:
    """Return the first sentence of a line, without its full stop."""
    return take_sentences(text, 0).rstrip(" .:;,")


_FENCE = re.compile(r"\s{0,3}(```|~~~|----+$|\.\.\.\.+$|====+$)")
_UNDERLINE = re.compile(r"\s*([=\-~^\"'`*+#<>_:.])\1{2,}\s*$")
_TITLE = re.compile(r"\s{0,3}(?:#{1,6}|={1,6})\s+(.*?)[\s#=]*$")
# Quotes, tables, lists, directives, attributes, link definitions, rules, comments of rst.
_NO_PROSE = re.compile(
    r"\s{0,3}(?:>|\||!!!|\?\?\?|[-*+•]\s|\d+[.)]\s|\.\.(?:\s|$)|:[\w-]+:|\[[^\]]+\]:|//|toc::|image::|\+[-=])"
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_FIELD = re.compile(r"\s{0,3}(?:import|export)\s.*from|\s{0,3}\{[%{]")
# Texts that are where a description should be.
_BOILERPLATE = re.compile(
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
_MAX_PARAGRAPHS = 60
_MAX_STATEMENTS = 5  # among which one may say what the project is
_MAX_PARAGRAPH_CHARS = 2_000


def extract_title(text: str) -> str:
    """Return the heading of a README, without markup."""
    for paragraph in _split_paragraphs(text):
        match = _TITLE.match(paragraph[0])
        if match and strip_markup(match[1]):
            return strip_markup(match[1])
        bare = [line for line in paragraph if not _UNDERLINE.match(line)]
        if len(bare) < len(paragraph) and bare and strip_markup(bare[0]):
            return strip_markup(bare[0])
    return ""


def is_boilerplate(text: str) -> bool:
    """Return whether a text is a notice, a request or a direction, and describes nothing."""
    return bool(_BOILERPLATE.match(text))


def extract_comment_paragraph(text: str) -> str:
    """Return the first paragraph of a comment, however short; its title if it has no other text."""
    bare = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
    for paragraph in _split_paragraphs(bare):
        lines = _cut_list(_cut_title(paragraph))
        prose = strip_markup(_join_lines(lines))
        if prose and not _NO_PROSE.match(lines[0]):
            return prose
    return extract_title(bare)


def extract_opening_paragraph(text: str) -> str:
    """Return the first real paragraph above the second heading; "" if there is none."""
    return next((prose for prose, is_inner in _iter_statements(text) if not is_inner), "")


def extract_first_paragraph(text: str) -> str:
    """Return the first real paragraph; a quote or HTML if there is none above the second heading.

    A paragraph that says what the title is comes first.
    """
    statements = list(islice(_iter_statements(text), _MAX_STATEMENTS))
    title = extract_title(text)
    definitions = [
        prose
        for prose, _ in statements
        if (match := _IS_A.match(prose)) and match[1].lower() in title.lower()
    ]
    early = [prose for prose, is_inner in statements if not is_inner]
    late = [prose for prose, _ in statements]
    return next(chain(definitions, early, _iter_quotes(text), late), "")


def _iter_quotes(text: str) -> Iterator[str]:
    for lines in _split_paragraphs(text):
        prose = strip_markup(_join_lines(lines).lstrip("> "))
        if lines[0].lstrip()[:1] in {">", "<"} and _is_statement(prose):
            yield prose


def _iter_statements(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each real paragraph without markup, and whether it is below the second heading."""
    headings = 0
    for paragraph in _split_paragraphs(text):
        lines = _cut_title(paragraph)
        headings += len(lines) < len(paragraph)
        lines = _cut_list(lines)
        if lines and not _NO_PROSE.match(lines[0]) and not lines[0].lstrip().startswith("<"):
            prose = strip_markup(_join_lines(lines))
            if _is_statement(prose):
                yield prose, headings > 1


def _join_lines(lines: list[str]) -> str:
    """Return a paragraph; of a very long one, the lines that are whole in its start."""
    text = "\n".join(lines)
    start = text[:_MAX_PARAGRAPH_CHARS]
    return start if start == text else start.rpartition("\n")[0] or start


def _split_paragraphs(text: str) -> Iterator[list[str]]:
    """Yield runs of lines between blank ones, without fenced code, front matter and comments."""
    text = re.sub(r"\A\ufeff?---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.DOTALL)
    lines: list[str] = []
    fence, count = "", 0
    for line in (*text.split("\n"), ""):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1][:3] == fence else fence
        elif match and not (lines and _UNDERLINE.match(line)):
            fence = match[1][:3]
        elif line.strip():
            lines.append(line)
            continue
        if lines:
            yield lines
            lines, count = [], count + 1
        if count == _MAX_PARAGRAPHS:
            return


def _cut_title(lines: list[str]) -> list[str]:
    """Return what is below a title in the same paragraph, without code and fields."""
    at = 0
    while at < len(lines):
        if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]):
            at += 2
        elif _TITLE.match(lines[at]) or _UNDERLINE.match(lines[at]):
            at += 1
        else:
            break
    is_code = at < len(lines) and lines[at].startswith(("    ", "\t"))
    return [] if is_code or (at < len(lines) and _FIELD.match(lines[at])) else lines[at:]


def _cut_list(lines: list[str]) -> list[str]:
    """Return the lines up to a list that starts in their paragraph."""
    return list(takewhile(lambda line: not _ITEM.match(line), lines)) or lines


def _is_statement(text: str) -> bool:
    """Return whether a text has enough words, and is not a notice or a row of links."""
    if is_boilerplate(text) or (text.endswith(":") and not _STATES.search(text)):
        return False
    words = re.findall(r"[^\W\d_]{2,}", text)
    wide = sum(1 for c in text if c > "\u2e80")  # scripts without spaces between words
    return len(words) >= 4 or wide >= 8
