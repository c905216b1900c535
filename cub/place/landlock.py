"""Confine this process by Landlock: it and its children can only write below given paths.

Linux allows that where it refuses namespaces, such as in a container. Landlock does not cover
chmod and utime: they still work everywhere. This runs in launcher.py, and imports little.
"""

from __future__ import annotations

import ctypes
import os
import stat

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
_FILES_SIZE = 8  # bytes of a ruleset's first field: all that older kernels know
_MIN_ABI, _TRUNCATE_ABI = 2, 3  # the first knows no `refer`: git could not rename
_SOCKETS, _SIGNALS = 1, 2  # abstract sockets and signals of processes outside


class CLibrary:
    """Call functions of the C library that Python lacks; an OSError says why one failed."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *words: object) -> int:
        """Call a function by its name. Raises OSError."""
        result = int(getattr(self._library, name)(*words))
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number).lower()}")
        return result

    def syscall(self, number: int, *words: object) -> int:
        """Make a system call. Raises OSError."""
        return self.call("syscall", ctypes.c_long(number), *words)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def find_landlock_abi(library: CLibrary) -> int:
    """Return the version of Landlock that this kernel offers; 0 if there is none of use."""
    try:
        version = library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    except OSError:
        return 0
    return version if version >= _MIN_ABI else 0


def restrict_process(library: CLibrary, writable: Iterable[str]) -> None:
    """Forbid this process to write except below these paths; missing ones are skipped.

    Where the kernel can, also forbid signals and abstract sockets to outside. Raises OSError.
    """
    if not (abi := find_landlock_abi(library)):
        raise OSError(0, "Landlock is missing or too old")
    rights = _CHANGE | (_TRUNCATE if abi >= _TRUNCATE_ABI else 0)
    try:
        rules = _create_ruleset(library, _Ruleset(rights, 0, _SOCKETS | _SIGNALS))
    except OSError:  # no version tells for sure: distributions port single features back
        rules = _create_ruleset(library, _Ruleset(rights), _FILES_SIZE)
    for path in writable:
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        rule = _PathRule(rights if is_folder else rights & (_WRITE | _TRUNCATE), file)
        library.syscall(_ADD_RULE, rules, 1, ctypes.byref(rule), 0)
        os.close(file)
    _apply_ruleset(library, rules)


def forbid_abstract_sockets(library: CLibrary) -> None:
    """Forbid abstract sockets of processes outside, if the kernel can: no mount hides them."""
    try:
        rules = _create_ruleset(library, _Ruleset(0, 0, _SOCKETS))
    except OSError:
        return
    _apply_ruleset(library, rules)


def _create_ruleset(
    library: CLibrary, attributes: _Ruleset, size: int = ctypes.sizeof(_Ruleset)
) -> int:
    words = ctypes.byref(attributes), ctypes.c_size_t(size), 0
    return library.syscall(_CREATE_RULESET, *words)


def _apply_ruleset(library: CLibrary, rules: int) -> None:
    library.call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    library.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)
