"""Where tasks are, and what becomes of them when cub comes, is updated, and goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.cli.tasks import add, put
from tests.conftest import Cub, git, tree


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder without git, and without cub."""
    folder = tmp_path / "bare" / "bakery"
    folder.mkdir(parents=True)
    return folder.resolve()


def stores(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in (TASKS_FILE, LEDGER_FILE)}


@pytest.fixture
def worked(cub: Cub, project: Path) -> Iterator[dict[str, bytes]]:
    """Both stores of a project without anything else of cub's; they are the same in the end."""
    cub("task", "claim", add(cub))
    before = stores(project)
    yield before
    assert stores(project) == before


def test_tasks_need_no_git(cub: Cub, bare: Path) -> None:
    done = cub("-q", "task", "add", "Bake", cwd=bare)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("bakery-")
    (bare / "deep").mkdir()
    assert "Bake" in cub("task", "list", cwd=bare / "deep" / "..").out
    assert "Bake" in cub("-C", str(bare / "deep"), "task", "list").out
    assert cub("doctor", "--select", "D6", cwd=bare / "deep").code == 0


@pytest.mark.usefixtures("worked")
def test_tasks_come_before_init_and_stay_at_each_step(cub: Cub, project: Path) -> None:
    rows = {line.split()[0]: line for line in cub("status").out.splitlines()}
    assert "current" in rows[".cub/.gitignore"]
    assert "current" in rows[".cub/.gitattributes"]
    done = cub("init")
    assert done.code == 0
    assert not any(name in done.out for name in ("tasks.jsonl", ".git"))
    assert (cub("init").out, cub("update", "--check").code) == ("", 0)
    assert cub("task", "list").code == cub("doctor", "--select", "D6").code == 0
    assert cub("remove").code == 0
    left = {
        name
        for name in tree(project)
        if name not in (".cub/constitution.md", TASKS_FILE, LEDGER_FILE)
    }
    assert left == set()
    assert "Bake" in cub("task", "list").out


@pytest.mark.usefixtures("worked")
def test_git_is_told_to_merge_tasks_and_to_leave_out_what_is_local(cub: Cub, project: Path) -> None:
    attributes = git(project, "check-attr", "merge", TASKS_FILE, LEDGER_FILE)
    assert attributes == f"{TASKS_FILE}: merge: union\n{LEDGER_FILE}: merge: union\n"
    git(project, "add", ".")
    assert set(git(project, "diff", "--cached", "--name-only").split()) == {
        TASKS_FILE, LEDGER_FILE, ".cub/.gitignore", ".cub/.gitattributes",
    }  # fmt: skip
    assert cub("task", "list").code == 0


@pytest.mark.usefixtures("worked")
def test_a_ledger_can_be_kept_local(cub: Cub, project: Path) -> None:
    assert cub("init").code == 0
    (project / ".cub" / "config.yaml").write_text("ledger: {commit: false}\n")
    assert cub("update", "--check").code == 1
    assert cub("update").out.startswith("update  .cub/.gitignore ")
    lines = (project / ".cub" / ".gitignore").read_text().splitlines()
    assert lines[-2:] == ["/ledger.jsonl", "/ledger-archive.jsonl"]
    assert git(project, "check-ignore", LEDGER_FILE, ".cub/ledger-archive.jsonl").count("\n") == 2
    assert cub("update", "--check").code == 0
    (project / ".cub" / "config.yaml").write_text("ledger: {commit: true}\n")
    assert cub("update").code == 0
    assert "/ledger.jsonl" not in (project / ".cub" / ".gitignore").read_text().splitlines()


def test_a_local_ledger_is_so_from_the_first_task_on(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("ledger: {commit: false}\n")
    add(cub)
    assert "/ledger.jsonl" in (project / ".cub" / ".gitignore").read_text().splitlines()


def work_tree(project: Path, path: str) -> Path:
    git(project, "worktree", "add", "-q", path, "-b", path.rpartition("/")[2])
    return (project / path).resolve()


@pytest.fixture
def committed(cub: Cub, project: Path) -> str:
    """A task that is committed."""
    key = add(cub)
    git(project, "add", ".")
    git(project, "commit", "-qm", "Plan")
    return key


def test_a_work_tree_of_a_person_s_has_tasks_of_its_own(
    cub: Cub, project: Path, committed: str
) -> None:
    beside = work_tree(project, "../beside")
    assert cub("task", "claim", committed, cwd=beside).code == 0
    assert "open" in cub("task", "list").out
    assert (beside / LEDGER_FILE).exists()
    assert not (project / LEDGER_FILE).exists()


def test_a_variable_says_where_the_stores_are(cub: Cub, project: Path, bare: Path) -> None:
    put(bare, {"id": "b-1", "title": "Bake"})
    before = tree(project)
    assert cub("task", "claim", "b-1", CUB_ROOT=str(bare)).code == 0
    assert "in_progress" in cub("task", "list", CUB_ROOT=str(bare)).out
    assert tree(project) == before
    assert (bare / LEDGER_FILE).exists()
    done = cub("task", "list", CUB_ROOT=str(bare / "nowhere"))
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("CUB_ROOT is not a directory\nhint: unset CUB_ROOT\n")


def test_branches_that_git_merges_lose_nothing(cub: Cub, project: Path, committed: str) -> None:
    for branch, option in (("one", "--priority=0"), ("two", "--label=hot")):
        git(project, "checkout", "-q", "-b", branch, "main")
        assert cub("task", "edit", committed, option).code == 0
        add(cub, branch)
        git(project, "commit", "-qam", branch)
    git(project, "merge", "-q", "one", "-m", "Merge")
    done = cub("doctor", "--select", "D6")
    assert (done.code, f"D602 .cub/tasks.jsonl: {committed} has several" in done.out) == (0, True)
    fixed = cub("doctor", "--select", "D6", "--fix")
    assert (fixed.code, fixed.out, fixed.err) == (0, "", "No problems found.\n")
    shown = cub("task", "show", committed).out
    assert "P0" in shown
    assert "hot" in shown
    assert cub("task", "list").out.count("\n") == 4
