"""What git says about a folder, and what its commits hold."""

from cub.git.objects import Entry, Objects
from cub.git.revision import Change, Endpoints, Revision, changed, endpoints
from cub.git.worktree import ignored, top_level

__all__ = [
    "Change",
    "Endpoints",
    "Entry",
    "Objects",
    "Revision",
    "changed",
    "endpoints",
    "ignored",
    "top_level",
]
