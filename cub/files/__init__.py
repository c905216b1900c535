"""Exact reads of user files, and `apply`, the one writer of plans."""

from cub.files.apply import apply, require_applicable
from cub.files.journal import JOURNAL, pending
from cub.files.listener import Listener, listening
from cub.files.lock import LOCK, Held, exclusive
from cub.files.missing import Missing
from cub.files.reading import link_text, names_in, read, real_path
from cub.files.tree import Planned, Tree, WorkTree

__all__ = [
    "JOURNAL",
    "LOCK",
    "Held",
    "Listener",
    "Missing",
    "Planned",
    "Tree",
    "WorkTree",
    "apply",
    "exclusive",
    "link_text",
    "listening",
    "names_in",
    "pending",
    "read",
    "real_path",
    "require_applicable",
]
