from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.file_tree import DiskTree, PlannedTree
from cub.project.instruction_files import (
    follow_flattened_link,
    read_instruction_files,
    remove_duplicates,
)
from tests.project.memory_tree import MemoryTree

COPILOT, CURSOR = ".github/copilot-instructions.md", ".cursor/rules/cub.mdc"
KNOWN = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", COPILOT, CURSOR)


def _behind(path: str, **texts: str) -> str:
    """The file behind `path`; keys are names without `.md`."""
    files = {f"{name}.md": text.encode() for name, text in texts.items()}
    return follow_flattened_link(
        path, lambda p: files.get({COPILOT: "copilot.md"}.get(p, p)), KNOWN
    )


@pytest.mark.parametrize("text", ["AGENTS.md", "./AGENTS.md", "AGENTS.md\n", "AGENTS.md\r\n"])
def test_a_file_that_is_nothing_but_a_name_is_a_link(text: str) -> None:
    assert _behind("CLAUDE.md", CLAUDE=text, AGENTS="A.\n") == "AGENTS.md"


def test_a_link_is_read_from_where_it_stands() -> None:
    assert _behind(COPILOT, copilot="../AGENTS.md", AGENTS="A.\n") == "AGENTS.md"
    assert _behind(COPILOT, copilot="AGENTS.md", AGENTS="A.\n") == COPILOT


def test_links_are_followed_to_the_last_one() -> None:
    assert _behind("GEMINI.md", GEMINI="CLAUDE.md", CLAUDE="AGENTS.md", AGENTS="A.\n") == (
        "AGENTS.md"
    )


def test_links_in_a_circle_are_plain_text() -> None:
    texts = {"GEMINI": "CLAUDE.md", "CLAUDE": "AGENTS.md", "AGENTS": "CLAUDE.md"}
    assert {_behind(f"{name}.md", **texts) for name in texts} == {f"{name}.md" for name in texts}
    assert _behind("AGENTS.md", AGENTS="AGENTS.md") == "AGENTS.md"


def test_a_link_to_a_target_that_is_not_there_yet_is_a_link() -> None:
    assert _behind("CLAUDE.md", CLAUDE="AGENTS.md") == "AGENTS.md"


def test_agents_md_leads_only_to_what_is_there() -> None:
    assert _behind("AGENTS.md", AGENTS="CLAUDE.md") == "AGENTS.md"
    assert _behind("AGENTS.md", AGENTS="CLAUDE.md", CLAUDE="C.\n") == "CLAUDE.md"


def test_a_nested_instruction_file_counts_only_where_there_is_one() -> None:
    files = {"api/CLAUDE.md": b"AGENTS.md", "api/AGENTS.md": b"A.\n", "web/CLAUDE.md": b"AGENTS.md"}
    assert follow_flattened_link("api/CLAUDE.md", files.get, KNOWN) == "api/AGENTS.md"
    assert follow_flattened_link("web/CLAUDE.md", files.get, KNOWN) == "web/CLAUDE.md"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Read AGENTS.md",
        "@AGENTS.md",
        "AGENTS.md\nCLAUDE.md",
        "AGENTS.md\n\nMore.",
        "/AGENTS.md",
        "../AGENTS.md",
        "docs/rules.md",
        "agents.md",
        CURSOR,
        "A" * 300,
        "\0AGENTS.md",
    ],
)
def test_anything_else_is_a_text_of_the_users(text: str) -> None:
    assert _behind("CLAUDE.md", CLAUDE=text, AGENTS="A.\n") == "CLAUDE.md"


@pytest.mark.parametrize("text", ["a\0b/AGENTS.md", "a\tb/AGENTS.md", "a\u2028b/AGENTS.md"])
def test_what_no_target_is_called_is_never_looked_for(text: str) -> None:
    files = {"CLAUDE.md": text.encode(), text: b"A.\n"}
    assert follow_flattened_link("CLAUDE.md", files.get, KNOWN) == "CLAUDE.md"


NAMES = ["AGENTS.md", "CLAUDE.md"]
SECTION = b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nx\n\n<!-- END CUB MANAGED SECTION -->\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_file_is_seen_with_its_section_and_the_user_s_own_bytes(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"\xef\xbb\xbf\n# Theirs\n\n" + SECTION + b"\nMore.\n")
    file = read_instruction_files(DiskTree(root), ["AGENTS.md"])["AGENTS.md"]
    assert file.exists
    assert file.section is not None
    assert file.section.version == 1
    assert file.user_bytes == b"# Theirs\n\n\nMore."


def test_no_file_is_no_error(root: Path) -> None:
    seen = read_instruction_files(DiskTree(root), ["AGENTS.md", "no/such/AGENTS.md"])
    assert [(f.exists, f.error, f.lacks_folder) for f in seen.values()] == [
        (False, None, False),
        (False, None, True),
    ]


def test_a_fault_is_a_value_and_the_other_files_are_seen(root: Path) -> None:
    (root / "AGENTS.md").mkdir()
    (root / "CLAUDE.md").write_bytes(SECTION.replace(b"END", b"AND"))
    (root / "ok").mkdir()
    (root / "ok" / "AGENTS.md").write_bytes(SECTION)
    seen = read_instruction_files(DiskTree(root), ["AGENTS.md", "CLAUDE.md", "ok/AGENTS.md"])
    where = [file.error.where if file.error else None for file in seen.values()]
    assert where == ["AGENTS.md", "CLAUDE.md:1", None]


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_a_name_in_another_case_is_another_file(root: Path, name: str) -> None:
    (root / name).write_bytes(b"theirs")
    file = read_instruction_files(DiskTree(root), ["AGENTS.md"])["AGENTS.md"]
    assert (file.exists, file.case_variant) == (False, name)


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
    seen = read_instruction_files(DiskTree(root), names)
    one, other = seen.values()
    assert one.identity is not None
    assert one.identity == other.identity
    assert [file.path for file in remove_duplicates(seen.values())] == ["AGENTS.md"]


