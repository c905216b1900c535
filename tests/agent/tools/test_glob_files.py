from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GREP
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from tests.agent.tools.context import call, make_context


@pytest.fixture
def project(tmp_path: Path) -> ToolContext:
    for age, name in enumerate(["a.py", "b.ts", "sub/c.py", "sub/deep/d.py", ".hidden/e.py"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(0, 10**18 - age * 10**9))
    return make_context(tmp_path)


def glob(context: ToolContext, pattern: str, **values: str) -> list[str]:
    return call(GLOB, context, pattern=pattern, **values).text.split("\n")


def test_the_newest_file_is_first(project: ToolContext) -> None:
    assert glob(project, "./**/*.py") == ["a.py", "sub/c.py", "sub/deep/d.py", ".hidden/e.py"]
    os.utime(project.root / "sub/c.py")
    assert glob(project, "**/*.py")[0] == "sub/c.py"


def test_a_pattern_is_relative_to_the_path(project: ToolContext) -> None:
    assert glob(project, "*.py", path="sub") == ["sub/c.py"]
    sub = make_context(project.root, project.root / "sub")
    assert glob(sub, "**/*.py") == ["c.py", "deep/d.py"]
    assert glob(sub, "*.ts", path="..") == [f"{project.root.as_posix()}/b.ts"]


def test_a_pattern_may_begin_with_the_folder(project: ToolContext) -> None:
    root = project.root.as_posix()
    assert glob(project, f"{root}/sub/*.py") == ["sub/c.py"]
    assert glob(project, f"{root}/sub/*.py", path="sub") == ["sub/c.py"]
    with pytest.raises(ToolError, match="relative"):
        glob(project, f"{root}/../*.py")
    with pytest.raises(ToolError, match="relative"):
        glob(project, f"{root}x/*.py")


def test_a_slash_at_the_end_finds_folders(project: ToolContext) -> None:
    assert glob(project, "*/") == [".hidden/", "sub/"]
    assert glob(project, "**/d*/") == ["sub/deep/"]
    assert glob(project, "*/", path="sub") == ["sub/deep/"]
    assert glob(project, "none/") == ["No file matches."]


@pytest.mark.parametrize("name", [b"a\nb", b"caf\xe9", b'"q"\t\\', b"~"])
def test_any_name_leads_read_to_its_file(tmp_path: Path, name: bytes) -> None:
    context = make_context(tmp_path)
    try:
        Path(os.fsdecode(os.fsencode(context.root) + b"/" + name)).write_text("needle")
    except OSError:
        pytest.skip("this file system takes other names only")
    (found,) = glob(context, "*")
    assert found == call(GREP, context, pattern="needle").text
    assert call(READ, context, file_path=found).text == "1\tneedle"
    call(EDIT, context, file_path=found, old_string="needle", new_string="thread")
    assert call(READ, context, file_path=found).text == "1\tthread"


def test_nothing_is_said(project: ToolContext) -> None:
    assert glob(project, "*.go") == ["No file matches."]


@pytest.mark.parametrize(
    ("pattern", "path", "message"),
    [
        ("/etc/*", ".", "relative"),
        ("../*", ".", "relative"),
        ("~/*", ".", "relative"),
        ("*", "a.py", "not a directory"),
        ("*", "none", "does not exist"),
        ("{a,b}" * 12, ".", "alternatives"),
    ],
)
def test_what_leads_nowhere_is_an_error(
    project: ToolContext, pattern: str, path: str, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        glob(project, pattern, path=path)


def test_git_decides_what_is_ignored(project: ToolContext) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    (project.root / ".gitignore").write_text("*.py\n")
    subprocess.run(["git", "add", "-f", "sub/c.py"], cwd=project.root, check=True)
    assert sorted(glob(project, "**")) == [".gitignore", "b.ts", "sub/c.py"]
    (project.root / "sub/c.py").unlink()
    assert sorted(glob(project, "**")) == [".gitignore", "b.ts"]
    with pytest.raises(ToolError, match="belongs to git"):
        glob(project, "*", path=".git")


def test_an_ignored_folder_is_listed_if_it_is_named(project: ToolContext) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    (project.root / ".gitignore").write_text("sub/\n")
    assert glob(project, "**/c.py") == ["No file matches."]
    assert glob(project, "**/*.py", path="sub") == ["sub/c.py", "sub/deep/d.py"]


def test_two_hundred_files_are_listed_at_most(project: ToolContext) -> None:
    for number in range(205):
        (project.root / f"{number}.txt").touch()
    lines = glob(project, "*.txt")
    assert len(lines) == 201
    assert lines[-1] == "… 5 more files: use a narrower pattern or path"


def test_a_requested_stop_ends_a_walk(project: ToolContext) -> None:
    project.stop.is_requested = True
    try:
        with pytest.raises(ToolError, match="stopped"):
            glob(project, "*")
    finally:
        project.stop.is_requested = False
