"""Where the repository of a checkout is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.place.checkout import Checkout, find_checkout
from tests.conftest import git


def test_a_submodule_has_a_repository_of_its_own(project: Path) -> None:
    repository = project / ".git" / "modules" / "lib"
    repository.parent.mkdir()
    git(project, "init", "-q", f"--separate-git-dir={repository}", "lib")
    checkout = find_checkout(project / "lib")
    assert checkout == Checkout(project / "lib", repository, repository)


def test_a_linked_work_tree_shares_its_repository(project: Path, tmp_path: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "start")
    git(project, "worktree", "add", "-q", f"{tmp_path}/linked")
    checkout = find_checkout(tmp_path / "linked")
    own = project / ".git" / "worktrees" / "linked"
    assert (checkout.git_dir, checkout.common_dir) == (own, project / ".git")


def test_a_file_that_leads_nowhere_is_refused(project: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / ".git").write_text("gitdir: ../nowhere\n", encoding="utf-8")
    with pytest.raises(CubError, match="cannot be read"):
        find_checkout(project / "lib")