def test_what_is_planned_counts_as_there(root: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"old")
    seen = read_instruction_files(
        PlannedTree(DiskTree(root), {"AGENTS.md": b"new", "CLAUDE.md": SECTION}), NAMES
    )
    assert seen["AGENTS.md"].user_bytes == b"new"
    assert seen["CLAUDE.md"].section is not None


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_the_listing_decides_what_is_there_even_where_any_spelling_opens_it(name: str) -> None:
    tree = MemoryTree({name: b"theirs", "packages/api/" + name: b"theirs"}, ignores_case=True)
    assert tree.read("AGENTS.md") == b"theirs"
    for file in read_instruction_files(tree, ["AGENTS.md", "packages/api/AGENTS.md"]).values():
        assert (file.exists, file.case_variant) == (False, name)


def test_a_folder_of_another_spelling_opens_where_case_is_ignored() -> None:
    files = {"Packages/api/AGENTS.md": b"theirs"}
    seen = read_instruction_files(MemoryTree(files, ignores_case=True), ["packages/api/AGENTS.md"])
    assert seen["packages/api/AGENTS.md"].user_bytes == b"theirs"
    assert read_instruction_files(MemoryTree(files), ["packages/api/AGENTS.md"])[
        "packages/api/AGENTS.md"
    ].lacks_folder


def test_two_spellings_of_one_file_have_one_identity_where_case_is_ignored() -> None:
    tree = MemoryTree({"api/AGENTS.md": b"theirs"}, ignores_case=True)
    assert (
        len(
            remove_duplicates(
                read_instruction_files(tree, ["api/AGENTS.md", "API/AGENTS.md"]).values()
            )
        )
        == 1
    )


@pytest.mark.parametrize(
    "links", [{"CLAUDE.md": "AGENTS.md"}, {"CLAUDE.md": "docs/x.md", "AGENTS.md": "docs/x.md"}]
)
def test_a_link_in_memory_is_one_file_too(links: dict[str, str]) -> None:
    files = {name: b"theirs" for name in ("AGENTS.md", "docs/x.md") if name not in links}
    seen = read_instruction_files(MemoryTree(files, links), NAMES)
    assert seen["AGENTS.md"].identity_key == seen["CLAUDE.md"].identity_key


@pytest.mark.parametrize("text", [b"AGENTS.md", b"./AGENTS.md\r\n"])
def test_a_flattened_link_is_the_file_that_it_names(text: bytes) -> None:
    seen = read_instruction_files(MemoryTree({"AGENTS.md": b"theirs", "CLAUDE.md": text}), NAMES)
    assert (seen["CLAUDE.md"].real_path, seen["CLAUDE.md"].user_bytes) == ("AGENTS.md", b"theirs")
    assert [file.path for file in remove_duplicates(seen.values())] == ["AGENTS.md"]


def test_a_flattened_link_to_nothing_is_that_file_before_it_is_made() -> None:
    seen = read_instruction_files(MemoryTree({"CLAUDE.md": b"AGENTS.md"}), NAMES)
    assert not seen["CLAUDE.md"].exists
    assert seen["CLAUDE.md"].identity_key == seen["AGENTS.md"].identity_key == "AGENTS.md"


def test_the_fault_of_a_file_is_told_once_for_all_its_names() -> None:
    broken = SECTION.replace(b"END", b"AND")
    seen = read_instruction_files(
        MemoryTree({"AGENTS.md": broken, "CLAUDE.md": b"AGENTS.md"}), NAMES
    )
    (file,) = remove_duplicates(seen.values())
    assert file.error is not None
    assert file.error.where == "AGENTS.md:1"


def test_a_file_where_a_folder_is_needed_is_a_fault_of_the_files_in_it() -> None:
    paths = [".github/copilot-instructions.md", ".cursor/rules/cub.mdc", "packages/api/AGENTS.md"]
    tree = MemoryTree({".github": b"x", ".cursor/rules": b"x", "packages": b"x"})
    seen = read_instruction_files(tree, paths)
    where = [file.error.where if file.error else "" for file in seen.values()]
    assert where == [".github", ".cursor/rules", ""]
    assert seen[paths[2]].lacks_folder


def test_a_folder_that_can_not_be_listed_is_a_fault_of_the_files_in_it() -> None:
    class Guarded(MemoryTree):
        def list_names(self, folder: str) -> frozenset[str]:
            if folder == ".github":
                raise CubError("cannot be listed: permission denied", where=folder)
            return super().list_names(folder)

    tree = Guarded({"AGENTS.md": b"theirs", ".github/copilot-instructions.md": b"theirs"})
    seen = read_instruction_files(tree, ["AGENTS.md", ".github/copilot-instructions.md"])
    assert [bool(file.error) for file in seen.values()] == [False, True]


def test_what_an_inlined_text_says_is_not_what_cub_says() -> None:
    body = b"## Cub Integration\n\n- Shared instructions: @AGENTS.md\n\n### Map\n\nSee CLAUDE.md\n"
    data = SECTION.replace(b"\nx\n", b"\n" + body)
    file = read_instruction_files(MemoryTree({"CLAUDE.md": data}), ["CLAUDE.md"])["CLAUDE.md"]
    assert file.section_mentions("@AGENTS.md")
    assert not file.section_mentions("CLAUDE.md")
