"""Tasks as other tools write them, read as cub's and written back; pure functions of bytes."""

from cub.store.formats.document import ImportedTasks
from cub.store.formats.format_registry import AUTO_FORMAT, FORMATS, dump_tasks, parse_tasks

__all__ = ["AUTO_FORMAT", "FORMATS", "ImportedTasks", "dump_tasks", "parse_tasks"]
