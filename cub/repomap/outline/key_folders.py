"""Folders that stand for the files in them: tests, migrations, API definitions, workflows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.outline.folders import is_code
from cub.repomap.outline.testing import name_pattern

_WORKFLOW = re.compile(r"\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml")
_MIGRATION = re.compile(
    r"((?:.*/)?(?:migrations?|db/migrate|alembic/versions)/)[^/]+\.(?:py|sql|rb|php|ts|js|exs)"
)


_PROTO = re.compile(r"(.*/)[^/]+\.proto")
_MOST = 2  # of migrations and of API definitions
_NAMES = 6


def key_folders(paths: Sequence[str], kinds: Kinds) -> Iterator[tuple[str, str]]:
    """Each folder, its path with `/` at the end, and what it has."""
    yield from _tests(paths, kinds)
    yield from _of(_MIGRATION, "database migrations", paths, kinds)
    yield from _of(_PROTO, "API definition", paths, kinds)
    yield from _workflows(paths)


def _of(
    pattern: re.Pattern[str], what: str, paths: Sequence[str], kinds: Kinds
) -> Iterator[tuple[str, str]]:
    """The folders with most files that fit, by the pattern's one group."""
    counts = Counter(found[1] for found in map(pattern.fullmatch, paths) if found)
    ours = [folder for folder in counts if kinds.of(folder) is Kind.SOURCE]
    for folder in sorted(ours, key=lambda folder: (-counts[folder], folder))[:_MOST]:
        yield folder, what


def _workflows(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for path in filter(_WORKFLOW.fullmatch, paths):
        folder, _, name = path.rpartition("/")
        found.setdefault(f"{folder}/", []).append(name.rpartition(".")[0])
    for folder, names in found.items():
        yield folder, f"CI: {', '.join(names[:_NAMES])}" + ", ..." * (len(names) > _NAMES)


def _tests(paths: Sequence[str], kinds: Kinds) -> Iterator[tuple[str, str]]:
    """The topmost folder with most of the tests, and the folders in it that have tests."""
    inside: dict[str, Counter[str]] = {}
    for path in paths:
        top, _, rest = path.partition("/")
        if rest and is_code(path) and kinds.of(path) is Kind.TEST:
            name = rest.partition("/")[0] if "/" in rest and name_pattern(path) else ""
            inside.setdefault(top, Counter())[name] += 1
    top = min(inside, key=lambda name: (-inside[name].total(), name), default="")
    if top and kinds.of(f"{top}/") is Kind.TEST:
        counts = inside[top]
        names = sorted(counts.keys() - {""}, key=lambda name: (-counts[name], name))[:_NAMES]
        yield f"{top}/", f"tests: {', '.join(sorted(names))}" if names else "tests"
