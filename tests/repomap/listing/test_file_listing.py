"""Which files the map may speak of: those that git tracks, or that nothing ignores.

Patterns from anywhere: those that git reads count, and the others do no harm.
"""

from __future__ import annotations

import os
import socket
import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.listing.file_listing import (
    compile_ignore_patterns,
    is_valid_ignore_pattern,
    list_files,
)
from tests.conftest import git
from tests.examples import few_examples
from tests.written_files import write_files


def write(root: Path, paths: Iterable[str]) -> None:
    write_files(root, dict.fromkeys(paths, "x\n"))


def test_tracked_files_are_listed_and_no_others(project: Path) -> None:
    write(project, ["b.py", "a/c.py", "new.py"])
    git(project, "add", "b.py", "a/c.py")
    assert list_files(project).paths == ("a/c.py", "b.py")


def test_before_the_first_add_all_files_count_that_are_not_ignored(project: Path) -> None:
    write(project, ["b.py", "built/x.py"])
    (project / ".gitignore").write_text("built/\n")
    assert list_files(project).paths == (".gitignore", "b.py")


def test_a_part_of_a_repository_has_paths_of_its_own(project: Path) -> None:
    write(project, ["b.py", "a/c.py"])
    git(project, "add", ".")
    assert list_files(project / "a").paths == ("c.py",)


def test_outside_git_nested_ignore_files_count(tmp_path: Path) -> None:
    write(tmp_path, ["a.log", "keep/a.log", "keep/b.py", "x/y.tmp", "x/z.py", "node_modules/m.js"])
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "keep/.gitignore").write_text("!a.log\n")
    (tmp_path / "x/.gitignore").write_text("/y.tmp\n")
    found = [path for path in list_files(tmp_path).paths if not path.endswith(".gitignore")]
    assert found == ["keep/a.log", "keep/b.py", "x/z.py"]


def test_cubs_own_files_and_instructions_are_left_out(tmp_path: Path) -> None:
    own = [".cub/tasks.jsonl", "AGENTS.md", "pkg/CLAUDE.md", ".claude/settings.json", "a/.cub/x.md"]
    write(tmp_path, [*own, "agents.py"])
    assert list_files(tmp_path).paths == ("agents.py",)


def test_what_is_excluded_or_about_to_go_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, ["a.py", "b.py", "big/c.py", "big/d.py"])
    found = list_files(tmp_path, exclude=["big/", "!big/d.py"], deleted_paths=["b.py"])
    assert found.paths == ("a.py", "big/d.py")


def test_links_and_whatever_is_no_file_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, ["a.py", "folder/b.py"])
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "linked").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        server.bind("socket.py")
    found = list_files(tmp_path)
    assert found.paths == ("a.py", "folder/b.py")
    assert [note.path for note in found.omissions] == ["pipe.py", "socket.py"]


def test_a_fifo_called_gitignore_does_not_stop_anything(tmp_path: Path) -> None:
    write(tmp_path, ["a.py"])
    os.mkfifo(tmp_path / ".gitignore")
    assert list_files(tmp_path).paths == ("a.py",)


def test_a_submodule_is_a_note(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, ["x.py"])
    git(other, "add", ".")
    git(other, "commit", "-qm", "x")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "s")
    found = list_files(project)
    assert found.paths == (".gitmodules",)
    assert [note.path for note in found.omissions] == ["s"]


def test_files_that_a_sparse_checkout_lacks_are_a_note(project: Path) -> None:
    write(project, ["a/x.py", "b/y.py"])
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    git(project, "sparse-checkout", "set", "a")
    found = list_files(project)
    assert found.paths == ("a/x.py",)
    assert "not in this checkout: 1" in found.omissions[0].message


def test_where_git_refuses_the_folders_are_walked_and_it_is_told(project: Path) -> None:
    write(project, ["a.py", "b.log", ".gitignore"])
    (project / ".gitignore").write_text("*.log\n")
    (project / ".git" / "config").write_text("[core\n")
    found = list_files(project)
    assert found.paths == (".gitignore", "a.py")
    assert "git can't list" in found.omissions[0].message


def test_an_unmerged_file_is_listed_once(project: Path) -> None:
    write(project, ["a.py"])
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    git(project, "checkout", "-qb", "other")
    (project / "a.py").write_text("theirs\n")
    git(project, "commit", "-qam", "x")
    git(project, "checkout", "-q", "-")
    (project / "a.py").write_text("ours\n")
    git(project, "commit", "-qam", "x")
    with pytest.raises(Exception, match="merge"):
        git(project, "merge", "-q", "other")
    assert len(git(project, "ls-files", "--unmerged").splitlines()) == 3
    assert list_files(project).paths == ("a.py",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_a_note(tmp_path: Path) -> None:
    write(tmp_path, ["a.py", "shut/b.py"])
    (tmp_path / "shut").chmod(0)
    found = list_files(tmp_path)
    (tmp_path / "shut").chmod(0o700)
    assert found.paths == ("a.py",)
    assert found.omissions[0].path == "shut/"


def test_any_name_is_listed_as_it_is(project: Path) -> None:
    names = ["new\nline.py", "ta\tb.py", 'quo"te.py', "# head.py", "ünï.py"]
    write(project, names)
    git(project, "add", ".")
    assert list_files(project).paths == tuple(sorted(names))


BAD = ["!", "\\", "a\\", "[z-a]"]


@pytest.mark.parametrize("line", BAD)
def test_these_are_no_patterns(line: str) -> None:
    assert not is_valid_ignore_pattern(line)


@pytest.mark.parametrize(
    "line", ["a", "/a/", "*.py", "**/a", "!a", "", "# a", "[", "[a-z]", "[[:alpha:]]", "a b", "ü"]
)
def test_these_can_be_read(line: str) -> None:
    assert is_valid_ignore_pattern(line)


@pytest.mark.parametrize("line", BAD)
def test_one_that_is_none_costs_itself_alone(tmp_path: Path, line: str) -> None:
    for name in ("a.log", "b.py", "c.tmp"):
        (tmp_path / name).touch()
    text = f"*.log\n{line}\n*.tmp\n"
    for data in (text.encode(), text.replace("\n", "\r\n").encode(), text.encode() + b"\xff\n"):
        (tmp_path / ".gitignore").write_bytes(data)
        assert list_files(tmp_path).paths == (".gitignore", "b.py")


def test_lines_end_where_git_ends_them(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_bytes("a\x0cb\nc\u2028a\nb".encode())
    assert list_files(tmp_path).paths == (".gitignore", "a", "c")


def test_patterns_of_a_project_count_in_the_listing_of_a_folder(tmp_path: Path) -> None:
    write(tmp_path, ["src/gen/a", "src/b", "src/c"])
    found = list_files(tmp_path / "src", ["/src/gen", "/b"], ["src/c"], parent_path="src/")
    assert found.paths == ("b",)


@few_examples
@given(st.lists(st.text(alphabet="ab/*!?[]^-\\:. #\x00\xff", max_size=12)))
def test_no_line_ends_a_command_or_warns(lines: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_ignore_patterns(lines).match_file("a/b")
