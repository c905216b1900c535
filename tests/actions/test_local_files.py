"""Files that a project keeps out of git: what makes that so, and what is told where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.config_set import describe_config_next_step, plan_config_set
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import carry_out, init, update, write
from tests.conftest import git

IGNORE, CONFIG = ".cub/.gitignore", ".cub/config.yaml"
FILES = {
    "map.commit": (".cub/map.md",),
    "ledger.commit": (".cub/ledger.jsonl", ".cub/ledger-archive.jsonl"),
    "tasks.commit": (".cub/tasks.jsonl", ".cub/tasks.jsonl.rejected"),
}


def setting(root: Path, key: str, words: str) -> Plan:
    return carry_out(root, lambda project: plan_config_set(project, key, words))


def ignored(root: Path) -> set[str]:
    lines = (root / IGNORE).read_text().splitlines()
    return {f".cub{line}" for line in lines if not line.startswith("#")}


@pytest.fixture
def bakery(project: Path) -> Path:
    """A project with cub in it, and its files in git's index."""
    write(project, "bread.py", "def dozens() -> int:\n    return 12\n")
    git(project, "add", "-A")
    init(project)
    for path in (path for paths in FILES.values() for path in paths):
        if not (project / path).exists():
            write(project, path, "")
    git(project, "add", "-A")
    return project


@pytest.mark.parametrize("key", FILES)
def test_to_set_it_ignores_the_files_and_says_which_git_still_tracks(
    bakery: Path, key: str
) -> None:
    plan = setting(bakery, key, "false")
    assert [edit.path for edit in plan.edits] == [CONFIG, IGNORE]
    assert ignored(bakery) >= set(FILES[key])
    told = {(one.path, one.message, one.hint) for one in plan.warnings}
    assert told == {
        (
            path,
            f"git tracks this file, so `{key}: false` does not keep it out of commits yet",
            f"run `git rm --cached {path}`, then commit",
        )
        for path in FILES[key]
    }
    for path in FILES[key]:
        git(bakery, "rm", "-q", "--cached", path)
    assert not git(bakery, "ls-files", "--others", "--exclude-standard", *FILES[key])
    back = setting(bakery, key, "true")
    assert not ignored(bakery) & set(FILES[key])
    assert not back.warnings


@pytest.mark.parametrize("key", FILES)
def test_an_update_after_a_change_by_hand_does_the_same(bakery: Path, key: str) -> None:
    section, _, name = key.partition(".")
    write(bakery, CONFIG, f"{section}: {{{name}: false}}\n")
    assert {one.path for one in update(bakery).warnings} == set(FILES[key])
    assert ignored(bakery) >= set(FILES[key])
    assert {one.path for one in init(bakery).warnings} == set(FILES[key])
    git(bakery, "rm", "-q", "--cached", *FILES[key])
    assert not update(bakery).warnings


def test_a_gitignore_of_ones_own_stays_and_the_lines_it_lacks_are_told(bakery: Path) -> None:
    git(bakery, "rm", "-q", "--cached", *FILES["tasks.commit"])
    write(bakery, IGNORE, "/state.json\n")
    plan = setting(bakery, "tasks.commit", "false")
    assert [edit.path for edit in plan.edits] == [CONFIG]
    (warning,) = plan.warnings
    assert (warning.path, warning.hint) == (
        IGNORE,
        "add /tasks.jsonl and /tasks.jsonl.rejected to it",
    )
    (warning,) = setting(bakery, "tasks.commit", "true").warnings
    assert warning.hint == "remove /tasks.jsonl and /tasks.jsonl.rejected from it"


def test_tasks_alone_need_no_init(project: Path) -> None:
    from cub.actions.tasks.stores import install_git_files
    from cub.files.lock import lock_project

    (project / ".cub").mkdir()
    with lock_project(project) as held:
        install_git_files(held)
    setting(project, "ledger.commit", "false")
    assert ignored(project) >= set(FILES["ledger.commit"])


def test_without_git_nothing_is_asked_of_it(tmp_path: Path) -> None:
    write(tmp_path, ".cub/tasks.jsonl", "")
    plan = setting(tmp_path, "tasks.commit", "false")
    assert ([edit.path for edit in plan.edits], plan.warnings) == ([CONFIG], ())


@pytest.mark.parametrize(
    ("key", "words", "step"),
    [
        ("targets", "[CLAUDE.md]", "Run `cub init` to apply it."),
        ("inline", "[map]", "Run `cub init` to apply it."),
        ("map.tokens", "3000", "Run `cub update` to regenerate the map."),
        ("map.exclude", "[vendor]", "Run `cub update` to regenerate the map."),
        ("map.tokens", "0", "Run `cub update` to delete the map."),
        ("run.checks", "[make test]", "Run `cub trust`: `cub run` refuses to start until you do."),
        (
            "harnesses.mine.argv",
            "[sh]",
            "Run `cub trust`: `cub run` refuses to start until you do.",
        ),
        (
            "profiles.ci.run.wrap",
            "[nice]",
            "Run `cub trust`: `cub run` refuses to start until you do.",
        ),
        ("run.max_attempts", "5", ""),
        ("placement", "top", ""),
    ],
)
def test_what_else_is_to_be_done_is_told(tmp_path: Path, key: str, words: str, step: str) -> None:
    plan = plan_config_set(Project.load(tmp_path), key, words)
    assert describe_config_next_step(plan, key) == step
