from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files import read_file

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@posix
@pytest.mark.parametrize("target", [".git/config", ".git/hooks/new", "sub/.git/config", ".GIT/x"])
def test_a_link_into_git_s_own_folder_is_refused(root: Path, target: str) -> None:
    (root / target).parent.mkdir(parents=True)
    if not target.endswith("new"):
        (root / target).write_bytes(b"[core]\n")
    (root / "AGENTS.md").symlink_to(target)
    reason = "which does not exist" if target.endswith("new") else "into git's own directory"
    with pytest.raises(CubError, match=reason):
        read_file(root, "AGENTS.md")
