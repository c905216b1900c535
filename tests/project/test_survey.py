from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files import Planned, WorkTree
from cub.project.survey import distinct, look
from tests.project.memory_tree import MemoryTree

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


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_the_listing_decides_what_is_there_even_where_any_spelling_opens_it(name: str) -> None:
    tree = MemoryTree({name: b"theirs", "packages/api/" + name: b"theirs"}, ignores_case=True)
    assert tree.read("AGENTS.md") == b"theirs"
    for file in look(tree, ["AGENTS.md", "packages/api/AGENTS.md"]).values():
        assert (file.exists, file.misnamed) == (False, name)


def test_a_folder_of_another_spelling_opens_where_case_is_ignored() -> None:
    files = {"Packages/api/AGENTS.md": b"theirs"}
    seen = look(MemoryTree(files, ignores_case=True), ["packages/api/AGENTS.md"])
    assert seen["packages/api/AGENTS.md"].own == b"theirs"
    assert look(MemoryTree(files), ["packages/api/AGENTS.md"])["packages/api/AGENTS.md"].homeless


def test_two_spellings_of_one_file_have_one_identity_where_case_is_ignored() -> None:
    tree = MemoryTree({"api/AGENTS.md": b"theirs"}, ignores_case=True)
    assert len(distinct(look(tree, ["api/AGENTS.md", "API/AGENTS.md"]).values())) == 1


@pytest.mark.parametrize(
    "links", [{"CLAUDE.md": "AGENTS.md"}, {"CLAUDE.md": "docs/x.md", "AGENTS.md": "docs/x.md"}]
)
def test_a_link_in_memory_is_one_file_too(links: dict[str, str]) -> None:
    files = {name: b"theirs" for name in ("AGENTS.md", "docs/x.md") if name not in links}
    seen = look(MemoryTree(files, links), NAMES)
    assert seen["AGENTS.md"].key == seen["CLAUDE.md"].key


@pytest.mark.parametrize("text", [b"AGENTS.md", b"./AGENTS.md\r\n"])
def test_a_flattened_link_is_the_file_that_it_names(text: bytes) -> None:
    seen = look(MemoryTree({"AGENTS.md": b"theirs", "CLAUDE.md": text}), NAMES)
    assert (seen["CLAUDE.md"].real, seen["CLAUDE.md"].own) == ("AGENTS.md", b"theirs")
    assert [file.path for file in distinct(seen.values())] == ["AGENTS.md"]


def test_a_flattened_link_to_nothing_is_that_file_before_it_is_made() -> None:
    seen = look(MemoryTree({"CLAUDE.md": b"AGENTS.md"}), NAMES)
    assert not seen["CLAUDE.md"].exists
    assert seen["CLAUDE.md"].key == seen["AGENTS.md"].key == "AGENTS.md"


def test_the_fault_of_a_file_is_told_once_for_all_its_names() -> None:
    broken = SECTION.replace(b"END", b"AND")
    seen = look(MemoryTree({"AGENTS.md": broken, "CLAUDE.md": b"AGENTS.md"}), NAMES)
    (file,) = distinct(seen.values())
    assert file.error is not None
    assert file.error.where == "AGENTS.md:1"


def test_a_file_where_a_folder_is_needed_is_a_fault_of_the_files_in_it() -> None:
    paths = [".github/copilot-instructions.md", ".cursor/rules/cub.mdc", "packages/api/AGENTS.md"]
    tree = MemoryTree({".github": b"x", ".cursor/rules": b"x", "packages": b"x"})
    seen = look(tree, paths)
    where = [file.error.where if file.error else "" for file in seen.values()]
    assert where == [".github", ".cursor/rules", ""]
    assert seen[paths[2]].homeless


def test_a_folder_that_can_not_be_listed_is_a_fault_of_the_files_in_it() -> None:
    class Guarded(MemoryTree):
        def names(self, folder: str) -> frozenset[str]:
            if folder == ".github":
                raise CubError("cannot be listed: permission denied", where=folder)
            return super().names(folder)

    tree = Guarded({"AGENTS.md": b"theirs", ".github/copilot-instructions.md": b"theirs"})
    seen = look(tree, ["AGENTS.md", ".github/copilot-instructions.md"])
    assert [bool(file.error) for file in seen.values()] == [False, True]


def test_what_an_inlined_text_says_is_not_what_cub_says() -> None:
    body = b"## Cub Integration\n\n- Shared instructions: @AGENTS.md\n\n### Map\n\nSee CLAUDE.md\n"
    data = SECTION.replace(b"\nx\n", b"\n" + body)
    file = look(MemoryTree({"CLAUDE.md": data}), ["CLAUDE.md"])["CLAUDE.md"]
    assert file.section_says("@AGENTS.md")
    assert not file.section_says("CLAUDE.md")
