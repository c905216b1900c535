from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Cub, git


def roots(folder: Path) -> list[str]:
    """The folders below `folder` that cub has made a project of."""
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob(".cub"))


@pytest.mark.parametrize("start", [".", "src", "src/deep/er"])
def test_the_top_of_the_work_tree_is_the_project(project: Path, cub: Cub, start: str) -> None:
    (project / "src/deep/er").mkdir(parents=True)
    assert cub("init", cwd=project / start).code == 0
    assert roots(project) == ["."]
    assert cub("update", "--check", cwd=project / start).code == 0


def test_without_git_the_folder_is_the_project(tmp_path: Path, cub: Cub) -> None:
    folder = tmp_path / "plain"
    (folder / "src").mkdir(parents=True)
    done = cub("init", cwd=folder)
    assert done.code == 0
    assert '\n  git init -q && git add AGENTS.md CLAUDE.md .cub && git commit -m "Add' in done.err
    assert roots(tmp_path) == ["plain"]
    # From now on the sub-folders belong to it.
    assert cub("update", "--check", cwd=folder / "src").code == 0
    assert cub("remove", cwd=folder / "src").code == 0


def test_without_a_git_command_everything_works_that_can(
    project: Path, home: Path, cub: Cub
) -> None:
    (project / "src").mkdir()
    for command in ("init", "update", "status", "remove"):
        done = cub(command, cwd=project / "src", PATH=str(home))
        said = done.err.replace("files for tasks and git.", "")
        assert (done.code, "git" in said) == (0, command == "init")
    assert roots(project) == ["."]


def test_an_unborn_branch_is_no_obstacle(project: Path, cub: Cub) -> None:
    git(project, "checkout", "-q", "--orphan", "nothing-yet")
    assert cub("init").code == 0
    listed = git(project, "ls-files", "-co", "--exclude-standard").split()
    assert "AGENTS.md" in listed
    assert ".cub/state.json" not in listed


@pytest.mark.parametrize("kind", ["worktree", "submodule"])
def test_a_git_file_marks_a_top_too(project: Path, tmp_path: Path, cub: Cub, kind: str) -> None:
    (project / "a").write_bytes(b"a")
    git(project, "add", "a")
    git(project, "commit", "-qm", "a")
    if kind == "worktree":
        git(project, "worktree", "add", "-q", str(tmp_path / "other"))
    else:
        (tmp_path / "outer").mkdir()
        git(tmp_path / "outer", "init", "-q")
        allowed = ("-c", "protocol.file.allow=always")
        git(tmp_path / "outer", *allowed, "submodule", "--quiet", "add", str(project), "other")
        (tmp_path / "other").symlink_to(tmp_path / "outer" / "other")
    (tmp_path / "other" / "src").mkdir()
    assert cub("init", cwd=tmp_path / "other" / "src").code == 0
    assert roots((tmp_path / "other").resolve()) == ["."]
    assert roots(project) == []


def test_the_home_folder_is_no_project_of_what_is_below_it(home: Path, cub: Cub) -> None:
    git(home, "init", "-q")
    (home / "work" / "src").mkdir(parents=True)
    assert cub("init", cwd=home / "work").code == 0
    assert roots(home) == ["work"]
    assert cub("init", cwd=home / "work" / "src").code == 0
    assert roots(home) == ["work"]


def test_a_dot_cub_in_the_home_folder_is_no_project_of_what_is_below_it(
    home: Path, cub: Cub
) -> None:
    (home / ".cub").mkdir()
    (home / "work").mkdir()
    assert cub("init", cwd=home / "work").code == 0
    assert roots(home) == [".", "work"]
    assert list((home / ".cub").iterdir()) == []


def test_a_top_that_ignores_the_folder_is_not_its_project(project: Path, cub: Cub) -> None:
    (project / ".gitignore").write_text("scratch/\n")
    (project / "scratch" / "try").mkdir(parents=True)
    assert cub("init", cwd=project / "scratch" / "try").code == 0
    assert roots(project) == ["scratch/try"]


def test_the_nearest_dot_cub_wins(project: Path, cub: Cub) -> None:
    inner = project / "packages" / "api"
    (inner / "src").mkdir(parents=True)
    (inner / ".cub").mkdir()
    assert cub("init", cwd=inner / "src").code == 0
    assert roots(project) == ["packages/api"]
    assert cub("init", cwd=project).code == 0
    assert roots(project) == [".", "packages/api"]


def test_a_dot_cub_above_the_top_does_not_count(tmp_path: Path, project: Path, cub: Cub) -> None:
    (tmp_path / ".cub").mkdir()
    assert cub("init", cwd=project).code == 0
    assert list((tmp_path / ".cub").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_to_the_project_is_the_project(project: Path, tmp_path: Path, cub: Cub) -> None:
    (project / "src").mkdir()
    (tmp_path / "link").symlink_to(project / "src")
    assert cub("init", cwd=tmp_path / "link", PWD=str(tmp_path / "link")).code == 0
    assert roots(project) == ["."]


def test_git_s_own_variables_do_not_mislead(project: Path, tmp_path: Path, cub: Cub) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (project / "src").mkdir()
    env = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}
    assert cub("init", cwd=project / "src", **env).code == 0
    assert roots(tmp_path) == ["project"]


@pytest.mark.parametrize("command", ["init", "update", "status", "diff", "repair"])
def test_a_bare_repository_gets_no_files(tmp_path: Path, cub: Cub, command: str) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    before = sorted(path.name for path in bare.iterdir())
    result = cub(command, cwd=bare)
    assert (result.code, result.out) == (1, "")
    assert "this is a bare repository" in result.err
    assert sorted(path.name for path in bare.iterdir()) == before
