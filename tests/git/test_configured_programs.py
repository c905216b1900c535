"""Whether a git that reads would run a program of its repository: tried with each one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.git.configured_programs import explain_configured_program
from tests.conftest import git
from tests.written_files import write_program

_READS = (
    "status", "diff", "diff HEAD", "log -p --ext-diff", "log --show-signature -1", "show",
    "blame a.txt", "grep --textconv two", "cat-file --textconv HEAD:a.txt", "describe --dirty",
    "log --remerge-diff", "rev-list --objects HEAD", "ls-files -m", "stash show -p",
)  # fmt: skip


def _read_all(root: Path, tmp_path: Path) -> set[str]:
    """Run all that reads; return the names of the programs that it ran."""
    for line in _READS:
        (root / "a.txt").touch()  # so that the file is compared
        subprocess.run(["git", *line.split()], cwd=root, capture_output=True, check=False)
    return {path.name for path in tmp_path.glob("ran-*")}


@pytest.fixture
def repository(project: Path) -> Path:
    """A repository with a change, and attributes that name a driver and a filter."""
    (project / "a.txt").write_text("one\n")
    (project / ".gitattributes").write_text("*.txt diff=odd filter=odd merge=odd\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "x")
    (project / "a.txt").write_text("two\n")
    return project


def test_the_programs_of_the_person_are_theirs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text("[diff]\n\texternal = x\n[core]\n\thooksPath = y\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert explain_configured_program(repository) == ""
    git(repository, "config", "user.name", "x")
    git(repository, "config", "remote.origin.url", "ssh://x")
    assert explain_configured_program(repository) == ""


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor", "diff.external", "diff.odd.command", "diff.odd.textconv",
        "filter.odd.clean", "filter.odd.process", "merge.odd.driver",
        "remote.x.promisor", "gpg.program",
    ],
)  # fmt: skip
def test_a_key_that_names_a_program_is_named(repository: Path, key: str) -> None:
    assert explain_configured_program(repository) == ""
    git(repository, "config", key, "x")
    assert explain_configured_program(repository).endswith(f"sets {key.lower()}")


def test_what_an_included_file_sets_counts(repository: Path) -> None:
    (repository / "more").write_text("[diff]\n\texternal = x\n")
    git(repository, "config", "include.path", "../more")
    assert explain_configured_program(repository).endswith("sets diff.external")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script as a program")
@pytest.mark.parametrize("folder", ["own", ".git/hooks"])
def test_a_hook_that_reading_runs_is_named(repository: Path, folder: str) -> None:
    git(repository, "config", "core.hooksPath", "own")
    assert explain_configured_program(repository) == ""
    write_program(repository / folder / "post-index-change", "#!/bin/sh\n")
    is_found = folder != ".git/hooks"
    assert explain_configured_program(repository).endswith("a hook post-index-change") == is_found
    git(repository, "config", "--unset", "core.hooksPath")
    assert explain_configured_program(repository).endswith("a hook post-index-change") != is_found


def test_a_submodule_has_a_configuration_of_its_own(repository: Path) -> None:
    (repository / "sub").mkdir()
    git(repository / "sub", "init", "-q")
    git(repository / "sub", "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "add", "sub")
    assert explain_configured_program(repository) == "the repository has submodules"


def test_without_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert explain_configured_program(tmp_path / "gone") == "git can't read the repository here"
    (tmp_path / "x").mkdir()
    assert explain_configured_program(tmp_path / "x") == "git can't read the repository here"


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs a script as a program")
def test_no_other_setting_runs_a_program(repository: Path, tmp_path: Path) -> None:
    """Set all that takes a program and is not in the table: what reads runs none of them."""
    keys = (
        "core.pager", "pager.log", "pager.status", "pager.diff", "core.sshCommand", "core.askPass",
        "core.editor", "core.gitProxy", "core.alternateRefsCommand", "credential.helper",
        "sequence.editor", "interactive.diffFilter", "alias.status", "alias.log", "alias.diff",
        "trailer.x.command", "trailer.x.cmd", "mergetool.x.cmd", "difftool.x.cmd", "diff.tool",
        "diff.guitool", "man.viewer", "man.x.cmd", "web.browser", "browser.x.cmd", "help.browser",
        "tar.x.command", "uploadpack.packObjectsHook", "remote.origin.uploadpack",
        "remote.origin.receivepack", "submodule.x.update", "sendemail.toCmd", "core.hooksPath",
    )  # fmt: skip
    for key in keys:
        git(repository, "config", key, f"touch {tmp_path}/ran-{key};")
    assert explain_configured_program(repository) == ""
    assert _read_all(repository, tmp_path) == set()
    git(repository, "config", "diff.odd.textconv", f"touch {tmp_path}/ran-it;")
    assert _read_all(repository, tmp_path) == {"ran-it"}
