"""Whatever a small model of an agent does to whatever tree, all of it is undone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cub.git.commit import commit_paths
from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import list_changes
from cub.git.take_snapshot import take_snapshot
from cub.processes.command import TimeLimits
from tests.conftest import git
from tests.examples import limit_examples
from tests.git.checkouts import checkout, lines, person, save, state

PATHS = ("a", "b", "d", "d/a", "d/e", "d/e/a", "n\n", ":x", "i.log", "d/i.log", ".gitignore")
DATA = (b"", b"1\n", b"2\n", b"1\n2\n", b"\r\n", b"\0\xff", b"*.log\n", b"a\n")

kinds = st.sampled_from(["write", "write", "write", "link", "program", "delete"])
edits = st.tuples(kinds, st.sampled_from(PATHS), st.sampled_from(DATA))
words = st.sampled_from(
    [
        ("git", "add", "-A"),
        ("git", "add", "-u"),
        ("git", "commit", "-q", "--allow-empty", "-m", "x"),
        ("git", "commit", "-q", "--allow-empty", "-a", "-m", "x"),
        ("git", "checkout", "-q", "-B", "agent"),
        ("git", "checkout", "-q", "--detach"),
        ("git", "reset", "-q", "--hard"),
        ("git", "clean", "-q", "-fd"),
        ("git", "status"),
    ]
)
trees = st.lists(edits, max_size=8)
acts = st.lists(st.one_of(edits, edits, words), min_size=1, max_size=10)


def do(top: Path, act: tuple[str, ...] | tuple[str, str, bytes]) -> None:
    if act[0] == "git":
        git(top, *map(str, act[1:]))
        return
    kind, name, data = act
    path = top / str(name)
    assert isinstance(data, bytes)
    for step in (path, *path.parents):
        if step == top:
            break
        if step.is_symlink() or step.is_file():
            step.unlink()
    if path.is_dir():
        shutil.rmtree(path)
    if kind == "delete":
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to("a" if data else "d")
    else:
        path.write_bytes(data)
        path.chmod(0o755 if kind == "program" else 0o644)


def ignored(top: Path) -> set[str]:
    return set(
        git(top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0")
    )


@limit_examples(20)
@given(trees, trees, acts)
def test_what_an_agent_did_is_undone(
    committed: list[tuple[str, str, bytes]],
    left: list[tuple[str, str, bytes]],
    did: list[tuple[str, ...] | tuple[str, str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve() / "top"
        top.mkdir()
        git(top, "init", "-q")
        for edit in committed:
            do(top, edit)
        save(top)
        for edit in left:
            do(top, edit)
        files, seen, hidden = state(top), lines(top), ignored(top)
        ours = checkout(top)
        before = take_snapshot(ours)
        for act in did:
            do(top, act)
        now = take_snapshot(ours, before)
        assert restore_snapshot(ours, before, now).failed_paths == ()
        assert lines(top) == seen
        # Ignored files are the agent's to change, and those that it added are told from nobody's.
        restored = state(top)
        mine = {path: told for path, told in files.items() if path not in hidden}
        assert {path: told for path, told in restored.items() if path not in ignored(top)} == mine


@limit_examples(20)
@given(trees, trees, st.lists(edits, min_size=1, max_size=6))
def test_what_an_agent_changed_is_committed_and_no_more(
    committed: list[tuple[str, str, bytes]],
    left: list[tuple[str, str, bytes]],
    did: list[tuple[str, str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve() / "top"
        top.mkdir()
        git(top, "init", "-q")
        for edit in committed:
            do(top, edit)
        save(top)
        for edit in left:
            do(top, edit)
        ours = checkout(top)
        before = take_snapshot(ours)
        for edit in did:
            do(top, edit)
        after = take_snapshot(ours, before)
        paths = [change.path for change in list_changes(ours, before, after)]
        files = state(top)
        git(top, "config", "core.hooksPath", "/dev/null")
        done = commit_paths(ours, paths, [], "m", person(top.parent), TimeLimits())
        assert done.is_ok, done.output
        assert state(top) == files
        assert take_snapshot(ours, before).tree == after.tree
        told = git(top, "diff", "--name-only", "-z", "--no-renames", before.head, "HEAD")
        # A file makes way where a path that is committed needs a folder, and the reverse.
        for path in filter(None, told.split("\0")):
            assert any(
                f"{one}/".startswith(f"{path}/") or path.startswith(f"{one}/") for one in paths
            )
