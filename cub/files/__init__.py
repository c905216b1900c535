"""Read files exactly, and write plans through `apply_plan`, the one writer of plans."""

from cub.files.apply import apply_plan, require_applicable
from cub.files.file_tree import DiskTree, FileTree, MissingFile, PlannedTree
from cub.files.journal import JOURNAL_FILE, warn_pending_change
from cub.files.lock import LOCK_FILE, MessageSink, ProjectLock, lock_project, use_message_sink
from cub.files.read_files import list_names, read_file, read_link_text, resolve_path

__all__ = [
    "JOURNAL_FILE",
    "LOCK_FILE",
    "DiskTree",
    "FileTree",
    "MessageSink",
    "MissingFile",
    "PlannedTree",
    "ProjectLock",
    "apply_plan",
    "list_names",
    "lock_project",
    "read_file",
    "read_link_text",
    "require_applicable",
    "resolve_path",
    "use_message_sink",
    "warn_pending_change",
]
