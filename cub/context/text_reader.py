"""Read texts for a context: from the project, from folders above it, and from the home folder.

A repository's files lead nowhere else: a link or an import may stay in the project, or lead to
Markdown in the folders where the user keeps instructions, as other files there hold passwords.
Nothing but a regular file of a bounded size is read.
"""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cub.agent_profiles.agent_profile import RuleScope
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.read_files import list_names, make_os_error, open_regular_file
from cub.git.worktree import find_common_dir
from cub.project.rule_locations import RULE_SUFFIXES, TASK_FOLDER, list_rule_locations

MAX_TEXT_BYTES = 1_000_000
FileIdentity = tuple[int, int]


class OutsideProjectError(CubError):
    """Report a link or an import of the project's that leads to a file elsewhere."""


class TextFile(NamedTuple):
    """Hold a file's bytes, and what all of its names share: device and inode."""

    data: bytes
    identity: FileIdentity
    real: str
    owner: int = 0


class DecodedText(NamedTuple):
    """Hold a text, and what is wrong with its encoding; "" if nothing is."""

    text: str
    problem: str = ""


_WIDE_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_WIDE_MARKS = tuple(mark for mark, _ in _WIDE_ENCODINGS)


def decode_text(data: bytes) -> DecodedText:
    """Return bytes as text without a byte order mark, and without zero bytes.

    Bytes that are not UTF-8 become U+FFFD.
    """
    for mark, encoding in _WIDE_ENCODINGS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace").replace("\0", "")
            return DecodedText(text, f"this text is {encoding}, not UTF-8")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\0" in text:
        problem = "this text has zero bytes, as binary data has; they are left out"
        return DecodedText(text.replace("\0", ""), problem)
    is_wrong = "\ufffd" in text and "\ufffd".encode() not in data
    problem = "this text is not UTF-8; wrong bytes become U+FFFD" if is_wrong else ""
    return DecodedText(text, problem)


