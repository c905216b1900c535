"""Where a project has its tests, and how it names them."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

_FEW = 3  # tests, below which nothing is said
_MOST = 0.7  # of the tests have to be so
_MIRROR = 0.5
_DEEPEST = 12
_NAMES = re.compile(
    r"(?P<test_>test_)(?P<a>.+)(?P<ea>\.(?:py|c|cc|cpp|rb|lua|R|jl|exs))"
    r"|(?P<b>.+?)(?P<eb>[-_.](?:test|tests|spec|unit|cy)\.\w+)"
    r"|(?P<c>.+?)(?P<ec>(?:Test|Tests|Spec|TestCase|IT|Suite)\.(?:java|kt|scala|groovy|cs|php|swift))"
)


def layout_habits(tests: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    """`tests beside the code: *_test.go`, `tests in tests/: test_*.py` and the like."""
    patterns = Counter(filter(None, map(name_pattern, tests)))
    named = [path for path in tests if name_pattern(path)] or tests
    if len(named) < _FEW:
        return
    shape = _shape(patterns, len(named))
    place = _place(named, sources)
    if place:
        yield f"tests {place}{shape and ': ' + shape}"
    elif shape:
        yield f"tests are named {shape}"


def name_pattern(path: str) -> str:
    """What the name of a test has in common with others: `test_*.py`; "" for any other name."""
    found = _NAMES.fullmatch(posixpath.basename(path))
    if not found:
        return ""
    return f"test_*{found['ea']}" if found["a"] else f"*{found['eb'] or found['ec']}"


def _shape(patterns: Counter[str], count: int) -> str:
    """The one or two patterns that most of the tests are named by."""
    top = sorted(patterns, key=lambda pattern: (-patterns[pattern], pattern))[:2]
    if top and patterns[top[0]] >= _MOST * count:
        return top[0]
    both = sum(patterns[pattern] for pattern in top)
    return " and ".join(top) if both >= _MOST * count else ""


def _place(tests: Sequence[str], sources: Sequence[str]) -> str:
    enough = _MOST * len(tests)
    if sum(1 for path in tests if "src/test/" in path) >= enough:
        language = Counter(re.findall(r"src/test/(\w+)/", "\n".join(tests))).most_common(1)
        return f"in src/test/{language[0][0]}/" if language else "in src/test/"
    if sum(1 for path in tests if "/__tests__/" in path) >= enough:
        return "in __tests__/ beside the code"
    folders = {posixpath.dirname(path) for path in sources}
    if sum(1 for path in tests if posixpath.dirname(path) in folders) >= enough:
        return "beside the code"
    tops = Counter(path.split("/")[0] for path in tests if "/" in path)
    top = min(tops, key=lambda name: (-tops[name], name), default="")
    if not top or tops[top] < enough or any(path.startswith(f"{top}/") for path in sources):
        return ""
    inside = [path for path in tests if path.startswith(f"{top}/")]
    return f"in {top}/{_mirrored(inside, sources)}"


def _mirrored(tests: Sequence[str], sources: Sequence[str]) -> str:
    """` like the folders of src/app`, where most folders of tests have their like there."""
    inner = {posixpath.dirname(path).partition("/")[2] for path in tests} - {""}
    if len(inner) < _FEW:
        return ""
    bases = Counter[str]()
    for folder in {posixpath.dirname(path) for path in sources}:
        parts = folder.split("/")
        bases.update(
            "/".join(parts[:at])
            for at in range(min(len(parts), _DEEPEST))
            if "/".join(parts[at:]) in inner
        )
    base = min(bases, key=lambda name: (-bases[name], name), default="")
    same = bases[base] >= _MIRROR * len(inner)
    return (f", laid out like {base}/" if base else ", laid out like the code") if same else ""
