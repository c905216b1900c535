"""Read the tests that a source file defines, in most languages, and find those that are gone.

A test may be moved or renamed, or become a case of another one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TEST = re.compile(
    r"""^[ \t]*(?:async[ ]+)?def[ ]+(?P<def>test\w*)                             # Python, Ruby
    | (?:(?<![.\w])(?:t\.)?(?:it|test|specify)                                # JavaScript, Ruby
        (?:\.(?:(?P<off>fail\w*|skip|todo)\b|\w+))*
        (?:(?<=\.each)(?P<table>\([^;]{0,2000}?\)|`[^`]{0,2000}`))?|@test)[ (]\s*
      (?P<quote>["'`])(?P<text>.{1,300}?)(?P=quote)
    | ^func[ ]+(?P<func>Test\w+)                                                 # Go
    | \bfunction[ ]+(?P<function>test\w+)                                        # PHP
    | \#\[[\w:]*test\b[^\]]*\]\s*(?:\#\[[^\]]*\]\s*)*(?:pub[ ]+)?(?:async[ ]+)?fn[ ]+(?P<fn>\w+)
    | (?:@\w*Test\b(?:\s*@\w+\([^()]*\))*|\[(?:Fact|Theory|Test\w*)\b)[^{;]{0,500}?  # Java, C#
      (?<!@)\b(?P<method>\w+)[ ]*\(
    """,
    re.MULTILINE | re.VERBOSE,
)
_NAMES = ("def", "text", "func", "function", "fn", "method")
_COMMENT = re.compile(r"^[ \t]*(?:(?:\#(?!\[)|//).*|/\*[\s\S]*?(?:\*/|\Z))", re.MULTILINE)
_WORD = re.compile(r"\w+")
_DECORATOR = re.compile(r"^[ \t]*@[\w.]+(?:\(|\s*$)", re.MULTILINE)
# What a test may consist of that tests nothing: `pass`, `assert True`, `expect(1).toBe(1)`.
_IDLE_WORD = re.compile(
    r"assert(?:_?(?:true|false|eq|equals?))?|async|await|do|done|end|eq|equal|expect|function|is|none"
    r"|not|null|ok|pass|plan|return|self|strictEqual|t|to|toBe|toBeTruthy|toEqual|true|false|undefined"
    r"|void|\d+",
    re.IGNORECASE,
)
_DOCSTRING = re.compile(r'[^:\n]*:\s*"""[\s\S]*?"""')
_SIGNATURE = re.compile(
    r"(?:\s*,\s*(?:async\s*)?(?:function\s*\w*\s*)?\(|(?!\s*,)\s*\(?)[^(){}=;]*\)"
)
_EARLY_RETURN = re.compile(r"^[ \t]*return;?[ \t]*$", re.MULTILINE)
_SIMILAR = 0.5  # of the words of two tests
_COVERED = 0.75  # of the words of a test, by one that may stand for several


class StaticTest(NamedTuple):
    """Hold a test as its file defines it: the file, the name, and the words of its code.

    `is_idle`: its code tests nothing.
    """

    path: str
    name: str
    words: frozenset[str]
    is_idle: bool = False


def list_static_tests(path: str, text: str) -> Iterator[StaticTest]:
    """Yield the tests that a file defines, in most languages by the start of each.

    A test in a comment is none, and neither is one that is skipped or has to fail.
    """
    text = _COMMENT.sub("", text)
    starts = list(_TEST.finditer(text))
    places = [0, *(start.end() for start in starts)]
    gaps = zip(places, starts, strict=False)  # the last place is behind the last test
    heads = [_find_head(text, place, start.start()) for place, start in gaps]
    for start, head, end in zip(starts, heads, [*heads, len(text)][1:], strict=True):
        if start["off"]:
            continue
        name = next(filter(None, (start[group] for group in _NAMES)), "")
        code = (text[head : start.start()], start["table"] or "", text[start.end() : end])
        words = list_words(" ".join(code))
        yield StaticTest(path, name, words, is_idle=_is_idle(text, start, end))


def _is_idle(text: str, start: re.Match[str], end: int) -> bool:
    """Return whether the code of a test has no word that tests anything.

    `end` is where the next test begins. What stands as far to the left as the test's first line, or
    further, is no part of it.
    """
    line = text[text.rfind("\n", 0, start.start()) + 1 : start.end()]
    indent = len(line) - len(line.lstrip(" \t"))
    after = re.compile(rf"\n[ \t]{{0,{indent}}}(?=[^\s)\]}}])").search(text, start.end())
    code = text[start.end() : after.start() if after else len(text)]
    if start.end() + len(code) > end:  # the next test is a part of this one
        return False
    if signature := _SIGNATURE.match(code):
        code = code[signature.end() :]
    if docstring := _DOCSTRING.match(code):
        code = code[docstring.end() :]
    code = _EARLY_RETURN.split(code, maxsplit=1)[0]
    return all(map(_IDLE_WORD.fullmatch, _WORD.findall(code)))


def _find_head(text: str, begin: int, start: int) -> int:
    """Return where the decorators of a test begin, such as those with its parameters."""
    begin = max(begin, text.rfind("\n\n", begin, start))
    decorator = _DECORATOR.search(text, begin, start)
    return decorator.start() if decorator else start


def list_words(text: str) -> frozenset[str]:
    """Return the words of a piece of code."""
    return frozenset(_WORD.findall(text))


def find_vanished_tests(old: Sequence[StaticTest], new: Sequence[StaticTest]) -> list[StaticTest]:
    """Return the tests whose name is gone or tests nothing now, and that no other stands for.

    A test with a new name may resemble it, and any may have taken in what it said, as a case of it.
    """
    old, new = ([test for test in tests if not test.is_idle] for tests in (old, new))
    left = Counter(test.name for test in new)
    left.subtract(Counter(test.name for test in old))
    earlier = dict[str, frozenset[str]]()
    for test in old:
        if left[test.name] <= 0:
            earlier[test.name] = earlier.get(test.name, frozenset()) | test.words
    vanished = []
    for test in old:
        if left[test.name] < 0 and not any(
            _stands_for(one.words, test.words, earlier.get(one.name)) for one in new
        ):
            left[test.name] += 1
            vanished.append(test)
    return vanished


def _stands_for(
    words: frozenset[str], gone: frozenset[str], earlier: frozenset[str] | None
) -> bool:
    """Return whether a test stands for one that is gone; `earlier` if its name is not new."""
    both = words & gone
    is_case = len(both) >= _COVERED * max(1, len(gone))
    if earlier is None:
        return is_case or are_similar(words, gone)
    return is_case and not both <= earlier


def are_similar(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two pieces of code have half of their words in common."""
    both = len(words & others)
    return both >= _SIMILAR * max(1, len(words | others)) or words == others
