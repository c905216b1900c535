"""Every git is called in one place, and nothing that a repository's configuration names runs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

import cub
from cub.errors import CubError
from cub.git.objects import ObjectReader
from cub.git.process import query_git, run_git, start_git_query, try_git
from tests.conftest import git
from tests.written_files import write_program

PACKAGE = Path(cub.__file__).parent
# What makes a process of git's, and the checks for whether there is one.
_STARTS = re.compile(r"""[\[(]\s*["']git["']\s*,""")


def test_nothing_else_starts_git() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if _STARTS.search(re.sub(r"\(\s*\"git\", \"files\"\)", "", path.read_text("utf-8")))
    }
    # Those of places start git behind the walls. The others look whether there is a git, name a
    # command of git in a hint, and have it in a table of programs.
    assert found == {
        "git/process.py", "place/commits.py",
        "actions/doctor/git_problems.py", "installation.py",
        "agent/shell_programs.py",
    }  # fmt: skip


def _named(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("ran-*")}


@pytest.fixture
def marking(project: Path, tmp_path: Path) -> Path:
    """A repository whose configuration has a program for all that git may start."""
    (project / "a.txt").write_text("one\n")
    (project / ".gitattributes").write_text("*.txt diff=odd\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "x")
    for key in (
        "core.fsmonitor", "core.pager", "pager.ls-files", "pager.diff-tree", "pager.log",
        "diff.external", "diff.odd.command", "diff.odd.textconv", "core.sshCommand", "gpg.program",
        "core.askPass", "credential.helper", "core.gitProxy", "core.alternateRefsCommand",
        "core.editor", "sequence.editor", "interactive.diffFilter", "alias.ls-files",
    ):  # fmt: skip
        git(project, "config", key, f"touch {tmp_path}/ran-{key};")
    git(project, "config", "log.showSignature", "true")
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        hook = project / ".git" / "hooks" / name
        write_program(hook, f"#!/bin/sh\ntouch {tmp_path}/ran-hook-{name}\n")
    return project


def test_nothing_of_the_configuration_runs(marking: Path, tmp_path: Path) -> None:
    (marking / "a.txt").write_text("two\n")
    for words in (
        ("ls-files", "-z"), ("ls-files", "-z", "--others", "--exclude-standard"),
        ("status", "--porcelain=v2"), ("check-ignore", "--quiet", "--", "a.txt"),
        ("log", "-1", "--format=%P"), ("diff-tree", "-p", "--no-ext-diff", "--no-textconv", "HEAD"),
        ("rev-parse", "HEAD"),
    ):  # fmt: skip
        assert try_git(marking, *words).exit_code in (0, 1)
        answer = query_git(marking, *words)
        assert answer
        assert answer.exit_code in (0, 1)
    try_git(marking, "update-index", "--refresh")
    run_git(marking, "update-ref", "refs/cub/x", "HEAD")
    assert _named(tmp_path) == set()


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        pytest.param(url, allowed, marks=() if url.startswith(allowed) else pytest.mark.thorough)
        for url in ("ssh://host/x", "ext::sh -c 'touch {}/ran-ext'", "file:///x")
        for allowed in ("ext", "ssh", "file")
    ],
)
def test_no_object_is_fetched_on_the_way(
    marking: Path, tmp_path: Path, url: str, allowed: str
) -> None:
    _promise(marking, url.format(tmp_path))
    git(marking, "config", f"protocol.{allowed}.allow", "always")
    missing = "1" * 40
    with pytest.raises(CubError), ObjectReader(marking) as objects:
        objects.read_blob(missing)
    assert try_git(marking, "cat-file", "-p", missing).exit_code
    with start_git_query(marking, "cat-file", "-p", missing) as process:
        process.communicate()
    assert process.returncode
    assert _named(tmp_path) == set()


def _promise(root: Path, url: str) -> None:
    for key, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", url),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
    ):
        git(root, "config", key, value)


def test_a_git_that_hangs_is_no_answer(project: Path) -> None:
    """As one that waits for the other end of a FIFO, which is its configuration."""
    (project / ".git" / "config").unlink()
    os.mkfifo(project / ".git" / "config")
    assert query_git(project, "ls-files", timeout=0.2) is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script as a program")
def test_a_git_that_says_all_and_does_not_end_is_no_answer(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write_program(tmp_path / "bin" / "git", "#!/bin/sh\nexec >&- 2>&-\nexec sleep 600\n")
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert query_git(project, "ls-files", timeout=0.2) is None
