"""Short statements of what is so throughout a repository, each with evidence in its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.outline.folders import is_code
from cub.repomap.outline.habits import tool_habits
from cub.repomap.outline.naming import naming_habits
from cub.repomap.outline.strictness import strictness
from cub.repomap.outline.testing import layout_habits
from cub.repomap.outline.words import one_line
from cub.repomap.stack.facts import Read, Technology


def conventions(
    paths: Sequence[str],
    technologies: Sequence[Technology],
    kinds: Kinds | None = None,
    read: Read | None = None,
) -> tuple[str, ...]:
    """What holds for tests, names, tools; with `read`, also how strictly types are checked."""
    ordered = sorted(paths)
    return tuple(map(one_line, _all(ordered, technologies, kinds or Kinds(ordered), read)))


def _all(
    paths: Sequence[str], technologies: Sequence[Technology], kinds: Kinds, read: Read | None
) -> Iterator[str]:
    code = [(path, kinds.of(path)) for path in paths if is_code(path)]
    sources = [path for path, kind in code if kind is Kind.SOURCE]
    yield from layout_habits([path for path, kind in code if kind is Kind.TEST], sources)
    yield from naming_habits(sources)
    yield from tool_habits(paths, technologies)
    if read:
        yield from strictness(paths, read)
