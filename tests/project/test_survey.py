from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.files import Planned, WorkTree
from cub.project.survey import distinct, look

NAMES = ["AGENTS.md", "CLAUDE.md"]
SECTION = b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nx\n\n<!-- END CUB MANAGED SECTION -->\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_file_is_seen_with_its_section_and_the_user_s_own_bytes(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"\xef\xbb\xbf\n# Theirs\n\n" + SECTION + b"\nMore.\n")
    file = look(WorkTree(root), ["AGENTS.md"])["AGENTS.md"]
    assert file.exists
    assert file.section is not None
    assert file.section.version == 1
    assert file.own == b"# Theirs\n\n\nMore."


def test_no_file_is_no_error(root: Path) -> None:
    seen = look(WorkTree(root), ["AGENTS.md", "no/such/AGENTS.md"])
    assert [(f.exists, f.error, f.homeless) for f in seen.values()] == [
        (False, None, False),
        (False, None, True),
    ]


def test_a_fault_is_a_value_and_the_other_files_are_seen(root: Path) -> None:
    (root / "AGENTS.md").mkdir()
    (root / "CLAUDE.md").write_bytes(SECTION.replace(b"END", b"AND"))
    (root / "ok").mkdir()
    (root / "ok" / "AGENTS.md").write_bytes(SECTION)
    seen = look(WorkTree(root), ["AGENTS.md", "CLAUDE.md", "ok/AGENTS.md"])
    where = [file.error.where if file.error else None for file in seen.values()]
    assert where == ["AGENTS.md", "CLAUDE.md:1", None]


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_a_name_in_another_case_is_another_file(root: Path, name: str) -> None:
    (root / name).write_bytes(b"theirs")
    file = look(WorkTree(root), ["AGENTS.md"])["AGENTS.md"]
    assert (file.exists, file.misnamed) == (False, name)


@posix
@pytest.mark.parametrize("kind", ["symlink", "the other way", "hard link", "linked folder"])
def test_two_names_of_one_file_have_one_identity(root: Path, kind: str) -> None:
    (root / "AGENTS.md").write_bytes(b"theirs")
    names = ["AGENTS.md", "CLAUDE.md"]
    if kind == "symlink":
        (root / "CLAUDE.md").symlink_to("AGENTS.md")
    elif kind == "the other way":
        (root / "AGENTS.md").rename(root / "CLAUDE.md")
        (root / "AGENTS.md").symlink_to("CLAUDE.md")
    elif kind == "hard link":
        os.link(root / "AGENTS.md", root / "CLAUDE.md")
    else:
        (root / "alias").symlink_to(".")
        names = ["AGENTS.md", "alias/AGENTS.md"]
    seen = look(WorkTree(root), names)
    one, other = seen.values()
    assert one.identity is not None
    assert one.identity == other.identity
    assert [file.path for file in distinct(seen.values())] == ["AGENTS.md"]


def test_what_is_planned_counts_as_there(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"old")
    seen = look(Planned(WorkTree(root), {"AGENTS.md": b"new", "CLAUDE.md": SECTION}), NAMES)
    assert seen["AGENTS.md"].own == b"new"
    assert seen["CLAUDE.md"].section is not None
