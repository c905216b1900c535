"""Attempts for tests of acceptance: a commit in cub's own folder of objects, and the state of all
that is the person's, told exactly.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cub.place.acceptance import Acceptance, BranchTip, accept_commit, bring_objects, keep_commit
from cub.place.checkout import Checkout, find_checkout
from tests.conftest import git
from tests.git.commits import Files, Node

REF = "refs/cub/kept/run-task-1"
# What is committed before an attempt.
BASE = {
    ".gitignore": b"*.log\n/build/\n",
    "a.txt": b"one\n",
    "b.txt": b"b\n",
    "gone.txt": b"gone\n",
    "dir/c.txt": b"c\n",
    "dir/d.txt": b"d\n",
    "run.sh": b"#!/bin/sh\n",
    "swap": b"a file\n",
}


@dataclass(frozen=True)
class Attempt:
    """An attempt that started from HEAD of a checkout."""

    checkout: Checkout
    objects: Path
    target: BranchTip

    def commit(self, files: Files, parent: str = "") -> str:
        """Commit changes (None deletes) in cub's folder of objects."""
        index = self.objects.parent / "index"
        parent = parent or self.target.base
        self.git("read-tree", parent)
        lines = [_line(self, path, node) for path, node in files.items()]
        self.git("update-index", "-z", "--index-info", data=b"".join(lines))
        tree = self.git("write-tree")
        index.unlink()
        return self.git("commit-tree", "-p", parent, "-m", "attempt", tree)

    def git(self, *words: str, data: bytes = b"") -> str:
        who = {f"GIT_{r}_{k}": "t" for r in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
        environ = {
            **os.environ,
            **who,
            "GIT_OBJECT_DIRECTORY": str(self.objects),
            "GIT_INDEX_FILE": str(self.objects.parent / "index"),
        }
        top = self.checkout.toplevel
        done = subprocess.run(
            ["git", *words], cwd=top, env=environ, input=data, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def add_blob(self, data: bytes) -> str:
        """Write a file's object, as git does; a process for each would cost seconds."""
        content = b"blob %d\0" % len(data) + data
        oid = hashlib.sha1(content).hexdigest()
        path = self.objects / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(content))
        return oid

    def bring(self, commit: str) -> None:
        bring_objects(self.checkout, self.objects, commit, self.target.base)
        keep_commit(self.checkout, REF, commit)

    def accept(self, commit: str, **options: Any) -> Acceptance:
        self.bring(commit)
        return accept_commit(self.checkout, self.target, commit, REF, patience=0, **options)


def begin(top: Path, state: Path) -> Attempt:
    """Start an attempt from what is checked out."""
    checkout = find_checkout(top)
    objects = state / "objects"
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_bytes(os.fsencode(checkout.objects) + b"\n")
    head = (top / ".git" / "HEAD") if (top / ".git").is_dir() else checkout.git_dir / "HEAD"
    branch = head.read_text().strip().removeprefix("ref: ")
    base = git(top, "rev-parse", "HEAD").strip()
    return Attempt(checkout, objects, BranchTip("" if branch == base else branch, base))


def everything(top: Path) -> dict[str, object]:
    """All that is the person's: files, the index, refs and HEAD; without the kept ref."""
    files: dict[str, object] = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *folders):
            path = Path(folder, name)
            files[str(path.relative_to(top))] = _tell(path)
    git_dir = find_checkout(top).git_dir
    return files | {
        "/index": git(top, "ls-files", "-s", "-t", "-z"),
        "/flags": git(top, "ls-files", "-v", "-z"),
        "/refs": [line for line in git(top, "show-ref").splitlines() if "refs/cub/" not in line],
        "/HEAD": (git_dir / "HEAD").read_text(),
        "/own": sorted(path.name for path in git_dir.iterdir() if "cub" in path.name),
        "/lock": (git_dir / "index.lock").exists(),
    }


def _tell(path: Path) -> object:
    if path.is_symlink():
        return ("link", os.fsencode(path.readlink()))
    return "folder" if path.is_dir() else (path.stat().st_mode, path.read_bytes())


def _line(attempt: Attempt, path: str, content: bytes | Node | None) -> bytes:
    name = path.encode("utf-8", "surrogateescape")
    if content is None:
        return b"0 " + b"0" * 40 + b"\t" + name + b"\0"
    node = content if isinstance(content, Node) else Node("100644", content)
    oid = node.data.decode() if node.mode == "160000" else attempt.add_blob(node.data)
    return f"{node.mode} {oid}\t".encode() + name + b"\0"
