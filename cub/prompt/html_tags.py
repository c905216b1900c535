"""HTML tags in a text of somebody else's that make a heading, or give a role, are made plain text.

Which text closes what such a tag begins, nobody can tell from one text of a prompt. So all of them
are escaped, except in code, which no text around it can change; and so are tags without an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from cub.edit.blocks import LeafBlock, parse_inline_content, parse_leaf_blocks

_HTML = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
_HEADING = re.compile(r"<(?=h[1-6](?!\w))", re.IGNORECASE)
# Not as a part of a tag: an open quote in another text may be what puts it into one.
_ROLE = re.compile(r"role[\s>]*+=", re.IGNORECASE)
_TAG = re.compile(r"<(?=/?[a-z])", re.IGNORECASE)
# Nobody writes these signs into an attribute, and what quotes are, browsers see in a way of theirs.
_OPEN_TAG = re.compile(
    r"<(?=/?[a-z])(?![^<>\"']*+(?:(?:\"[^<>\"]*+\"|'[^<>']*+')[^<>\"']*+)*+>)", re.IGNORECASE
)
_SUSPECT = re.compile(f"{_HEADING.pattern}|{_ROLE.pattern}", re.IGNORECASE)
# Of a paragraph in which code is looked for: that may take the square of them.
_LONGEST, _MOST_BRACKETS = 1000, 50


def escape_tags(text: str) -> str:
    """A text without HTML, whatever stands around it."""
    return _HTML.sub("&lt;", text)


def escape_line_tags(text: str) -> str:
    """A line in which no tag makes a heading, even if it is cut, or set beside another text."""
    if "<" not in text:
        return text
    is_block = any(leaf.kind == "html_block" for leaf in parse_leaf_blocks(text))
    return (_HTML if is_block or _ROLE.search(text) else _HEADING).sub("&lt;", text)


def escape_live_tags(text: str) -> str:
    """A text of whole blocks in which no tag makes a heading, or is open; code stays as it is."""
    if "<" not in text:
        return text
    lines = text.split("\n")
    # The first line may stand below another one, which it then continues.
    looks = [(parse_leaf_blocks(above + text), above.count("\n")) for above in ("", "x\n")]
    harmless = set.intersection(
        *({*_lines(leaves, above, _is_harmless)} for leaves, above in looks)
    )
    opened = set.union(*({*_lines(leaves, above, _is_open)} for leaves, above in looks))
    others = [number for number in range(len(lines)) if number not in harmless]
    has_role = _ROLE.search("\n".join(lines[number] for number in others))
    for number in others:
        pattern = _HTML if has_role else _TAG if number in opened else _HEADING
        lines[number] = pattern.sub("&lt;", lines[number])
    return "\n".join(lines)


def may_hold_html(content: str) -> bool:
    """Whether anything begins like HTML in the content of a paragraph or heading, code aside."""
    return not _is_in_code(_HTML, content)


def _lines(
    leaves: Iterable[LeafBlock], above: int, rule: Callable[[LeafBlock], bool]
) -> Iterator[int]:
    for leaf in filter(rule, leaves):
        yield from range(leaf.start - above, leaf.end - above)


def _is_harmless(leaf: LeafBlock) -> bool:
    """Whether nothing in a block is suspect, other than in code."""
    # Code that is indented depends on what is above it, and on the list it is put in.
    return leaf.kind == "fence" or (leaf.kind == "inline" and _is_in_code(_SUSPECT, leaf.content))


def _is_open(leaf: LeafBlock) -> bool:
    """Whether a tag may end in another text: in a block of HTML; in a paragraph, it is none."""
    return leaf.kind == "html_block" and _OPEN_TAG.search(leaf.content) is not None


def _is_in_code(pattern: re.Pattern[str], content: str) -> bool:
    """Whether all that a pattern, which matches no backtick, finds is between backticks."""
    found = _count(pattern, content)
    if not found:
        return True
    # A cell of a table ends code, and so does what defines a link: it is no part of a paragraph.
    if "`" not in content or "|" in content or "]:" in content:
        return False
    if len(content) > _LONGEST or content.count("[") > _MOST_BRACKETS:
        return False
    tokens = parse_inline_content(content)
    code = (token.content for token in tokens if token.type == "code_inline")
    return found == sum(_count(pattern, one) for one in code)


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))
