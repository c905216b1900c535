"""A patch on what HEAD has: the bytes that files would have, and nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CombinedError, CubError
from cub.git.patched_files import PatchedFile, read_patched_files
from tests.conftest import git
from tests.git.checkouts import lines, save, state
from tests.written_files import write_files

FILE, PROGRAM, LINK = 0o100644, 0o100755, 0o120000


@pytest.fixture
def top(project: Path) -> Path:
    """A repository with files of many kinds, one of which has other line endings on disk."""
    git(project, "config", "user.name", "t")
    git(project, "config", "user.email", "t@t")
    write_files(project, {".gitattributes": "*.crlf text eol=crlf\n", "a": "1\n2\n", "gone": "x\n"})
    write_files(project, {"b.crlf": "1\n2\n", "run": "x\n", "data": b"\0\xff" * 9, "ä b": "1\n"})
    (project / "link").symlink_to("a")
    save(project)
    git(project, "checkout-index", "-f", "b.crlf")
    return project


def patch_of(top: Path) -> bytes:
    """What was changed, as a patch; the files are as before then."""
    git(top, "add", "-A")
    words = ("diff", "--cached", "--binary", "--full-index", "--no-renames", "HEAD")
    patch = git(top, *words).encode()
    git(top, "reset", "-q", "--hard")
    return patch


def test_every_kind_of_change_is_read(top: Path) -> None:
    write_files(top, {"a": "1\n3\n", "b.crlf": "1\r\n3\r\n", "data": b"\1\xfe" * 8})
    write_files(top, {"ä b": "", "n/e": "", "new.crlf": "1\r\n", "run": "y\n"})
    (top / "run").chmod(0o755)
    (top / "gone").unlink()
    (top / "link").unlink()
    patch, before = patch_of(top), (state(top), lines(top))
    objects = git(top, "count-objects", "-v")
    assert sorted(read_patched_files(top, patch)) == [
        PatchedFile("a", FILE, FILE, b"1\n2\n", b"1\n3\n"),
        PatchedFile("b.crlf", FILE, FILE, b"1\r\n2\r\n", b"1\r\n3\r\n"),
        PatchedFile("data", FILE, FILE, b"\0\xff" * 9, b"\1\xfe" * 8),
        PatchedFile("gone", FILE, 0, b"x\n", None),
        PatchedFile("link", LINK, 0, b"a", None),
        PatchedFile("n/e", 0, FILE, None, b""),
        PatchedFile("new.crlf", 0, FILE, None, b"1\r\n"),
        PatchedFile("run", FILE, PROGRAM, b"x\n", b"y\n"),
        PatchedFile("ä b", FILE, FILE, b"1\n", b""),
    ]
    assert (state(top), lines(top)) == before
    assert git(top, "count-objects", "-v") == objects


def test_settings_of_a_person_change_no_byte(top: Path) -> None:
    write_files(top, {"a": "1  \n3\n"})
    patch = patch_of(top)
    git(top, "config", "apply.whitespace", "fix")
    git(top, "config", "apply.ignoreWhitespace", "change")
    assert read_patched_files(top, patch)[0].after == b"1  \n3\n"
    write_files(top, {"a": "1\n 2\n"})
    save(top)
    with pytest.raises(CubError):
        read_patched_files(top, patch)


def test_all_files_that_do_not_fit_are_named(top: Path) -> None:
    write_files(top, {"a": "1\n3\n", "data": "x", "gone": "y\n", "new": "1\n", "run": "z\n"})
    patch = patch_of(top)
    write_files(top, {"a": "0\n9\n", "new": "2\n", "gone": "q\n"})
    save(top)
    with pytest.raises(CombinedError) as refused:
        read_patched_files(top, patch, hint="merge it")
    assert {(one.where, one.hint) for one in refused.value.errors} == {
        ("a:1", "merge it"), ("gone:1", "merge it"), ("new", "merge it"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "patch", [b"", b"no patch\n", b"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-1\n+2\n"]
)
def test_what_is_no_patch_of_this_repository_is_refused(top: Path, patch: bytes) -> None:
    with pytest.raises(CubError, match=r"git apply failed|does not fit"):
        read_patched_files(top, patch)


def test_without_a_commit_there_are_only_new_files(project: Path) -> None:
    write_files(project, {"a": "1\n"})
    git(project, "add", "-A")
    patch = git(project, "diff", "--cached", "--binary", "--full-index").encode()
    assert read_patched_files(project, patch) == [PatchedFile("a", 0, FILE, None, b"1\n")]
