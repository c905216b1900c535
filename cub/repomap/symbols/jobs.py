"""Which files are scanned, and which of them parsed."""

from __future__ import annotations

from collections.abc import Mapping

from cub.repomap.listing.kinds import Kind
from cub.repomap.listing.languages import header_language, language_of
from cub.repomap.listing.listing import File, Listing
from cub.repomap.symbols.scan import Job

FOREIGN = (Kind.VENDORED, Kind.GENERATED)


def jobs_of(found: Listing, kind_of: Mapping[str, Kind]) -> dict[File, Job]:
    """What is to be scanned: sources, and what uses them; only sources are parsed."""
    header = "cpp" if header_language(found.paths) == "C++" else "c"
    jobs = {}
    for file in found.files:
        language, kind = language_of(file.path), kind_of[file.path]
        if not language or not language.grammar or kind in FOREIGN:
            continue
        grammar = header if file.path.endswith(".h") else language.grammar
        jobs[file] = Job(file.path, grammar, kind is Kind.SOURCE)
    return jobs
