"""How much of a project is written in which language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.listing.languages import MARKUP, header_language, language_of
from cub.repomap.listing.listing import File


def shares(files: Sequence[File], kinds: Kinds, least: int = 5) -> tuple[tuple[str, int], ...]:
    """Languages by their share of the bytes that people wrote, in steps of five percent."""
    sizes: Counter[str] = Counter()
    header = header_language(file.path for file in files)
    for file in files:
        language = language_of(file.path)
        if language and kinds.of(file.path) in (Kind.SOURCE, Kind.TEST):
            sizes[header if file.path.endswith(".h") else language.name] += file.size
    if any(name not in MARKUP for name in sizes):
        sizes = Counter({name: size for name, size in sizes.items() if name not in MARKUP})
    total = sum(sizes.values()) or 1
    found = ((name, 5 * round(20 * size / total)) for name, size in sizes.items())
    kept = [(name, share) for name, share in found if share >= least]
    return tuple(sorted(kept, key=lambda row: (-row[1], row[0])))
