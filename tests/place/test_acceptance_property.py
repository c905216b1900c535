"""Whatever the person does while an attempt runs: all of it is there afterwards, byte for byte."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from cub.place.acceptance import BranchTip, accept_commit, bring_objects, keep_commit
from cub.place.checkout import find_checkout
from tests.conftest import git
from tests.examples import limit_examples
from tests.git.checkouts import save
from tests.place.acceptances import REF, everything
from tests.place.random_edits import acts, do, edits, trees

Index = dict[str, str]


def read_index(top: Path) -> Index:
    rows = git(top, "ls-files", "-s", "-z").split("\0")[:-1]
    return {path: facts for facts, _, path in (row.partition("\t") for row in rows)}


def files(state: dict[str, object]) -> dict[str, object]:
    return {p: told for p, told in state.items() if told != "folder" and p[0] != "/"}


def survives(before: dict[str, object], after: dict[str, object], *, base: dict[str, object],
             goal: dict[str, object]) -> list[str]:  # fmt: skip
    """Return what is neither as the person left it, nor clean and brought to the goal."""
    return [
        path
        for path in {*before, *after, *base, *goal}
        if after.get(path) != before.get(path)
        and (before.get(path), after.get(path)) != (base.get(path), goal.get(path))
    ]


@limit_examples(60)
@given(trees, st.lists(edits, min_size=1, max_size=6), acts)
@example([("write", "d/a", b"1\n")], [("write", "d/a", b"2\n")], [("link", "d", b"")])
@example([("write", "d/a", b"1\n")], [("write", "d", b"2\n")], [("write", "d/i.log", b"")])
@example([("write", ".gitignore", b"*.log\n")], [("write", "i.log", b"1\n")],
         [("write", "i.log", b"2\n")])  # fmt: skip
@example([("write", "d", b"")], [("write", "d/a", b"")],
         [("write", "d/a", b"1\n"), ("git", "add", "-A")])  # fmt: skip
@example([("write", "d/a", b"")], [("write", "d", b"")],
         [("write", "d/a", b"1\n"), ("git", "add", "-A")])  # fmt: skip
@example([], [("write", "d", b"")], [("write", "d/a", b""), ("git", "add", "-A")])
@example([], [("write", "d/a", b"")],
         [("write", "d", b""), ("git", "add", "-A"), ("delete", "d", b"")])  # fmt: skip
def test_what_the_person_did_meanwhile_is_kept(
    committed: list[tuple[str, str, bytes]],
    worked: list[tuple[str, str, bytes]],
    did: list[tuple[str, ...] | tuple[str, str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top, work = Path(folder).resolve() / "top", Path(folder).resolve() / "work"
        top.mkdir()
        git(top, "init", "-q", "-b", "main")
        for edit in committed:
            do(top, edit)
        git(top, "add", "-A", "-f")
        target = BranchTip("refs/heads/main", save(top))
        base, base_index = files(everything(top)), read_index(top)
        shutil.copytree(top, work, symlinks=True)
        for edit in worked:
            do(work, edit)
        git(work, "add", "-A", "-f")
        commit = save(work, "attempt")
        goal, goal_index = files(everything(work)), read_index(work)
        for act in did:
            do(top, act)
        before, index = everything(top), read_index(top)
        checkout = find_checkout(top)
        bring_objects(checkout, work / ".git" / "objects", commit, target.base)
        keep_commit(checkout, REF, commit)
        result = accept_commit(checkout, target, commit, REF)
        after = everything(top)
        if result.state != "merged":
            assert git(top, "rev-parse", REF).strip() == commit
            assert after == before
        else:
            assert git(top, "rev-parse", "main").strip() == commit
            assert not survives(files(before), files(after), base=base, goal=goal)
            left = survives(dict(index), dict(read_index(top)), base=dict(base_index),
                            goal=dict(goal_index))  # fmt: skip
            assert not left
