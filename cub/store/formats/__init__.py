"""Read tasks as other tools write them, and write them for export; pure functions of bytes."""

from cub.store.formats.document import ImportedTasks
from cub.store.formats.exports import EXPORT_FORMATS, dump_tasks
from cub.store.formats.format_registry import AUTO_FORMAT, FORMATS, parse_tasks

__all__ = [
    "AUTO_FORMAT", "EXPORT_FORMATS", "FORMATS", "ImportedTasks", "dump_tasks", "parse_tasks",
]  # fmt: skip
