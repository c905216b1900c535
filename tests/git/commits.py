"""Commits made from what they hold, without a work tree: any name, any mode, any object format."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.conftest import git


class Node(NamedTuple):
    """A file of another mode than a plain one; `data` of a submodule is its commit."""

    mode: str
    data: bytes


Files = Mapping[str, "bytes | Node | None"]


def link(target: str) -> Node:
    """A symbolic link."""
    return Node("120000", target.encode("utf-8", "surrogateescape"))


def program(data: bytes) -> Node:
    """A file that may be executed."""
    return Node("100755", data)


def submodule(oid: str = "1" * 40) -> Node:
    """A commit of another repository."""
    return Node("160000", oid.encode())


def commit(root: Path, files: Files, *parents: str, branch: str = "main") -> str:
    """Commit changes (None deletes) on top of the first of `parents`, or on nothing.

    The branch is moved there, the work tree left alone. Returns the commit.
    """
    lines = [f"commit refs/heads/{branch}".encode(), b"committer t <t@t> 0 +0000", b"data 0"]
    lines += [f"{'merge' if n else 'from'} {parent}".encode() for n, parent in enumerate(parents)]
    for path, content in files.items():
        lines += _change(path, content)
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force"],
        cwd=root,
        input=b"\n".join([*lines, b"", b""]),
        capture_output=True,
        check=True,
    )
    return git(root, "rev-parse", f"refs/heads/{branch}").strip()


def lose(root: Path, name: str) -> None:
    """Delete an object that lies in a file of its own, as those of small imports do."""
    oid = git(root, "rev-parse", name).strip()
    (root / git(root, "rev-parse", "--git-path", f"objects/{oid[:2]}/{oid[2:]}").strip()).unlink()


def _change(path: str, content: bytes | Node | None) -> list[bytes]:
    """One line of git fast-import's language, its path quoted as in C."""
    name = path.encode("utf-8", "surrogateescape")
    quoted = b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'
    if content is None:
        return [b"D " + quoted]
    node = content if isinstance(content, Node) else Node("100644", content)
    mode = node.mode.encode()
    if node.mode == "160000":
        return [b"M %s %s %s" % (mode, node.data, quoted)]
    return [b"M %s inline %s" % (mode, quoted), b"data %d" % len(node.data), node.data]
