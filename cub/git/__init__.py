"""What git says about a folder, and what its commits hold.

What works on a checkout is imported from its own modules (checkout, snapshot, committing,
restoring, branches): only a run needs it, and every other start of cub would pay for it.
"""

from cub.git.missing import GitWorkTree, read_checked_out, require_not_withheld
from cub.git.objects import Entry, Objects
from cub.git.revision import Change, Endpoints, PathError, Revision, changed, endpoints
from cub.git.tracked import tracked, tracked_among
from cub.git.unmerged import unmerged
from cub.git.worktree import common_folder, ignored, is_bare, is_usable, top_level

__all__ = [
    "Change",
    "Endpoints",
    "Entry",
    "GitWorkTree",
    "Objects",
    "PathError",
    "Revision",
    "changed",
    "common_folder",
    "endpoints",
    "ignored",
    "is_bare",
    "is_usable",
    "read_checked_out",
    "require_not_withheld",
    "top_level",
    "tracked",
    "tracked_among",
    "unmerged",
]
