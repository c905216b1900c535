"""Confine this process by Landlock: it and its children can only write below given paths.

Linux allows that where it refuses namespaces, such as in a container. Landlock does not cover
chmod and utime: they still work everywhere. This runs in launcher.py, and imports little.
"""

from __future__ import annotations

import _ctypes
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # system calls, the same on each CPU
_ASK_VERSION = 1
_NO_NEW_PRIVILEGES = 38  # prctl(2)
# Rights of a file: write, truncate. Of a folder: also remove and make what may be in one, and refer
# (rename from one folder to another).
_WRITE, _TRUNCATE, _REFER = 1 << 1, 1 << 14, 1 << 13
_CHANGE = _WRITE | sum(1 << bit for bit in range(4, 13)) | _REFER
_MIN_ABI, _TRUNCATE_ABI = 2, 3  # the first knows no `refer`: git could not rename
_SOCKETS, _SIGNALS = 1, 2  # abstract sockets and signals of processes outside


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - ctypes starts slowly
    _type_ = "i"


class _Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001
    _type_ = "l"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


def call_c(name: str, *words: int | bytes | None, path: str | None = None) -> int:
    """Call a function of the C library that Python lacks; a structure is passed as its bytes.

    Raises OSError, about `path` if there is one.
    """
    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program
    function = _Function(_ctypes.dlsym(library, name))
    result: int = function(*(_Long(one) if isinstance(one, int) else one for one in words))
    if result < 0:
        number = _ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number).lower()}", path)
    return result


def find_landlock_abi() -> int:
    """Return the version of Landlock that this kernel offers; 0 if there is none of use."""
    try:
        version = call_c("syscall", _CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0
    return version if version >= _MIN_ABI else 0


def restrict_process(writable: Iterable[str]) -> None:
    """Forbid this process to write except below these paths; missing ones are skipped.

    Where the kernel can, also forbid signals and abstract sockets to outside. Raises OSError.
    """
    if not (abi := find_landlock_abi()):
        raise OSError(0, "Landlock is missing or too old")
    rights = _CHANGE | (_TRUNCATE if abi >= _TRUNCATE_ABI else 0)
    try:
        rules = _create_ruleset(rights, 0, _SOCKETS | _SIGNALS)
    except OSError:  # no version tells for sure: distributions port single features back
        rules = _create_ruleset(rights)
    for path in writable:
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        allowed = rights if is_folder else rights & (_WRITE | _TRUNCATE)
        rule = allowed.to_bytes(8, sys.byteorder) + file.to_bytes(4, sys.byteorder)
        call_c("syscall", _ADD_RULE, rules, 1, rule, 0)
        os.close(file)
    _apply_ruleset(rules)


def forbid_abstract_sockets() -> None:
    """Forbid abstract sockets of processes outside, if the kernel can: no mount hides them."""
    try:
        rules = _create_ruleset(0, 0, _SOCKETS)
    except OSError:
        return
    _apply_ruleset(rules)


def _create_ruleset(*fields: int) -> int:
    """Create a ruleset by its first fields: rights to files, to the network, and scopes."""
    data = b"".join(field.to_bytes(8, sys.byteorder) for field in fields)
    return call_c("syscall", _CREATE_RULESET, data, len(data), 0)


def _apply_ruleset(rules: int) -> None:
    call_c("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call_c("syscall", _RESTRICT_SELF, rules, 0)
    os.close(rules)
