"""The only place that touches user files: exact reads, and one writer, `apply`."""

from cub.files.apply import apply
from cub.files.journal import pending, recover
from cub.files.lock import exclusive
from cub.files.reading import names_in, read

__all__ = ["apply", "exclusive", "names_in", "pending", "read", "recover"]
