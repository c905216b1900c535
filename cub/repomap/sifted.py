"""The files of a project, sorted by the part that they play."""

from __future__ import annotations

from typing import NamedTuple

from cub.repomap.listing.kinds import Kinds
from cub.repomap.listing.listing import Listing
from cub.repomap.symbols.jobs import Jobs, jobs_of


class Sifted(NamedTuple):
    """A listing, the kinds of its files, and those that are scanned for symbols."""

    found: Listing
    kinds: Kinds
    jobs: Jobs


def sifted(found: Listing, *, symbols: bool = True) -> Sifted:
    """Sort the files of a listing; without `symbols`, none is scanned."""
    kinds = Kinds(found.paths)
    return Sifted(found, kinds, jobs_of(found, kinds) if symbols else {})
