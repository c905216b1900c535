"""Mount what a command sees, in the mount namespace of this process, which the launcher made.

This imports little: it runs in launcher.py.
"""

from __future__ import annotations

import os
import stat
import sys

from cub.place.landlock import call_c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

Mount = tuple[str, str, str]


_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # system calls, the same on each CPU
_CLONE_TREE = 0x1 | 0x80000 | 0x8000  # OPEN_TREE_CLONE, close on exec, with the mounts below
_HERE, _EMPTY_PATH, _RECURSIVE, _FROM_FILE = -100, 0x1000, 0x8000, 0x4
_READ_ONLY, _NO_DEVICES = 0x1, 0x4
_PRIVATE = 0x4000 | 0x40000
_NO_SUID_DEV, _NO_SUID_EXEC, _NO_SUID_DEV_EXEC = 0x6, 0xA, 0xE
# Root outside may write these without any capability, and change the host by that.
_ROOT_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "driver", "scsi")
_ROOT_DEVICES = (
    *("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"),
    *("fuse", "kvm", "kfd", "dri"),
)
CACHES = (".cache", ".vite")  # what tools write into a folder of dependencies


def list_devices(is_root: bool) -> list[str]:
    """Return the devices that a command may write to; no disk is among those of root."""
    names = os.listdir("/dev")
    if is_root:
        names = [n for n in names if n in _ROOT_DEVICES or n.startswith("nvidia")]
    return [f"/dev/{name}" for name in names if name != "shm"]


def list_proc_covers() -> list[str]:
    """Return what is read-only of a new /proc for root."""
    return [path for name in _ROOT_PROC if os.path.exists(path := f"/proc/{name}")]


def build_view(mounts: Sequence[Mount], is_root: bool) -> None:
    """Make all of the host read-only, and mount these, in their order. Raises OSError.

    Each is (action, source, target): `tmpfs` (its source is a mode), `read`, `write` or `layer`.
    All sources are opened first: a mount may cover them.
    """
    call_c("mount", b"none", b"/", None, _PRIVATE, None)
    sources = [None if action == "tmpfs" else _Tree(source) for action, source, _ in mounts]
    lower = [
        os.open(source, os.O_PATH) if action == "layer" else -1 for action, source, _ in mounts
    ]
    devices = [(_Tree(name), name) for name in (list_devices(is_root) if is_root else ())]
    _set_attributes(_HERE, b"/", _READ_ONLY)
    if devices:
        _cover_devices(devices)
    _mount_terminals()
    _mount(b"proc", "/proc", _NO_SUID_DEV_EXEC)
    for path in list_proc_covers() if is_root else ():
        _mount_read_only(_Tree(path), path)
    for (action, mode, target), tree, file in zip(mounts, sources, lower, strict=True):
        if tree is None:
            _make_target(target, is_folder=True)
            _mount(b"tmpfs", target, _NO_SUID_DEV, f"mode={mode}")
        elif action == "write":
            tree.mount(target)
        elif action == "read" or not _mount_layer(file, target):
            _mount_read_only(tree, target)
            if action == "layer":
                _mount_caches(target)


def _cover_devices(devices: Sequence[tuple[_Tree, str]]) -> None:
    """Leave only these devices usable: without that, root outside may write to disks."""
    tree = _Tree("/dev")
    tree.set_attributes(_READ_ONLY | _NO_DEVICES)
    tree.mount("/dev")
    for device, name in devices:
        device.mount(name)


def _mount_terminals() -> None:
    """Give pseudo-terminals of its own: those of the host can be written to."""
    if os.path.isdir("/dev/pts"):
        _mount(b"devpts", "/dev/pts", _NO_SUID_EXEC, "ptmxmode=0666,mode=620")
        if os.path.exists("/dev/ptmx") and not os.path.islink("/dev/ptmx"):
            _Tree("/dev/pts/ptmx").mount("/dev/ptmx")


def _mount_read_only(tree: _Tree, target: str) -> None:
    tree.set_attributes(_READ_ONLY)
    tree.mount(target)


def _mount_layer(lower: int, target: str) -> bool:
    """Mount a folder so that what is written goes to memory; False if the kernel refuses it."""
    _make_target(target, is_folder=True)
    _mount(b"tmpfs", target, _NO_SUID_DEV)
    files = [lower]
    for name in ("upper", "work"):
        os.mkdir(f"{target}/{name}")
        files.append(os.open(f"{target}/{name}", os.O_PATH))
    options = "lowerdir={},upperdir={},workdir={},userxattr"
    try:
        _mount(
            b"overlay",
            target,
            _NO_SUID_DEV,
            options.format(*(f"/proc/self/fd/{file}" for file in files)),
        )
    except OSError:
        call_c("umount", os.fsencode(target))
        return False
    finally:
        for file in files:
            os.close(file)
    return True


def _mount_caches(folder: str) -> None:
    """Let tools write their caches into a folder of dependencies that is read-only."""
    for name in CACHES:
        if os.path.isdir(f"{folder}/{name}") and not os.path.islink(f"{folder}/{name}"):
            _mount(b"tmpfs", f"{folder}/{name}", _NO_SUID_DEV)


def _mount(kind: bytes, target: str, flags: int, options: str = "") -> None:
    path, data = os.fsencode(target), options.encode() or None
    call_c("mount", kind, path, kind, flags, data, path=target)


def _set_attributes(folder: int, path: bytes, attributes: int) -> None:
    """Set attributes of a mount and of all mounts in it."""
    flags = _RECURSIVE | (0 if path else _EMPTY_PATH)
    words = attributes.to_bytes(8, sys.byteorder) + bytes(24)  # set, clear, propagation, namespace
    call_c("syscall", _MOUNT_SETATTR, folder, path, flags, words, len(words))


class _Tree:
    """Hold a copy of a folder with all mounts in it, or of a file, that is to be mounted."""

    def __init__(self, source: str) -> None:
        words = (_OPEN_TREE, _HERE, os.fsencode(source), _CLONE_TREE)
        self.file = call_c("syscall", *words, path=source)
        self.is_folder = stat.S_ISDIR(os.fstat(self.file).st_mode)

    def set_attributes(self, attributes: int) -> None:
        """Make it read-only, or without devices, with the mounts in it."""
        _set_attributes(self.file, b"", attributes)

    def mount(self, target: str) -> None:
        """Mount it at `target`, which is made if it is missing."""
        _make_target(target, self.is_folder)
        words = (_MOVE_MOUNT, self.file, b"", _HERE, os.fsencode(target), _FROM_FILE)
        call_c("syscall", *words, path=target)
        os.close(self.file)


def _make_target(target: str, is_folder: bool) -> None:
    """Make a file or folder to mount on, if it is missing. No symbolic link may lead there."""
    if os.path.realpath(target) != target:
        raise OSError(0, "a symbolic link leads elsewhere", target)
    if os.path.lexists(target):
        return
    os.makedirs(target if is_folder else os.path.dirname(target), exist_ok=True)
    if not is_folder:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o666))
