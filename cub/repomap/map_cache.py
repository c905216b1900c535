"""What the last map rests on: told from it that an edit changes nothing that the map says.

Most edits name nothing new that is defined elsewhere. Then scanning the changed files again is
enough, and the graph need not be built.

The last map that was made, kept with all that tells whether it still holds.
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


_FEW = 20  # changed files: beyond, all is made anew

FactsByFile = dict[ListedFile, FileFacts]
FileStates = dict[str, tuple[int, int, int, str]]  # size, time, inode, and the print of the facts


@dataclass(frozen=True, slots=True)
class MapFingerprint:
    """`scanned_files` are the scanned ones, `others_digest` is a digest of the states of the rest;
    `read_paths` are those that more than symbols was taken from; `vocabulary` is everything that
    would be a reference.
    """

    scanned_files: FileStates
    others_digest: str
    languages: tuple[tuple[str, int], ...]
    read_paths: frozenset[str]
    vocabulary: frozenset[str]

    def to_json(self) -> list[Any]:
        """As JSON has it."""
        known = sorted(self.vocabulary)
        return [
            self.scanned_files,
            self.others_digest,
            self.languages,
            sorted(self.read_paths),
            known,
        ]

    @classmethod
    def from_json(cls, row: Any) -> MapFingerprint:
        """What `to_json` gave; ValueError, TypeError and the like for anything else."""
        files, others, languages, read, known = row
        states = {path: (state[0], state[1], state[2], state[3]) for path, state in files.items()}
        pairs = tuple((name, share) for name, share in languages)
        return cls(states, others, pairs, frozenset(read), frozenset(known))


def fingerprint_map(full: RepoMap) -> MapFingerprint:
    """What a map rests on."""
    found, graph = full.files.listing, full.graph
    said = {source.path: names for source, names in zip(graph.files, graph.mentions, strict=True)}
    prints = {path: _print(facts, said.get(path, "")) for path, facts in full.facts_by_path.items()}
    states = {f.path: (*f[1:], prints[f.path]) for f in found.files if f.path in prints}
    others = _digest(file for file in found.files if file.path not in prints)
    return MapFingerprint(
        states, others, full.structure.languages, full.structure.read_paths, graph.vocabulary
    )


def is_still_valid(
    basis: MapFingerprint, files: ClassifiedFiles, facts_by_file: FactsByFile
) -> bool:
    """Whether a map of the files as they are now would say what the last one says.

    What is `facts_by_file` to tell that is added, for who has to make the map.
    """
    found, kinds, jobs = files
    known = basis.scanned_files
    if len(jobs) != len(known) or any(file.path not in known for file in jobs):
        return False
    changed = [file for file in jobs if known[file.path][:3] != file[1:]]
    if len(changed) > _FEW or any(file.path in basis.read_paths for file in changed):
        return False
    if basis.others_digest != _digest(file for file in found.files if file not in jobs):
        return False
    if basis.languages != compute_language_shares(found.files, kinds):
        return False
    facts_by_file.update((file, scan_file(str(found.root), jobs[file])) for file in changed)
    return all(_is_alike(basis, file.path, facts_by_file[file]) for file in changed)


def _is_alike(basis: MapFingerprint, path: str, facts: FileFacts) -> bool:
    said = filter(basis.vocabulary.__contains__, facts.names.split())
    return _print(facts, " ".join(said)) == basis.scanned_files[path][3]


def _print(facts: FileFacts, said: str) -> str:
    """Of all that a map depends on in a file; on what line it stands is no part of it."""
    return blake2b(f"{facts.digest} {said}".encode("utf-8", "replace"), digest_size=9).hexdigest()


def _digest(files: Iterable[ListedFile]) -> str:
    text = "\n".join([f"{path}\0{size}\0{time}\0{inode}" for path, size, time, inode in files])
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


MAP_CACHE_FILE, FINGERPRINT_FILE = "map.json", "basis.json"


class MapText(NamedTuple):
    """The text of a map, and what could not be read for it."""

    text: str
    omissions: tuple[MapOmission, ...]


class CachedMap(NamedTuple):
    """The last map: what it is for, the key of the files, and the key that its basis has."""

    settings_key: str
    files_key: str
    fingerprint_key: str
    map_text: MapText


def load_cached_map(folder: Path, frame: str) -> CachedMap | None:
    """The last map for this frame; None if there is none, or it can't be read."""
    try:
        known, key, basis, (text, notes) = _read(folder / MAP_CACHE_FILE)
        made = MapText(str(text), tuple(MapOmission(*note) for note in notes))
        return CachedMap(known, key, basis, made) if known == frame else None
    except READ_ERRORS:
        return None


def load_fingerprint(folder: Path, key: str) -> MapFingerprint | None:
    """The basis of this key; None if there is none, or it can't be read."""
    try:
        known, row = _read(folder / FINGERPRINT_FILE)
        return MapFingerprint.from_json(row) if known == key else None
    except READ_ERRORS:
        return None


def _read(path: Path) -> Any:
    if not path.is_file():  # nothing, or what would not end
        raise FileNotFoundError(path)
    return json.loads(path.read_bytes())


def save_cached_map(folder: Path, last: CachedMap) -> None:
    """Keep a map; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / MAP_CACHE_FILE, [json.dumps(last).encode()])


def save_fingerprint(folder: Path, key: str, basis: MapFingerprint) -> None:
    """Keep what a map rests on; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / FINGERPRINT_FILE, [json.dumps([key, basis.to_json()]).encode()])
