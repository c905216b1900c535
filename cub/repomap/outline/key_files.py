"""The files that a newcomer opens first, each with what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.outline.entry_files import entry_file, faces, named_entries
from cub.repomap.outline.key_file import KeyFile
from cub.repomap.outline.key_folders import key_folders
from cub.repomap.outline.key_rules import ABOUT, AROUND, PARTS, Rule, any_of
from cub.repomap.outline.words import one_line
from cub.repomap.stack.facts import EntryPoint

_MOST = 25
_ENTRIES = 8


def key_files(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], kinds: Kinds | None = None
) -> tuple[KeyFile, ...]:
    """At most 25 of them, what tells most first; no path twice."""
    known, ordered = kinds or Kinds(paths), sorted(paths)
    found: dict[str, str] = {}
    for file in _all(ordered, entry_points, known):
        found.setdefault(file.path, one_line(file.what))
    return tuple(KeyFile(*item) for item in found.items())[:_MOST]


def _all(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], kinds: Kinds
) -> Iterator[KeyFile]:
    yield from _by_rules(ABOUT, paths, kinds)
    yield from _entries(paths, entry_points, kinds)
    yield from _by_rules(PARTS, paths, kinds)
    yield from (KeyFile(*folder) for folder in key_folders(paths, kinds))
    yield from _by_rules(AROUND, paths, kinds)


def _by_rules(rules: Sequence[Rule], paths: Sequence[str], kinds: Kinds) -> Iterator[KeyFile]:
    """In one pass over the paths, for all rules."""
    fitting: dict[str, list[str]] = {rule.what: [] for rule in rules}
    for path in filter(any_of(rules).fullmatch, paths):
        for rule in rules:
            if rule.pattern.fullmatch(path) and (not rule.source or kinds.of(path) is Kind.SOURCE):
                fitting[rule.what].append(path)
    for rule in rules:
        topmost = sorted(fitting[rule.what], key=lambda path: (path.count("/"), path))
        yield from (KeyFile(path, rule.what) for path in topmost[: rule.most])


def _entries(
    paths: Sequence[str], entry_points: Sequence[EntryPoint], kinds: Kinds
) -> Iterator[KeyFile]:
    """What the manifests name, with all names of each file, and then what names suggest."""
    there, named = frozenset(paths), dict[str, list[str]]()
    for entry in entry_points:
        path = entry_file(entry, there)
        if path:
            named.setdefault(path, []).append(entry.name)
    for path, names in list(named.items())[:_ENTRIES]:
        telling = dict.fromkeys(name for name in names[:3] if name != path)
        yield KeyFile(path, f"entry point {', '.join(telling)}".strip())
    for path in named_entries(paths, kinds)[: max(0, _ENTRIES - len(named))]:
        yield KeyFile(path, "entry point")
    yield from (KeyFile(path, "public names") for path in faces(paths, kinds))
