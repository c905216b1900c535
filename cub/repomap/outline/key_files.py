"""Find the files that a newcomer opens first, each with what it is.

Single files are found by the table `key_files.toml`, entry points by what manifests say or by
their names; tests, migrations, API definitions and workflows are shown as their folders.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cub.repomap.data import load_table
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.map_types import KeyFile
from cub.repomap.outline.conventions import get_test_name_pattern
from cub.repomap.outline.folders import is_code_file
from cub.repomap.safe_text import to_one_line
from cub.repomap.stack.facts import EntryPoint

_MAX_KEY_FILES = 25
_MAX_ENTRY_FILES = 8


def find_key_files(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], classifier: FileClassifier
) -> tuple[KeyFile, ...]:
    """Return at most 25 files or folders, the most important first; no path twice."""
    ordered = sorted(paths)
    files: dict[str, str] = {}
    for file in (
        *_find_by_rules("about", ordered, classifier),
        *_find_entry_files(ordered, entry_points, classifier),
        *_find_by_rules("parts", ordered, classifier),
        *_find_tests(ordered, classifier),
        *_find_folders(_MIGRATION, "database migrations", ordered, classifier),
        *_find_folders(_PROTO, "API definition", ordered, classifier),
        *_find_workflows(ordered),
        *_find_by_rules("around", ordered, classifier),
    ):
        files.setdefault(file.path, to_one_line(file.what))
    return tuple(KeyFile(*item) for item in files.items())[:_MAX_KEY_FILES]


_PROSE = r"(?:\.(?:md|rst|txt|adoc|markdown))?"


def _find_by_rules(
    part: str, paths: Sequence[str], classifier: FileClassifier
) -> Iterator[KeyFile]:
    """Find the files of all rules of a part of the table."""
    rules = load_table("key_files")[part]
    endings = [_PROSE if rule.get("prose") else "" for rule in rules]
    patterns = [
        "|".join(pattern + ending for pattern in rule["patterns"])
        for rule, ending in zip(rules, endings, strict=True)
    ]
    any_rule = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
    candidates = list(filter(any_rule.fullmatch, paths))  # most paths match none
    for rule, pattern in zip(rules, patterns, strict=True):
        matching = [
            path
            for path in filter(re.compile(pattern, re.IGNORECASE).fullmatch, candidates)
            if rule.get("anywhere") or classifier.classify(path) is FileKind.SOURCE
        ]
        topmost = sorted(matching, key=lambda path: (path.count("/"), path))
        yield from (KeyFile(path, rule["what"]) for path in topmost[: rule.get("most", 1)])


_SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".cts", ".jsx", ".cjs")
_IN_FOLDER = (
    *("__main__.py", "__init__.py", "main.go", "main.rs", "lib.rs", "mod.rs"),
    *(f"index{ending}" for ending in _SCRIPTS),
)
_OBJECT = re.compile(r"[A-Za-z_][\w.-]*(?::[\w.]+)?(?:\s*\[.*\])?")
_ROOTS = ("", "src/", "lib/", "python/", "app/")
_CLASSES = (".java", ".kt", ".scala", ".groovy", ".cs")
_MAX_LIBRARY_FILES = 3


def _find_entry_files(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], classifier: FileClassifier
) -> Iterator[KeyFile]:
    """Yield what manifests name, with all names of each file, and then what file names suggest."""
    existing, names_by_file = frozenset(paths), dict[str, list[str]]()
    for entry in entry_points:
        path = find_entry_file(entry, existing)
        if path:
            names_by_file.setdefault(path, []).append(entry.name)
    for path, names in list(names_by_file.items())[:_MAX_ENTRY_FILES]:
        labels = dict.fromkeys(name for name in names[:3] if name != path)
        yield KeyFile(path, f"entry point {', '.join(labels)}".strip())
    count = max(0, _MAX_ENTRY_FILES - len(names_by_file))
    for path in _find_topmost("program", paths, classifier)[:count]:
        yield KeyFile(path, "entry point")
    library = _find_topmost("library", paths, classifier)
    if len(library) <= _MAX_LIBRARY_FILES:
        yield from (KeyFile(path, "public names") for path in library)


def _find_topmost(part: str, paths: Sequence[str], classifier: FileClassifier) -> list[str]:
    pattern = re.compile("|".join(load_table("key_files")["entry_points"][part]))
    sources = [
        path
        for path in paths
        if pattern.fullmatch(path) and classifier.classify(path) is FileKind.SOURCE
    ]
    return sorted(sources, key=lambda path: (path.count("/"), path))


def find_entry_file(entry: EntryPoint, paths: frozenset[str]) -> str:
    """Return the path of the file that an entry point starts at; "" if there is none."""
    folder = posixpath.dirname(entry.source)
    return next((path for path in _iter_candidates(entry.target, folder) if path in paths), "")


def _iter_candidates(target: str, folder: str) -> Iterator[str]:
    base = target.strip().removeprefix("./")
    for place in dict.fromkeys((folder, "")):
        yield from _resolve_path(base, place)
        if _OBJECT.fullmatch(base):
            yield from _resolve_object(base.partition(":")[0].partition("[")[0].strip(), place)


def _resolve_path(target: str, folder: str) -> Iterator[str]:
    path = posixpath.normpath(posixpath.join(folder, target))
    yield path
    yield from (f"{path}/{name}" if path != "." else name for name in _IN_FOLDER)


def _resolve_object(name: str, folder: str) -> Iterator[str]:
    parts = name.replace(".", "/")
    for root in _ROOTS:
        stem = posixpath.join(folder, root + parts)
        yield from (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py")
    for ending in _CLASSES:
        kind = {".kt": "kotlin", ".cs": ""}.get(ending, ending[1:])
        yield posixpath.join(folder, f"src/main/{kind}/{parts}{ending}")
        yield posixpath.join(folder, f"src/main/java/{parts}{ending}")


_WORKFLOW = re.compile(r"\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml")
_MIGRATION = re.compile(
    r"((?:.*/)?(?:migrations?|db/migrate|alembic/versions)/)[^/]+\.(?:py|sql|rb|php|ts|js|exs)"
)
_PROTO = re.compile(r"(.*/)[^/]+\.proto")
_MAX_FOLDERS = 2  # of migrations and of API definitions
_MAX_NAMES = 6


def _find_tests(paths: Sequence[str], classifier: FileClassifier) -> Iterator[KeyFile]:
    """Yield the topmost folder with most of the tests, and name the folders in it."""
    inside: dict[str, Counter[str]] = {}
    for path in paths:
        top, _, rest = path.partition("/")
        if rest and is_code_file(path) and classifier.classify(path) is FileKind.TEST:
            name = rest.partition("/")[0] if "/" in rest and get_test_name_pattern(path) else ""
            inside.setdefault(top, Counter())[name] += 1
    top = min(inside, key=lambda name: (-inside[name].total(), name), default="")
    if top and classifier.classify(f"{top}/") is FileKind.TEST:
        counts = inside[top]
        names = sorted(counts.keys() - {""}, key=lambda name: (-counts[name], name))[:_MAX_NAMES]
        yield KeyFile(f"{top}/", f"tests: {', '.join(sorted(names))}" if names else "tests")


def _find_folders(
    pattern: re.Pattern[str], what: str, paths: Sequence[str], classifier: FileClassifier
) -> Iterator[KeyFile]:
    """Yield the folders with most files that match, by the pattern's one group."""
    counts = Counter(match[1] for match in map(pattern.fullmatch, paths) if match)
    sources = [folder for folder in counts if classifier.classify(folder) is FileKind.SOURCE]
    for folder in sorted(sources, key=lambda folder: (-counts[folder], folder))[:_MAX_FOLDERS]:
        yield KeyFile(folder, what)


def _find_workflows(paths: Sequence[str]) -> Iterator[KeyFile]:
    workflows: dict[str, list[str]] = {}
    for path in filter(_WORKFLOW.fullmatch, paths):
        folder, _, name = path.rpartition("/")
        workflows.setdefault(f"{folder}/", []).append(name.rpartition(".")[0])
    for folder, names in workflows.items():
        more = ", ..." * (len(names) > _MAX_NAMES)
        yield KeyFile(folder, f"CI: {', '.join(names[:_MAX_NAMES])}{more}")
