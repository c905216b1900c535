from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.read_file import READ
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.write_file import WRITE
from cub.errors import CubError
from tests.agent.tools.context import call, list_names, make_context


def test_a_new_file_gets_its_folders_and_exactly_the_content(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    output = call(WRITE, context, file_path="a/b/c.txt", content="é\r\nx")
    assert (tmp_path / "a/b/c.txt").read_bytes() == "é\r\nx".encode()
    assert output.text == "Created a/b/c.txt: 5 bytes."
    assert output.changed == (context.root / "a/b/c.txt",)


def test_a_file_that_was_not_read_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(ToolError, match="not read yet"):
        call(WRITE, make_context(tmp_path), file_path="a", content="other")
    assert (tmp_path / "a").read_text() == "mine"


def test_a_file_that_changed_since_it_was_read_stays(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    (tmp_path / "a").write_text("old")
    call(READ, context, file_path="a")
    (tmp_path / "a").write_text("new")
    with pytest.raises(ToolError, match="has changed since"):
        call(WRITE, context, file_path="a", content="other")
    assert (tmp_path / "a").read_text() == "new"


def test_a_file_is_replaced_after_a_read_and_again_after_a_write(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    (tmp_path / "a").write_text("old\n")
    (tmp_path / "a").chmod(0o755)
    call(READ, context, file_path="a")
    output = call(WRITE, context, file_path="a", content="new\n")
    assert output.text == "Replaced a: 4 bytes."
    assert output.preview == "@@ -1 +1 @@\n-old\n+new"
    call(WRITE, context, file_path="a", content="newer\n")
    assert (tmp_path / "a").read_text() == "newer\n"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755
    assert list_names(tmp_path) == ["a"]


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    call(READ, context, file_path="link")
    output = call(WRITE, context, file_path="link", content="new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert output.changed == (context.root / "real",)


@pytest.mark.parametrize("path", [".git/config", "sub/.GIT/hooks/pre-commit", "link/x", ".git"])
def test_git_s_own_files_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "link").symlink_to(".git")
    with pytest.raises(ToolError, match="belongs to git"):
        call(WRITE, make_context(tmp_path), file_path=path, content="x")
    assert list_names(tmp_path / ".git") == []


def test_a_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(CubError, match="a directory"):
        call(WRITE, make_context(tmp_path), file_path="src", content="x")


def test_half_of_a_surrogate_pair_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="not valid Unicode"):
        call(WRITE, make_context(tmp_path), file_path="a", content="\ud83d")
    assert list_names(tmp_path) == []


def test_the_preview_of_a_large_file_is_bounded(tmp_path: Path) -> None:
    output = call(WRITE, make_context(tmp_path), file_path="a", content="line\n" * 100_000)
    assert len(output.preview) < 20_100
    assert output.preview.endswith("is not shown")


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("content", ["neu é\n", "\ufeffneu é\n"])
def test_a_file_keeps_its_encoding_and_its_mark(tmp_path: Path, codec: str, content: str) -> None:
    context = make_context(tmp_path)
    (tmp_path / "a").write_bytes("old\n".encode(codec))
    call(READ, context, file_path="a")
    output = call(WRITE, context, file_path="a", content=content)
    written = "neu é\n".encode(codec)
    assert (tmp_path / "a").read_bytes() == written
    assert output.text == f"Replaced a: {len(written)} bytes."
    assert output.preview == "@@ -1 +1 @@\n-old\n+neu é"


@given(st.text(st.characters(exclude_characters="\r\0", codec="utf-8"), max_size=200))
def test_a_written_text_reads_the_same(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    context = make_context(tmp_path_factory.mktemp("write"))
    call(WRITE, context, file_path="a", content=text)
    lines = call(READ, context, file_path="a").text.split("\n")
    if text:
        shown = "\n".join(line.partition("\t")[2] for line in lines if line[0] != "(")
        assert shown == text.removeprefix("\ufeff").removesuffix("\n")
    else:
        assert lines == ["a is empty."]
