"""Keep the last map, and decide whether it still holds.

Most edits name nothing new that is defined elsewhere. Then scanning the changed files again is
enough, and the graph need not be built.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cub.files.internal_files import READ_ERRORS, replace_file
from cub.repomap.listing.file_listing import ListedFile
from cub.repomap.listing.languages import compute_language_shares
from cub.repomap.map_types import MapOmission
from cub.repomap.symbols.file_facts import FileFacts
from cub.repomap.symbols.scan import ClassifiedFiles, scan_file

if TYPE_CHECKING:
    from cub.repomap.repo_map import RepoMap


_MAX_CHANGED_FILES = 20  # beyond, everything is computed again

FactsByFile = dict[ListedFile, FileFacts]
FileStates = dict[str, tuple[int, int, int, str]]  # size, time, inode, and digest of the facts


@dataclass(frozen=True, slots=True)
class MapFingerprint:
    """Hold what a map depends on.

    `others_digest` covers the states of files that are not scanned; `read_paths` are those that
    were read for more than symbols; `vocabulary` is everything that would be a reference.
    """

    scanned_files: FileStates
    others_digest: str
    languages: tuple[tuple[str, int], ...]
    read_paths: frozenset[str]
    vocabulary: frozenset[str]

    def to_json(self) -> list[Any]:
        """Return the fingerprint as a JSON list, by position."""
        read, words = sorted(self.read_paths), sorted(self.vocabulary)
        return [self.scanned_files, self.others_digest, self.languages, read, words]

    @classmethod
    def from_json(cls, row: Any) -> MapFingerprint:
        """Read what `to_json` returned; raise ValueError, TypeError and the like for other data."""
        files, others, languages, read, words = row
        states = {path: (state[0], state[1], state[2], state[3]) for path, state in files.items()}
        pairs = tuple((name, share) for name, share in languages)
        return cls(states, others, pairs, frozenset(read), frozenset(words))


def fingerprint_map(repo_map: RepoMap) -> MapFingerprint:
    """Return what a map depends on."""
    files, graph, structure = repo_map.files.listing.files, repo_map.graph, repo_map.structure
    mentions = {file.path: m for file, m in zip(graph.files, graph.mentions, strict=True)}
    digests = {
        path: _digest_facts(facts, mentions.get(path, ""))
        for path, facts in repo_map.facts_by_path.items()
    }
    states = {f.path: (*f[1:], digests[f.path]) for f in files if f.path in digests}
    others = _digest_states(file for file in files if file.path not in digests)
    return MapFingerprint(
        states, others, structure.languages, structure.read_paths, graph.vocabulary
    )


def is_still_valid(
    fingerprint: MapFingerprint, files: ClassifiedFiles, facts_by_file: FactsByFile
) -> bool:
    """Return whether a map of the files as they are now would say what the last one says.

    Facts of changed files are added to `facts_by_file`, for the caller if it has to make the map.
    """
    listing, classifier, jobs = files
    states = fingerprint.scanned_files
    if len(jobs) != len(states) or any(file.path not in states for file in jobs):
        return False
    changed = [file for file in jobs if states[file.path][:3] != file[1:]]
    read_paths = fingerprint.read_paths
    if len(changed) > _MAX_CHANGED_FILES or any(file.path in read_paths for file in changed):
        return False
    others = _digest_states(file for file in listing.files if file not in jobs)
    if fingerprint.others_digest != others:
        return False
    if fingerprint.languages != compute_language_shares(listing.files, classifier):
        return False
    facts_by_file.update((file, scan_file(str(listing.root), jobs[file])) for file in changed)
    for file in changed:
        facts = facts_by_file[file]
        mentions = " ".join(filter(fingerprint.vocabulary.__contains__, facts.names.split()))
        if _digest_facts(facts, mentions) != states[file.path][3]:
            return False
    return True


def _digest_facts(facts: FileFacts, mentions: str) -> str:
    """Return a digest of all that a map depends on in a file, which line numbers are not."""
    data = f"{facts.digest} {mentions}".encode("utf-8", "replace")
    return blake2b(data, digest_size=9).hexdigest()


def _digest_states(files: Iterable[ListedFile]) -> str:
    text = "\n".join([f"{path}\0{size}\0{time}\0{inode}" for path, size, time, inode in files])
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


MAP_CACHE_FILE, FINGERPRINT_FILE = "map.json", "basis.json"


class MapText(NamedTuple):
    """Hold the text of a map, and what could not be read for it."""

    text: str
    omissions: tuple[MapOmission, ...]


class CachedMap(NamedTuple):
    """Hold the last map, and the keys of its settings, of its files, and of its fingerprint."""

    settings_key: str
    files_key: str
    fingerprint_key: str
    map_text: MapText


def load_cached_map(folder: Path, settings_key: str) -> CachedMap | None:
    """Return the last map of these settings; None if there is none, or it can't be read."""
    try:
        stored_key, files_key, fingerprint_key, (text, rows) = _read_json(folder / MAP_CACHE_FILE)
        map_text = MapText(str(text), tuple(MapOmission(*row) for row in rows))
    except READ_ERRORS:
        return None
    if stored_key != settings_key:
        return None
    return CachedMap(settings_key, files_key, fingerprint_key, map_text)


def load_fingerprint(folder: Path, key: str) -> MapFingerprint | None:
    """Return the fingerprint of this key; None if there is none, or it can't be read."""
    try:
        stored_key, row = _read_json(folder / FINGERPRINT_FILE)
        return MapFingerprint.from_json(row) if stored_key == key else None
    except READ_ERRORS:
        return None


def _read_json(path: Path) -> Any:
    if not path.is_file():  # missing, or a device that never ends
        raise FileNotFoundError(path)
    return json.loads(path.read_bytes())


def save_cached_map(folder: Path, cached: CachedMap) -> None:
    """Save a map; if that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / MAP_CACHE_FILE, [json.dumps(cached).encode()])


def save_fingerprint(folder: Path, key: str, fingerprint: MapFingerprint) -> None:
    """Save what a map depends on; if that fails, nothing changes."""
    with suppress(OSError):
        data = json.dumps([key, fingerprint.to_json()]).encode()
        replace_file(folder / FINGERPRINT_FILE, [data])
