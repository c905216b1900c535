"""Ask git about a folder, and read its files and commits.

Import the modules that a run needs (snapshot, commit, branches and the like) from themselves: every
other start of cub would pay for them.
"""

from cub.git.commit_tree import (
    CommitRange,
    CommitTree,
    EntryChange,
    PathError,
    iter_changed_entries,
    resolve_range,
)
from cub.git.objects import ObjectReader, TreeEntry, read_merge_stages
from cub.git.tracked_files import (
    GitDiskTree,
    filter_tracked_files,
    find_flagged_files,
    list_tracked_files,
    read_tracked_file,
    require_in_checkout,
)
from cub.git.worktree import (
    find_common_dir,
    find_toplevel,
    is_bare_repository,
    is_git_usable,
    is_ignored,
)

__all__ = [
    "CommitRange", "CommitTree", "EntryChange", "GitDiskTree", "ObjectReader", "PathError",
    "TreeEntry", "filter_tracked_files", "find_common_dir", "find_flagged_files", "find_toplevel",
    "is_bare_repository", "is_git_usable", "is_ignored", "iter_changed_entries",
    "list_tracked_files", "read_merge_stages", "read_tracked_file", "require_in_checkout",
    "resolve_range",
]  # fmt: skip
