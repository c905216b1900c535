"""The files that entry points start at, found by what a manifest says or by their names.

The files that a newcomer opens first, each with what it is.

Folders that stand for the files in them: tests, migrations, API definitions, workflows.

Which single files a newcomer opens, told by their paths: one table.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.map_types import KeyFile
from cub.repomap.outline.conventions import get_test_name_pattern
from cub.repomap.outline.folders import is_code_file
from cub.repomap.safe_text import to_one_line
from cub.repomap.stack.facts import EntryPoint

# Where a build puts what it makes of src/.
_BUILT = re.compile(r"^(?:dist|lib|build|out|es|esm|cjs|output)/(?:(?:es|esm|cjs|umd)/)?")
_SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".cts", ".jsx", ".cjs")
_IN_FOLDER = (
    *("__main__.py", "__init__.py", "main.go", "main.rs", "lib.rs", "mod.rs"),
    *(f"index{ending}" for ending in _SCRIPTS),
)
_OBJECT = re.compile(r"[A-Za-z_][\w.-]*(?::[\w.]+)?(?:\s*\[.*\])?")
_ROOTS = ("", "src/", "lib/", "python/", "app/")
_CLASSES = (".java", ".kt", ".scala", ".groovy", ".cs")
_NAMED = re.compile(
    r"(?:[\w-]+/){0,3}(?:__main__|manage)\.py|(?:[a-z][\w-]*/)?(?:wsgi|asgi)\.py"
    r"|(?:cmd/[^/]+/|(?!scripts|tools|hack|gen)[\w-]+/)?main\.go|(?:[\w-]+/){0,2}(?:src/)?main\.rs"
    r"|(?:.*/)?(?:Program\.cs|Main\.(?:java|kt|scala|hs)|[A-Z]\w*Application\.(?:java|kt)"
    r"|MainActivity\.(?:java|kt)|AppDelegate\.swift|[A-Z]\w*App\.swift)"
    r"|(?:[\w-]+/)?main\.(?:swift|dart|zig|c|cc|cpp|cxx|lua)|src/server\.c|config\.ru"
    r"|(?:src/|app/|server/|client/|lib/)?(?:main|index|server|app|cli)\.(?:[cm]?[jt]sx?|py|rb|php|exs?)"
    r"|(?:[\w-]+/)?src/(?:main|index|App)\.(?:[jt]sx?|vue|svelte)|App\.(?:[jt]sx?|vue|svelte)"
    r"|(?:src/)?app/(?:layout|page)\.[jt]sx?|public/index\.php"
)
# What a library lets others use, where no program begins.
_FACES = re.compile(
    r"(?:(?:src|lib|python)/)?[a-zA-Z]\w*/__init__\.py|lib/[\w-]+\.(?:rb|ex)|mod\.ts|(?:[\w-]+/){0,2}src/lib\.rs"
)
_MOST = 8
_FEW = 3


def find_entry_file(entry: EntryPoint, paths: frozenset[str]) -> str:
    """The path of the file that an entry point starts at; "" if there is none of that name."""
    folder = posixpath.dirname(entry.source)
    return next((path for path in _candidates(entry.target, folder) if path in paths), "")


def _candidates(target: str, folder: str) -> Iterator[str]:
    base = target.strip().removeprefix("./")
    for place in dict.fromkeys((folder, "")):
        yield from _as_path(base, place)
        if _OBJECT.fullmatch(base):
            yield from _as_object(base.partition(":")[0].partition("[")[0].strip(), place)


def _as_path(target: str, folder: str) -> Iterator[str]:
    path = posixpath.normpath(posixpath.join(folder, target))
    yield path
    yield from (f"{path}/{name}" if path != "." else name for name in _IN_FOLDER)
    stem, ending = posixpath.splitext(target)
    stems = [_BUILT.sub(by, stem) for by in ("src/", "")] if _BUILT.match(stem) else [stem]
    for inner in stems:
        at = posixpath.normpath(posixpath.join(folder, inner))
        yield from (at + script for script in _SCRIPTS if not ending or ending in _SCRIPTS)


def _as_object(name: str, folder: str) -> Iterator[str]:
    """The places of a Python module, or of a class on the JVM."""
    parts = name.replace(".", "/")
    for root in _ROOTS:
        stem = posixpath.join(folder, root + parts)
        yield from (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py")
    for ending in _CLASSES:
        kind = {".kt": "kotlin", ".cs": ""}.get(ending, ending[1:])
        yield posixpath.join(folder, f"src/main/{kind}/{parts}{ending}")
        yield posixpath.join(folder, f"src/main/java/{parts}{ending}")


def find_entry_files_by_name(paths: Sequence[str], classifier: FileClassifier) -> list[str]:
    """The source files whose names say that a program begins there, the topmost ones first."""
    return _topmost(_NAMED, paths, classifier)[:_MOST]


def find_library_files(paths: Sequence[str], classifier: FileClassifier) -> list[str]:
    """The source files that have what a library offers, where their names say so."""
    found = _topmost(_FACES, paths, classifier)
    return found if len(found) <= _FEW else []


def _topmost(
    pattern: re.Pattern[str], paths: Sequence[str], classifier: FileClassifier
) -> list[str]:
    found = [
        path
        for path in paths
        if pattern.fullmatch(path) and classifier.classify(path) is FileKind.SOURCE
    ]
    return sorted(found, key=lambda path: (path.count("/"), path))


_KEY_FILES_MOST = 25
_ENTRIES = 8


def find_key_files(
    paths: Sequence[str],
    entry_points: Sequence[EntryPoint],
    classifier: FileClassifier | None = None,
) -> tuple[KeyFile, ...]:
    """At most 25 of them, what tells most first; no path twice."""
    known, ordered = classifier or FileClassifier(paths), sorted(paths)
    found: dict[str, str] = {}
    for file in _all(ordered, entry_points, known):
        found.setdefault(file.path, to_one_line(file.what))
    return tuple(KeyFile(*item) for item in found.items())[:_KEY_FILES_MOST]


def _all(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], classifier: FileClassifier
) -> Iterator[KeyFile]:
    yield from _by_rules(ABOUT, paths, classifier)
    yield from _entries(paths, entry_points, classifier)
    yield from _by_rules(PARTS, paths, classifier)
    yield from (KeyFile(*folder) for folder in find_key_folders(paths, classifier))
    yield from _by_rules(AROUND, paths, classifier)


def _by_rules(
    rules: Sequence[KeyFileRule], paths: Sequence[str], classifier: FileClassifier
) -> Iterator[KeyFile]:
    """In one pass over the paths, for all rules."""
    fitting: dict[str, list[str]] = {rule.what: [] for rule in rules}
    for path in filter(combine_patterns(rules).fullmatch, paths):
        for rule in rules:
            if rule.pattern.fullmatch(path) and (
                not rule.source or classifier.classify(path) is FileKind.SOURCE
            ):
                fitting[rule.what].append(path)
    for rule in rules:
        topmost = sorted(fitting[rule.what], key=lambda path: (path.count("/"), path))
        yield from (KeyFile(path, rule.what) for path in topmost[: rule.most])


def _entries(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], classifier: FileClassifier
) -> Iterator[KeyFile]:
    """What the manifests name, with all names of each file, and then what names suggest."""
    there, named = frozenset(paths), dict[str, list[str]]()
    for entry in entry_points:
        path = find_entry_file(entry, there)
        if path:
            named.setdefault(path, []).append(entry.name)
    for path, names in list(named.items())[:_ENTRIES]:
        telling = dict.fromkeys(name for name in names[:3] if name != path)
        yield KeyFile(path, f"entry point {', '.join(telling)}".strip())
    for path in find_entry_files_by_name(paths, classifier)[: max(0, _ENTRIES - len(named))]:
        yield KeyFile(path, "entry point")
    yield from (KeyFile(path, "public names") for path in find_library_files(paths, classifier))


_WORKFLOW = re.compile(r"\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml")
_MIGRATION = re.compile(
    r"((?:.*/)?(?:migrations?|db/migrate|alembic/versions)/)[^/]+\.(?:py|sql|rb|php|ts|js|exs)"
)


_PROTO = re.compile(r"(.*/)[^/]+\.proto")
_KEY_FOLDERS_MOST = 2  # of migrations and of API definitions
_NAMES = 6


def find_key_folders(paths: Sequence[str], classifier: FileClassifier) -> Iterator[tuple[str, str]]:
    """Each folder, its path with `/` at the end, and what it has."""
    yield from _tests(paths, classifier)
    yield from _of(_MIGRATION, "database migrations", paths, classifier)
    yield from _of(_PROTO, "API definition", paths, classifier)
    yield from _workflows(paths)


def _of(
    pattern: re.Pattern[str], what: str, paths: Sequence[str], classifier: FileClassifier
) -> Iterator[tuple[str, str]]:
    """The folders with most files that fit, by the pattern's one group."""
    counts = Counter(found[1] for found in map(pattern.fullmatch, paths) if found)
    ours = [folder for folder in counts if classifier.classify(folder) is FileKind.SOURCE]
    for folder in sorted(ours, key=lambda folder: (-counts[folder], folder))[:_KEY_FOLDERS_MOST]:
        yield folder, what


