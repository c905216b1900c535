"""Short statements of what is so throughout a repository, each with evidence in its files.

Which tools a project has chosen for its code, by their configuration and its manifests.

How the files of each language are named, where that is not what the language always does.

Whether types are checked strictly, as the configuration of the checkers says.

Where a project has its tests, and how it names them.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.outline.folders import is_code_file
from cub.repomap.safe_text import to_one_line
from cub.repomap.stack.facts import ReadFile, Technology


def list_conventions(
    paths: Sequence[str],
    technologies: Sequence[Technology],
    classifier: FileClassifier | None = None,
    read: ReadFile | None = None,
) -> tuple[str, ...]:
    """What holds for tests, names, tools; with `read`, also how strictly types are checked."""
    ordered = sorted(paths)
    return tuple(
        map(to_one_line, _all(ordered, technologies, classifier or FileClassifier(ordered), read))
    )


def _all(
    paths: Sequence[str],
    technologies: Sequence[Technology],
    classifier: FileClassifier,
    read: ReadFile | None,
) -> Iterator[str]:
    code = [(path, classifier.classify(path)) for path in paths if is_code_file(path)]
    sources = [path for path, kind in code if kind is FileKind.SOURCE]
    yield from list_test_conventions(
        [path for path, kind in code if kind is FileKind.TEST], sources
    )
    yield from list_naming_conventions(sources)
    yield from list_tool_conventions(paths, technologies)
    if read:
        yield from list_strictness_conventions(paths, read)


class _Tool(NamedTuple):
    """Files at the root that configure a tool; a row of a manifest proves it by its name."""

    name: str
    files: str = ""


_FORMATTERS = (
    _Tool("Ruff", r"\.?ruff\.toml"),
    _Tool("Black"),
    _Tool("YAPF", r"\.style\.yapf"),
    _Tool("isort", r"\.isort\.cfg"),
    _Tool("Prettier", r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+"),
    _Tool("Biome", r"biome\.jsonc?"),
    _Tool("Oxfmt", r"\.oxfmtrc\.jsonc?"),
    _Tool("dprint", r"\.?dprint\.jsonc?"),
    _Tool("rustfmt", r"\.?rustfmt\.toml"),
    _Tool("clang-format", r"\.clang-format"),
    _Tool("Spotless"),
    _Tool("ktlint"),
    _Tool("scalafmt", r"\.scalafmt\.conf"),
    _Tool("SwiftFormat", r"\.swiftformat|\.swift-format"),
    _Tool("StyLua", r"\.?stylua\.toml"),
    _Tool("PHP CS Fixer", r"\.php-cs-fixer(?:\.dist)?\.php"),
    _Tool("Laravel Pint", r"pint\.json"),
    _Tool("mix format", r"\.formatter\.exs"),
    _Tool("Fourmolu", r"fourmolu\.yaml"),
    _Tool("ocamlformat", r"\.ocamlformat"),
)
_LINTERS = (
    _Tool("Ruff", r"\.?ruff\.toml"),
    _Tool("Flake8", r"\.flake8"),
    _Tool("Pylint", r"\.?pylintrc(?:\.toml)?"),
    _Tool("ESLint", r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?"),
    _Tool("Biome", r"biome\.jsonc?"),
    _Tool("Oxlint", r"\.?oxlintrc\.jsonc?"),
    _Tool("XO"),
    _Tool("Standard"),
    _Tool("Stylelint", r"\.stylelintrc(?:\.\w+)?|stylelint\.config\.\w+"),
    _Tool("golangci-lint", r"\.golangci\.(?:ya?ml|toml|json)"),
    _Tool("Clippy", r"\.?clippy\.toml"),
    _Tool("RuboCop", r"\.rubocop\.yml"),
    _Tool("Standard Ruby", r"\.standard\.yml"),
    _Tool("PHP_CodeSniffer", r"\.?phpcs\.xml(?:\.dist)?"),
    _Tool("detekt", r"detekt\.ya?ml"),
    _Tool("Checkstyle", r"checkstyle\.xml"),
    _Tool("SwiftLint", r"\.swiftlint\.yml"),
    _Tool("Credo", r"\.credo\.exs"),
    _Tool("clang-tidy", r"\.clang-tidy"),
    _Tool("HLint", r"\.hlint\.yaml"),
    _Tool("ShellCheck", r"\.shellcheckrc"),
    _Tool("markdownlint", r"\.markdownlint(?:-cli2)?\.\w+"),
)
_TYPES = (
    _Tool("mypy", r"\.?mypy\.ini"),
    _Tool("Pyright", r"pyrightconfig\.json"),
    _Tool("basedpyright"),
    _Tool("ty", r"ty\.toml"),
    _Tool("Pyrefly", r"pyrefly\.toml"),
    _Tool("PHPStan", r"phpstan(?:\.dist)?\.neon(?:\.dist)?"),
    _Tool("Psalm", r"psalm\.xml(?:\.dist)?"),
    _Tool("Sorbet"),
    _Tool("Steep", r"Steepfile"),
    _Tool("Dialyxir"),
)
_HOOKS = (
    _Tool("pre-commit", r"\.pre-commit-config\.ya?ml"),
    _Tool("Husky", r"\.husky/[\w-]+"),
    _Tool("Lefthook", r"\.?lefthook\.ya?ml"),
    _Tool("simple-git-hooks"),
)
_KINDS = (
    ("formatted with", _FORMATTERS),
    ("linted with", _LINTERS),
    ("types checked with", _TYPES),
    ("commit hooks:", _HOOKS),
)


def list_tool_conventions(
    paths: Sequence[str], technologies: Sequence[Technology]
) -> Iterator[str]:
    """A statement for each kind of tool that is configured: `linted with ESLint`."""
    near = [path for path in paths if path.count("/") < 1 or path.startswith(".husky/")]
    named = {row.name.lower() for row in technologies if row.role == "tool"}
    for words, tools in _KINDS:
        found = [tool.name for tool in tools if tool.name.lower() in named or _is_there(tool, near)]
        if found:
            yield f"{words} {_listed(found[:3])}"
    if ".editorconfig" in near:
        yield "editor settings in .editorconfig"


def _is_there(tool: _Tool, paths: Sequence[str]) -> bool:
    return bool(tool.files) and any(re.fullmatch(tool.files, path) for path in paths)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


_LEAST = 10  # files whose names tell one style from another
_MOST = 0.8
_STYLES = (
    ("snake_case", re.compile(r"_*[a-z\d]+(?:_[a-z\d]+)+_*")),
    ("kebab-case", re.compile(r"[a-z\d]+(?:-[a-z\d]+)+")),
    ("PascalCase", re.compile(r"(?:[A-Z][a-z\d]*)+")),
    ("camelCase", re.compile(r"[a-z][a-z\d]*(?:[A-Z][a-z\d]*)+")),
)
# What everybody does needs no words.
_USUAL = {
    "Python": "snake_case",
    "Ruby": "snake_case",
    "Rust": "snake_case",
    "Elixir": "snake_case",
    "Erlang": "snake_case",
    "Dart": "snake_case",
    "Go": "snake_case",
    "Java": "PascalCase",
    "Kotlin": "PascalCase",
    "Scala": "PascalCase",
    "Swift": "PascalCase",
    "C#": "PascalCase",
    "F#": "PascalCase",
    "Haskell": "PascalCase",
    "Groovy": "PascalCase",
}


def list_naming_conventions(sources: Sequence[str]) -> Iterator[str]:
    """`TypeScript files in kebab-case`, by the languages with most files."""
    styles: dict[str, Counter[str]] = {}
    for path in sources:
        language = detect_language(path)
        if language:
            style = _style(posixpath.basename(path).partition(".")[0])
            if style:
                styles.setdefault(language.name, Counter())[style] += 1
    for name in sorted(styles, key=lambda name: (-styles[name].total(), name)):
        style = _prevailing(styles[name])
        if style and style != _USUAL.get(name):
            yield f"{name} files in {style}"


def _style(stem: str) -> str:
    return next((name for name, pattern in _STYLES if pattern.fullmatch(stem)), "")


def _prevailing(counts: Counter[str]) -> str:
    style = min(counts, key=lambda name: (-counts[name], name))
    enough = counts.total() >= _LEAST and counts[style] >= _MOST * counts.total()
    return style if enough else ""


_LARGEST = 262_144
# Name of the file at the root, what it has to say, and what that means.
_ROWS = (
    ("tsconfig.json", r'^(?:(?!//).)*"strict"\s*:\s*true', "TypeScript"),
    ("tsconfig.base.json", r'^(?:(?!//).)*"strict"\s*:\s*true', "TypeScript"),
    ("pyproject.toml", r"^\[tool\.mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*true", "mypy"),
    ("mypy.ini", r"^\[mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*[Tt]rue", "mypy"),
    ("setup.cfg", r"^\[mypy\]\s*$(?:\n(?!\[).*)*?\nstrict\s*=\s*[Tt]rue", "mypy"),
    ("pyproject.toml", r"^typeCheckingMode\s*=\s*[\"']strict", "Pyright"),
    ("pyrightconfig.json", r'"typeCheckingMode"\s*:\s*"strict"', "Pyright"),
)


def list_strictness_conventions(paths: Sequence[str], read: ReadFile) -> Iterator[str]:
    """`mypy is strict (pyproject.toml)` and the like, each checker once."""
    there, said = frozenset(paths), set[str]()
    for path, pattern, checker in _ROWS:
        if path in there and checker not in said and _says(path, pattern, read):
            said.add(checker)
            yield f"{checker} is strict ({path})"


def _says(path: str, pattern: str, read: ReadFile) -> bool:
    try:
        text = read(path)[:_LARGEST].decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return False
    return bool(re.search(pattern, text, re.MULTILINE))


_FEW = 3  # tests, below which nothing is said
_TESTING_MOST = 0.7  # of the tests have to be so
_MIRROR = 0.5
_DEEPEST = 12
_NAMES = re.compile(
    r"(?P<test_>test_)(?P<a>.+)(?P<ea>\.(?:py|c|cc|cpp|rb|lua|R|jl|exs))"
    r"|(?P<b>.+?)(?P<eb>[-_.](?:test|tests|spec|unit|cy)\.\w+)"
    r"|(?P<c>.+?)(?P<ec>(?:Test|Tests|Spec|TestCase|IT|Suite)\.(?:java|kt|scala|groovy|cs|php|swift))"
)


def list_test_conventions(tests: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    """`tests beside the code: *_test.go`, `tests in tests/: test_*.py` and the like."""
    patterns = Counter(filter(None, map(get_test_name_pattern, tests)))
    named = [path for path in tests if get_test_name_pattern(path)] or tests
    if len(named) < _FEW:
        return
    shape = _shape(patterns, len(named))
    place = _place(named, sources)
    if place:
        yield f"tests {place}{shape and ': ' + shape}"
    elif shape:
        yield f"tests are named {shape}"


def get_test_name_pattern(path: str) -> str:
    """What the name of a test has in common with others: `test_*.py`; "" for any other name."""
    found = _NAMES.fullmatch(posixpath.basename(path))
    if not found:
        return ""
    return f"test_*{found['ea']}" if found["a"] else f"*{found['eb'] or found['ec']}"


def _shape(patterns: Counter[str], count: int) -> str:
    """The one or two patterns that most of the tests are named by."""
    top = sorted(patterns, key=lambda pattern: (-patterns[pattern], pattern))[:2]
    if top and patterns[top[0]] >= _TESTING_MOST * count:
        return top[0]
    both = sum(patterns[pattern] for pattern in top)
    return " and ".join(top) if both >= _TESTING_MOST * count else ""


def _place(tests: Sequence[str], sources: Sequence[str]) -> str:
    enough = _TESTING_MOST * len(tests)
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
