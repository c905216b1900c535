from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.git.refs import restore_snapshot_refs
from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import Snapshot
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from tests.conftest import git
from tests.git.checkouts import checkout, copy_repository, save, state, write


@pytest.fixture(scope="module")
def template(furnished_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With branches, tags, notes, and two entries on the stash."""
    project = copy_repository(furnished_repository, tmp_path_factory.mktemp("refs"))
    git(project, "checkout", "-q", "dirty.txt")
    git(project, "tag", "light")
    git(project, "tag", "-a", "-m", "x", "heavy")
    git(project, "notes", "add", "-m", "noted")
    git(project, "branch", "side")
    for name in ("one", "two"):
        write(project, {"a.txt": name})
        git(project, "stash", "push", "-qm", name)
    return project


@pytest.fixture
def top(tmp_path: Path, template: Path) -> Path:
    return copy_repository(template, tmp_path)


def _refs(top: Path) -> list[str]:
    return [line for line in git(top, "for-each-ref").splitlines() if "refs/worktree" not in line]


def _stash(top: Path) -> list[str]:
    return git(top, "stash", "list", "--format=%H %gs").splitlines()


def _look(top: Path) -> tuple[Worktree, Snapshot]:
    ours = checkout(top)
    before = take_snapshot(ours)
    return ours, Snapshot.from_json(json.loads(json.dumps(before.to_json())))


def test_where_nothing_was_changed_nothing_is_told(top: Path) -> None:
    ours, before = _look(top)
    assert restore_snapshot_refs(ours, before) == []


@pytest.mark.parametrize(
    "words",
    [
        ["tag", "-d", "light", "heavy"],
        ["branch", "-qD", "side"],
        ["update-ref", "-d", "refs/notes/commits"],
        ["stash", "drop", "-q"],
        ["stash", "drop", "-q", "stash@{1}"],
        ["stash", "clear"],
        ["update-ref", "-d", "refs/stash"],
        ["pack-refs", "--all"],
    ],
    ids=" ".join,
)
def test_what_was_deleted_is_back(top: Path, words: list[str]) -> None:
    ours, before = _look(top)
    refs, stash = _refs(top), _stash(top)
    git(top, *words)
    said = restore_snapshot_refs(ours, before)
    assert (_refs(top), _stash(top)) == (refs, stash)
    assert bool(said) is (words[0] != "pack-refs")
    assert restore_snapshot_refs(ours, before) == []
    assert git(top, "stash", "show", "-p", "stash@{1}").count("+one") == 1


def test_what_the_attempt_put_on_the_stash_stays_on_top(top: Path) -> None:
    ours, before = _look(top)
    stash = _stash(top)
    git(top, "stash", "pop", "-q")
    git(top, "stash", "push", "-qm", "theirs")
    (said, left) = restore_snapshot_refs(ours, before)
    assert "took an entry off the stash" in said
    assert "left an entry on the stash" in left
    assert _stash(top)[1:] == stash
    assert _stash(top)[0].endswith("theirs")
    git(top, "stash", "drop", "-q")
    assert _stash(top) == stash


def test_a_branch_in_the_way_of_another_keeps_only_that_from_being_back(top: Path) -> None:
    ours, before = _look(top)
    git(top, "branch", "-qD", "side")
    git(top, "tag", "-d", "light")
    git(top, "branch", "side/way")
    said = "\n".join(restore_snapshot_refs(ours, before))
    assert "refs/tags/light" in said
    assert "the attempt moved refs/heads/side: what it was is kept as refs/cub/kept/" in said
    assert "refs/tags/light" in git(top, "for-each-ref")


def test_branches_that_went_on_are_nobodys_business(top: Path) -> None:
    ours, before = _look(top)
    git(top, "switch", "-q", "side")
    save(top)
    git(top, "switch", "-q", "main")
    git(top, "branch", "new")
    assert restore_snapshot_refs(ours, before) == []


@pytest.mark.parametrize("name", ["heads/side", "tags/heavy", "notes/commits"])
def test_what_a_ref_was_moved_away_from_is_kept(top: Path, name: str) -> None:
    ours, before = _look(top)
    old = git(top, "rev-parse", f"refs/{name}").strip()
    other = git(top, "commit-tree", "-m", "other", "HEAD^{tree}").strip()
    git(top, "update-ref", f"refs/{name}", other)
    (said,) = restore_snapshot_refs(ours, before)
    assert f"moved refs/{name}" in said
    assert git(top, "rev-parse", f"refs/cub/kept/{old[:12]}").strip() == old
    assert git(top, "rev-parse", f"refs/{name}").strip() == other


def test_replaced_objects_deceive_nobody(top: Path) -> None:
    ours, before = _look(top)
    files = state(top)
    tree = git(top, "rev-parse", "HEAD^{tree}").strip()
    blob = git(top, "rev-parse", "HEAD:a.txt").strip()
    write(top, {"a.txt": "evil"})
    git(top, "replace", blob, git(top, "hash-object", "-w", "a.txt").strip())
    git(top, "replace", tree, git(top, "commit-tree", "-m", "x", tree).strip(), "-f")
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert state(top) == files
    (said,) = restore_snapshot_refs(ours, before)
    assert "the attempt replaced git objects, which is undone" in said
    assert git(top, "replace", "--list") == ""
    assert git(top, "show", "HEAD:a.txt") == "one\ntwo\n"


def test_a_replacement_of_the_persons_stays(top: Path) -> None:
    blob = git(top, "rev-parse", "HEAD:a.txt").strip()
    git(top, "replace", blob, git(top, "rev-parse", "HEAD:sub/b.txt").strip())
    ours, before = _look(top)
    git(top, "replace", "-d", blob)
    restore_snapshot_refs(ours, before)
    assert git(top, "replace", "--list").strip() == blob