class TextReader:
    """Read texts around `start`, a folder in the project at `root`; `home` may be None.

    All three are absolute and without links. `warnings` are about files that were left out.
    """

    def __init__(self, start: Path, root: Path, home: Path | None) -> None:
        self.start, self.root, self.home = start, root, home
        self.warnings: list[PlanWarning] = []

    @property
    def project_folders(self) -> list[Path]:
        """Return the folders of the project from the start up to its root."""
        folders = (self.start, *self.start.parents)
        return [folder for folder in folders if folder.is_relative_to(self.root)]

    @cached_property
    def folders_above(self) -> list[Path]:
        """Return the folders above the project, the nearest first.

        A worktree inside another checkout of its repository starts above that checkout.
        """
        folders = list(self.root.parents)
        if (self.root / ".git").is_file():
            own = find_common_dir(self.root)
            checkouts = [folder for folder in folders if os.path.lexists(folder / ".git")]
            same = [folder for folder in checkouts if own and find_common_dir(folder) == own]
            folders = folders[folders.index(same[-1]) + 1 :] if same else folders
        return folders

    def _is_users_markdown(self, real: Path) -> bool:
        """Return whether a file is Markdown where the user keeps instructions for all projects.

        Of folders with other things in them, as ~/.claude, only the files right in them count. A
        folder or a file there may be a link to where the user keeps it.
        """
        if not self.home or not (real.suffix in RULE_SUFFIXES or real.is_dir()):
            return False
        folders, flat = self._users_folders
        is_right_in = real.parent in flat
        return is_right_in or any(map(real.is_relative_to, folders)) or real in self._users_links

    @cached_property
    def _users_folders(self) -> tuple[set[Path], set[Path]]:
        """Return the user's folders of instructions, and those of which only the files count."""
        if not self.home:
            return set(), set()
        rows = list_rule_locations("user")
        paths = (*(row.path for row in rows if row.is_folder), TASK_FOLDER)
        folders = {self.home / path for path in paths}
        flat = {(self.home / row.path).parent for row in rows if not row.is_folder}
        return folders | set(map(_resolve, folders)), flat | set(map(_resolve, flat))

    @cached_property
    def _users_links(self) -> set[Path]:
        """Return the files and folders that links in the user's folders lead to."""
        folders, flat = self._users_folders
        names = [Path(folder, name) for folder in flat for name in list_names(folder)]
        inner = [
            path
            for folder in folders
            if folder.is_dir() and os.access(folder, os.R_OK)
            for path in self._walk(folder, None, set(), False)
        ]
        markdown = [path for path in (*names, *inner) if path.suffix in RULE_SUFFIXES]
        return {_resolve(path) for path in markdown if path.is_symlink()}

    def describe(self, path: Path) -> str:
        """Return a path as messages show it: from the start, or from the home folder with `~`."""
        text = os.fspath(path)
        if (inside := _cut_folder(text, self.start)) is not None:
            return inside
        at_home = _cut_folder(text, self.home) if self.home else None
        if at_home is not None and _cut_folder(text, self.root) is None:
            return f"~/{at_home}"
        return os.path.relpath(path, self.start).replace(os.sep, "/")

    def warn(self, error: CubError, consequence: str) -> None:
        """Note that a file is not read as it should be, and what follows."""
        message = f"{error.message}; {consequence}"
        self.warnings.append(PlanWarning(message, error.where, hint=error.hint))

    def get_base(self, scope: RuleScope, folder: Path) -> Path | None:
        """Return the folder that files of `folder` may not lead out of; None for the user's own."""
        if scope == "user":
            return None
        return self.root if scope == "project" else folder

    def read(self, path: Path, base: Path | None) -> TextFile | None:
        """Return a file; None if there is none.

        Raises CubError for one that is not below `base` in the end, for anything but a regular
        file, and for more than `MAX_TEXT_BYTES`.
        """
        try:
            real = os.path.realpath(path, strict=True)
            self._require_allowed(real, base, path)
            handle = open_regular_file(os.fsencode(real))
        except (FileNotFoundError, NotADirectoryError):
            if path.is_symlink():
                raise CubError("this link leads to nothing", where=self.describe(path)) from None
            return None
        except OSError as error:
            if error.errno == errno.EINVAL:
                message = "this is not a regular file"
                raise CubError(message, where=self.describe(path)) from error
            raise make_os_error(error, self.describe(path), "cannot be read") from error
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            data = file.read(min(status.st_size, MAX_TEXT_BYTES) + 1)
        if len(data) > MAX_TEXT_BYTES:
            size = f"{max(status.st_size, len(data)):,} bytes"
            message = f"this file has {size}, and a context takes at most {MAX_TEXT_BYTES:,}"
            raise CubError(message, where=self.describe(path))
        return TextFile(data, (status.st_dev, status.st_ino), real, status.st_uid)

    def read_document(self, path: Path, base: Path | None) -> TextFile | None:
        """Return a file of text, in UTF-8; None if there is none.

        Notes another encoding. Raises CubError as `read` does, and for zero bytes.
        """
        file = self.read(path, base)
        if file is None:
            return None
        if b"\0" in file.data and not file.data.startswith(_WIDE_MARKS):
            message = "this file has zero bytes, as binary data has"
            raise CubError(message, where=self.describe(path))
        text, problem = decode_text(file.data)
        if not problem:
            return file
        hint = "save it as UTF-8: agents can't read it"
        self.warnings.append(PlanWarning(problem, self.describe(path), hint=hint))
        return file._replace(data=text.encode("utf-8", "replace"))

    def warn_of_owner(self, path: Path, owner: int) -> None:
        """Note that a file above the project is another user's: not root's, the caller's, or that
        of the project's owner.
        """
        if hasattr(os, "getuid") and owner not in {0, os.getuid(), self.root.stat().st_uid}:
            message = f"this file above the project belongs to another user (UID {owner})"
            hint = "check its text: its owner can instruct your agents"
            self.warnings.append(PlanWarning(message, self.describe(path), hint=hint))

    def list_markdown(
        self, folder: Path, base: Path | None, *, is_flat: bool = False
    ) -> list[Path]:
        """Return the Markdown files in a folder and below, in the order of their names.

        A folder with several names is listed under one of them. Folders that lead out of `base` are
        left out with a warning. Raises CubError for one that can't be listed.
        """
        if not folder.is_dir():
            if folder.is_symlink() and not folder.exists():
                error = CubError("this link leads to nothing", where=self.describe(folder))
                self.warn(error, "it is left out")
            return []
        return sorted(self._walk(folder, base, set(), is_flat), key=Path.as_posix)

    def _walk(
        self, folder: Path, base: Path | None, listed: set[str], is_flat: bool
    ) -> Iterator[Path]:
        real = os.path.realpath(folder)
        if real in listed:  # links among folders make endless paths
            return
        listed.add(real)
        try:
            self._require_allowed(real, base, folder)
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OutsideProjectError as error:
            self.warn(error, "it is left out")
            return
        except OSError as error:
            raise make_os_error(error, self.describe(folder), "cannot be listed") from error
        for entry in found:
            if entry.name.startswith("."):
                continue
            is_link = entry.is_symlink()  # which may lead to itself
            if Path(entry).is_dir() if is_link else entry.is_dir():
                if not is_flat:
                    yield from self._walk(folder / entry.name, base, listed, is_flat)
            elif entry.name.endswith(RULE_SUFFIXES):
                yield folder / entry.name

    def _require_allowed(self, real: str, base: Path | None, path: Path) -> None:
        """Raise CubError if a file leads out of `base`, or into git's folder."""
        if base is None:
            return
        inside = _cut_folder(real, base)
        if inside is not None and ".git" not in inside.split("/"):
            return
        if self._is_users_markdown(Path(real)):
            return
        raise OutsideProjectError(
            "this leads out of the project",
            where=self.describe(path),
            hint="a context takes files of the project, and Markdown from your own rules",
            details=[f"it leads to {Path(real).as_posix()}"],
        )


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _cut_folder(path: str, folder: Path) -> str | None:
    """Return a path as it is below a folder; None if it is not below it. Faster than pathlib."""
    text, start = path.replace(os.sep, "/"), folder.as_posix().rstrip("/")
    if text == start:
        return ""
    return text[len(start) + 1 :] if text.startswith(f"{start}/") else None