def _workflows(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for path in filter(_WORKFLOW.fullmatch, paths):
        folder, _, name = path.rpartition("/")
        found.setdefault(f"{folder}/", []).append(name.rpartition(".")[0])
    for folder, names in found.items():
        yield folder, f"CI: {', '.join(names[:_NAMES])}" + ", ..." * (len(names) > _NAMES)


def _tests(paths: Sequence[str], classifier: FileClassifier) -> Iterator[tuple[str, str]]:
    """The topmost folder with most of the tests, and the folders in it that have tests."""
    inside: dict[str, Counter[str]] = {}
    for path in paths:
        top, _, rest = path.partition("/")
        if rest and is_code_file(path) and classifier.classify(path) is FileKind.TEST:
            name = rest.partition("/")[0] if "/" in rest and get_test_name_pattern(path) else ""
            inside.setdefault(top, Counter())[name] += 1
    top = min(inside, key=lambda name: (-inside[name].total(), name), default="")
    if top and classifier.classify(f"{top}/") is FileKind.TEST:
        counts = inside[top]
        names = sorted(counts.keys() - {""}, key=lambda name: (-counts[name], name))[:_NAMES]
        yield f"{top}/", f"tests: {', '.join(sorted(names))}" if names else "tests"


class KeyFileRule(NamedTuple):
    """Files whose whole path fits; with `source`, only those that are no tests or examples."""

    what: str
    pattern: re.Pattern[str]
    most: int = 1
    source: bool = True


def _rule(what: str, pattern: str, most: int = 1, *, source: bool = True) -> KeyFileRule:
    return KeyFileRule(what, re.compile(pattern, re.IGNORECASE), most, source)


_TEXT = r"(?:\.(?:md|rst|txt|adoc|markdown))?"
ABOUT = (
    _rule("overview", rf"readme{_TEXT}"),
    _rule(
        "how to contribute", rf"(?:docs/|\.github/)?(?:contributing|hacking){_TEXT}", source=False
    ),
    _rule(
        "how to develop", rf"(?:docs?/)?(?:development|developing|developers?){_TEXT}", source=False
    ),
    _rule(
        "architecture",
        rf"(?:docs?/(?:[\w-]+/)?)?(?:architecture|design|overview){_TEXT}",
        2,
        source=False,
    ),
)
PARTS = (
    _rule("settings", r"(?!.*commands/)(?:[\w-]+/){0,3}settings(?:/(?:base|__init__))?\.py", 2),
    _rule(
        "routes",
        r"(?:[\w-]+/){0,2}(?:config/)?routes(?:\.(?:rb|[jt]s)|/web\.php)|(?:[\w-]+/)?urls\.py",
        2,
    ),
    _rule(
        "configuration",
        r"(?:src/main/resources/)?(?:application|appsettings)\.(?:ya?ml|properties|json)"
        r"|config/(?:application|config|default|runtime)\.\w+|config\.(?:ya?ml|toml|json)",
        2,
    ),
    _rule(
        "environment variables",
        r"\.env\.(?:example|sample|template|dist)|(?:env\.example|example\.env)",
    ),
    _rule("database schema", r"(?:[\w-]+/){0,3}(?:schema\.(?:prisma|sql|rb)|structure\.sql)", 2),
    _rule(
        "API definition",
        r"(?:[\w.-]+/){0,3}(?:(?:openapi|swagger)(?:[.-][\w.-]+)?\.(?:ya?ml|json)"
        r"|schema\.graphqls?)",
        2,
    ),
)
AROUND = (
    _rule(
        "CI",
        r"\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml|jenkinsfile|\.travis\.yml"
        r"|bitbucket-pipelines\.yml|\.drone\.yml|\.cirrus\.yml|appveyor\.yml|\.buildkite/pipeline\.ya?ml",
    ),
    _rule("containers", r"(?:docker-)?compose\.ya?ml|dockerfile", 2),
    _rule(
        "changes by version",
        rf"(?:docs/)?(?:changelog|changes|history|news|releases?){_TEXT}",
        source=False,
    ),
)


def combine_patterns(rules: Sequence[KeyFileRule]) -> re.Pattern[str]:
    """One pattern of all: most paths fit none of them."""
    return re.compile("|".join(f"(?:{rule.pattern.pattern})" for rule in rules), re.IGNORECASE)
