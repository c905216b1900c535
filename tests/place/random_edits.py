"""Random edits of a work tree, and of its repository, as a person or a program may make them."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import strategies as st

from tests.conftest import git

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
