"""Tasks as other tools write them, read as cub's and written back; pure functions of bytes."""

from cub.store.formats.document import Imported
from cub.store.formats.table import AUTO, FORMATS, read_tasks, write_tasks

__all__ = ["AUTO", "FORMATS", "Imported", "read_tasks", "write_tasks"]
