"""List what is so throughout a repository: where tests are, which tools check the code."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cub.repomap.data import load_table
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.outline.descriptions import read_start
from cub.repomap.outline.folders import is_code_file
from cub.repomap.safe_text import to_one_line
from cub.repomap.stack.facts import ReadFile, Technology


def list_conventions(
    paths: Sequence[str],
    technologies: Sequence[Technology],
    classifier: FileClassifier,
    read: ReadFile,
) -> tuple[str, ...]:
    """Return statements on tests and tools, and how strictly types are checked."""
    ordered = sorted(paths)
    code = [(path, classifier.classify(path)) for path in ordered if is_code_file(path)]
    tests = [path for path, kind in code if kind is FileKind.TEST]
    sources = [path for path, kind in code if kind is FileKind.SOURCE]
    statements = (
        *_describe_tests(tests, sources),
        *_describe_tools(ordered, technologies),
        *_describe_strictness(ordered, read),
    )
    return tuple(map(to_one_line, statements))


_MIN_TESTS = 3
_MIN_SHARE = 0.7  # of the tests have to be alike
_MIN_MIRRORED_SHARE = 0.5
_MAX_LEVELS = 12
_NAMES = re.compile(
    r"(?P<test_>test_)(?P<a>.+)(?P<ea>\.(?:py|c|cc|cpp|rb|lua|R|jl|exs))"
    r"|(?P<b>.+?)(?P<eb>[-_.](?:test|tests|spec|unit|cy)\.\w+)"
    r"|(?P<c>.+?)(?P<ec>(?:Test|Tests|Spec|TestCase|IT|Suite)\.(?:java|kt|scala|groovy|cs|php|swift))"
)


def get_test_name_pattern(path: str) -> str:
    """Return the pattern of a test's name, such as `test_*.py`; "" for any other name."""
    match = _NAMES.fullmatch(posixpath.basename(path))
    if not match:
        return ""
    return f"test_*{match['ea']}" if match["a"] else f"*{match['eb'] or match['ec']}"


def _describe_tests(tests: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    """Yield `tests beside the code: *_test.go`, `tests in tests/: test_*.py` and the like."""
    patterns = Counter(filter(None, map(get_test_name_pattern, tests)))
    named = [path for path in tests if get_test_name_pattern(path)] or tests
    if len(named) < _MIN_TESTS:
        return
    names = _choose_patterns(patterns, len(named))
    place = _locate_tests(named, sources)
    if place:
        yield f"tests {place}{names and ': ' + names}"
    elif names:
        yield f"tests are named {names}"


def _choose_patterns(patterns: Counter[str], count: int) -> str:
    """Return the one or two patterns that most of the tests have; "" if there are more."""
    top = sorted(patterns, key=lambda pattern: (-patterns[pattern], pattern))[:2]
    if top and patterns[top[0]] >= _MIN_SHARE * count:
        return top[0]
    both = sum(patterns[pattern] for pattern in top)
    return " and ".join(top) if both >= _MIN_SHARE * count else ""


def _locate_tests(tests: Sequence[str], sources: Sequence[str]) -> str:
    enough = _MIN_SHARE * len(tests)
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
    return f"in {top}/{_describe_layout(inside, sources)}"


def _describe_layout(tests: Sequence[str], sources: Sequence[str]) -> str:
    """Return `, laid out like src/app/` if most folders of tests are also there; else ""."""
    inner = {posixpath.dirname(path).partition("/")[2] for path in tests} - {""}
    if len(inner) < _MIN_TESTS:
        return ""
    bases = Counter[str]()
    for folder in {posixpath.dirname(path) for path in sources}:
        parts = folder.split("/")
        bases.update(
            "/".join(parts[:at])
            for at in range(min(len(parts), _MAX_LEVELS))
            if "/".join(parts[at:]) in inner
        )
    base = min(bases, key=lambda name: (-bases[name], name), default="")
    if bases[base] < _MIN_MIRRORED_SHARE * len(inner):
        return ""
    return f", laid out like {base}/" if base else ", laid out like the code"


_TOOL_TABLES = {
    "formatters": "formatted with",
    "linters": "linted with",
    "type_checkers": "types checked with",
    "commit_hooks": "commit hooks:",
}
_MAX_TOOLS = 3


def _describe_tools(paths: Sequence[str], technologies: Sequence[Technology]) -> Iterator[str]:
    """Yield a statement for each kind of tool that is configured: `linted with ESLint`."""
    near = [path for path in paths if path.count("/") < 1 or path.startswith(".husky/")]
    in_manifests = {row.name.lower() for row in technologies if row.role == "tool"}
    for table, words in _TOOL_TABLES.items():
        tools = [
            name
            for name, files in load_table("conventions")[table].items()
            if name.lower() in in_manifests
            or (files and any(re.fullmatch(files, path) for path in near))
        ][:_MAX_TOOLS]
        if tools:
            yield f"{words} {' and '.join(filter(None, (', '.join(tools[:-1]), tools[-1])))}"
    if ".editorconfig" in near:
        yield "editor settings in .editorconfig"


_MAX_CONFIG_BYTES = 262_144


def _describe_strictness(paths: Sequence[str], read: ReadFile) -> Iterator[str]:
    existing, checkers = frozenset(paths), set[str]()
    for row in load_table("conventions")["strict"]:
        path, checker = row["file"], row["checker"]
        is_new = path in existing and checker not in checkers
        text = read_start(path, read, _MAX_CONFIG_BYTES) if is_new else ""
        if re.search(row["pattern"], text, re.MULTILINE):
            checkers.add(checker)
            yield f"{checker} is strict ({path})"
