"""Scripts by the names that people know them by: `scripts/test`, `script/setup`, `bin/dev`."""

from __future__ import annotations

from cub.repomap.stack.commands.purposes import purpose_of_name
from cub.repomap.stack.facts import Command, Facts, Manifest, Reader

_FOLDERS = ("scripts", "script", "bin")
_NAMES = (
    "setup", "bootstrap", "install", "build", "compile", "test", "tests", "lint", "format", "fmt",
    "typecheck", "dev", "serve", "server", "start",
)  # fmt: skip

# An `install.sh` mostly is what users of a program fetch.
_SCRIPTS = (*_NAMES, *(f"{name}.sh" for name in _NAMES if name != "install"))


def _read(manifest: Manifest) -> Facts:
    """A file without `#!` is no script."""
    purpose = purpose_of_name(manifest.path.rpartition("/")[2].removesuffix(".sh"))
    if purpose is None or not manifest.text.startswith("#!"):
        return Facts()
    return Facts(commands=(Command(purpose, manifest.path, manifest.path, origin="target"),))


READERS = (Reader(tuple(f"{folder}/{name}" for folder in _FOLDERS for name in _SCRIPTS), _read),)
