"""Which files are scanned, and which of them parsed."""

from __future__ import annotations

from cub.repomap.listing.kinds import FOREIGN, Kind, Kinds
from cub.repomap.listing.languages import header_language, language_of
from cub.repomap.listing.listing import File, Listing
from cub.repomap.symbols.scan import Job

Jobs = dict[File, Job]


def jobs_of(found: Listing, kinds: Kinds) -> Jobs:
    """What is to be scanned: sources, and what uses them; only sources are parsed."""
    header = "cpp" if header_language(found.paths) == "C++" else "c"
    jobs: Jobs = {}
    for file in found.files:
        language = language_of(file.path)
        if not language or not language.grammar or (kind := kinds.of(file.path)) in FOREIGN:
            continue
        grammar = header if file.path.endswith(".h") else language.grammar
        jobs[file] = Job(file.path, grammar, kind is Kind.SOURCE)
    return jobs
