"""Keep cub's own state outside of every project, as signed JSON files.

A signature (a MAC with a key of this user) tells files that cub wrote from others that were put or
moved there. The key is in the same directory, and never in an environment.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from secrets import token_bytes
from typing import Any

from cub.errors import CubError
from cub.files.internal_files import replace_file
from cub.files.temporary_files import open_temp_file
from cub.json_values import parse_object
from cub.text import describe_os_error

KEY_FILE = "key"
_KEY_SIZE = 32  # bytes
_MAX_FILE_SIZE = 256 << 20  # bytes; a snapshot of a million files takes less


def find_state_folder() -> Path:
    """Return this user's folder for cub's state; on Linux `~/.local/state/cub`.

    Raises CubError if there is none: a relative path would lead into the project.
    """
    from platformdirs import user_state_path

    with suppress(RuntimeError):
        folder = user_state_path("cub")
        if folder.is_absolute():
            return folder
    raise CubError(
        "there is no home directory, where cub keeps its state",
        hint="set HOME or XDG_STATE_HOME to an absolute path",
    )


def find_project_state(root: Path) -> Path:
    """Return the folder for cub's state of the project at `root`, also if `root` is a link."""
    return find_state_folder() / "projects" / name_project_folder(root)


def name_project_folder(root: Path) -> str:
    """Return the name of a folder for the project at `root`, the same if `root` is a link."""
    return blake2b(os.fsencode(os.path.realpath(root)), digest_size=12).hexdigest()


def read_signed(path: Path) -> dict[str, Any]:
    """Return the mapping in a signed file; {} if it is missing, broken, or not cub's own."""
    try:
        if not path.is_file() or path.stat().st_size > _MAX_FILE_SIZE:
            return {}
        data, _, signature = path.read_bytes().rstrip(b"\n").rpartition(b"\n")
        return parse_object(data) if _is_signed(path, data, signature) else {}
    except OSError:
        return {}


def write_signed(path: Path, tree: dict[str, Any], *, is_lasting: bool = True) -> None:
    """Write a mapping and its signature, so that a reader finds the old mapping or the new one.

    With `is_lasting`, that holds after a power cut as well. Raises CubError if it can't be written.
    """
    data = json.dumps(tree).encode()
    try:
        make_private_folder(path.parent)
        signature = _sign(_name_place(path), data, _read_key() or _make_key())
        replace_file(path, [data, b"\n", signature, b"\n"], is_lasting=is_lasting)
    except OSError as error:
        raise make_state_error(error) from error


def sign_line(path: Path, data: bytes) -> bytes:
    """Return a signed line, which counts only in the file at `path`. Raises OSError."""
    make_private_folder(find_state_folder())
    return data + b"\t" + _sign(_name_place(path), data, _read_key() or _make_key()) + b"\n"


def read_signed_line(path: Path, line: bytes) -> bytes:
    """Return the data of a line in the file at `path`; b"" if cub didn't sign it for there."""
    data, _, signature = line.rpartition(b"\t")
    try:
        return data if _is_signed(path, data, signature) else b""
    except (OSError, CubError):
        return b""


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it, that no other user can read. Raises OSError."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def make_state_error(error: OSError) -> CubError:
    """Return the error for state that can't be stored."""
    reason = describe_os_error(error)
    hint = "cub run keeps there what an agent must not reach; XDG_STATE_HOME names another place"
    return CubError(
        f"cub's state can't be written: {reason}", where=find_state_folder().as_posix(), hint=hint
    )


def _name_place(path: Path) -> bytes:
    """Return the location that a signature covers: a file that is moved elsewhere doesn't count."""
    folder = find_state_folder()
    is_state = path.is_relative_to(folder)
    return os.fsencode(path.relative_to(folder).as_posix() if is_state else path.as_posix())


def _is_signed(path: Path, data: bytes, signature: bytes) -> bool:
    key = _read_key()
    return bool(key) and compare_digest(signature, _sign(_name_place(path), data, key))


def _sign(place: bytes, data: bytes, key: bytes) -> bytes:
    sized = len(place).to_bytes(4, "big")
    return blake2b(sized + place + data, key=key, digest_size=32).hexdigest().encode()


def _read_key() -> bytes:
    """Return the key; b"" if there is none."""
    try:
        key = (find_state_folder() / KEY_FILE).read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == _KEY_SIZE else b""


def _make_key() -> bytes:
    """Make the key, unless another process has just done so, and return it."""
    path = find_state_folder() / KEY_FILE
    handle, temp = open_temp_file(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(token_bytes(_KEY_SIZE))
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not _read_key():  # damaged: all that it signed is lost
            path.unlink()
        with suppress(FileExistsError):
            os.link(temp, path)
    finally:
        temp.unlink()
    return _read_key()
