"""The only place that touches user files: exact reads, and one writer, `apply`."""

from cub.files.apply import apply
from cub.files.journal import JOURNAL, pending
from cub.files.lock import LOCK, exclusive
from cub.files.reading import link_text, names_in, read, real_path
from cub.files.recovery import recover
from cub.files.tree import Planned, Tree, WorkTree

__all__ = [
    "JOURNAL",
    "LOCK",
    "Planned",
    "Tree",
    "WorkTree",
    "apply",
    "exclusive",
    "link_text",
    "names_in",
    "pending",
    "read",
    "real_path",
    "recover",
]
