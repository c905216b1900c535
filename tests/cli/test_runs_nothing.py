"""Commands that only read, in an unpacked repository whose own configuration names programs for
all that git may start: none of these runs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.store.store_paths import TASKS_FILE
from tests.cli.tasks import ALL, put, put_events
from tests.cli.test_writes_nothing import EVENT, LOOKING, READING
from tests.conftest import Cub, git

COMMANDS = [
    *(words for words in LOOKING if words[0] != "--help"),
    *(tuple(command.split()) for command in READING),
    ("map", "--stdout"),
    ("map", "--check"),
    ("diff", "HEAD"),
    ("diff", "HEAD~1"),
    ("diff", "HEAD~1...HEAD"),
    ("diff", "lost"),
    ("repair",),
    ("run", "--dry-run", "--harness", "scripted", "--trust"),
    ("run", "--dry-run", "--harness", "scripted", "--with-changes", "--branch", "x"),
]


@pytest.fixture
def unpacked(project: Path, tmp_path: Path, cub: Cub) -> Path:
    """With an instruction file, tasks, a script, two commits, edits, and objects that are lost."""
    (project / "AGENTS.md").write_bytes(b"# Mine\n")
    (project / "a.py").write_bytes(b"A = 1\n")
    (project / ".gitattributes").write_bytes(b"* filter=odd diff=odd\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "one")
    (project / "pkg").mkdir()
    assert cub("init").code == 0
    put(project, *ALL)
    put_events(project, EVENT)
    (project / ".cub" / "script.yaml").write_text('tasks: {"*": [{say: hello}]}\n')
    git(project, "add", "-A")
    git(project, "commit", "-qm", "two")
    git(project, "tag", "lost", "HEAD~1")
    _lose(project, git(project, "rev-parse", "HEAD~1:AGENTS.md").strip())
    # Of another time and size than the index knows: who compares, has it cleaned.
    for name in ("a.py", "AGENTS.md", TASKS_FILE):
        path = project / name
        path.write_bytes(path.read_bytes() + b"\n")
        os.utime(path, (1, 1))
    _spoil(project, tmp_path)
    return project


def _lose(root: Path, oid: str) -> None:
    (root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()


def _spoil(root: Path, marks: Path) -> None:
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.gitProxy",
        "core.editor", "core.alternateRefsCommand", "credential.helper", "diff.external",
        "diff.odd.command", "diff.odd.textconv", "filter.odd.clean", "filter.odd.smudge",
        "filter.odd.process", "gpg.program", "gpg.ssh.program", "gpg.x509.program",
        "uploadpack.packObjectsHook", "interactive.diffFilter", "sequence.editor",
        *(f"pager.{verb}" for verb in ("ls-files", "cat-file", "status", "log", "diff", "config")),
        *(f"alias.{verb}" for verb in ("ls-files", "cat-file", "status", "log", "merge-base")),
    ):  # fmt: skip
        git(root, "config", key, f"touch {marks}/ran-{key};")
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "remote.origin.url": f"ext::sh -c 'touch% {marks}/ran-ext'",
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
        "log.showSignature": "true",
        "commit.gpgSign": "true",
        "include.path": "more",
    }.items():
        git(root, "config", key, value)
    (root / ".git" / "more").write_text(f"[core]\n\tfsmonitor = touch {marks}/ran-included;\n")
    for name in (
        "post-index-change", "reference-transaction", "post-checkout", "pre-commit",
        "fsmonitor-watchman", "post-merge", "pre-auto-gc",
    ):  # fmt: skip
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {marks}/ran-hook-{name}\n")
        hook.chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="what would run is written for sh")
@pytest.mark.parametrize("way", ["ext", pytest.param("ssh", marks=pytest.mark.thorough)])
def test_who_only_looks_runs_nothing_of_the_repositorys(
    unpacked: Path, tmp_path: Path, cub: Cub, way: str
) -> None:
    if way == "ssh":
        git(unpacked, "config", "remote.origin.url", "ssh://host/x")
    for command in COMMANDS:
        assert cub(*command).code in (0, 1), command
        assert [path.name for path in tmp_path.glob("ran-*")] == [], command


@pytest.mark.skipif(os.name != "posix", reason="what would run is written for sh")
def test_a_completion_runs_nothing_of_the_repositorys(
    unpacked: Path, tmp_path: Path, cub_process: Cub
) -> None:
    for words in ("cub task show ", "cub diff ", "cub run --task ", "cub config get "):
        cub_process(
            _CUB_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")),
            cwd=unpacked,
        )  # fmt: skip
    assert [path.name for path in tmp_path.glob("ran-*")] == []
