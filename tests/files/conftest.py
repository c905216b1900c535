"""Fixtures of the transaction's tests: a fast disk, and a process that modes hold for."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")
_WITHOUT_POWERS = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where the system has one: crash tests sync thousands of times."""
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK | os.X_OK)):
        yield tmp_path.resolve()
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty project."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture(scope="session")
def unprivileged() -> list[str]:
    """What to put in front of a command so that file modes hold for it: nothing, but for root."""
    if os.name == "nt":
        pytest.skip("needs POSIX modes")
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root ignores file modes, and there is no setpriv to change that")
    command = [setpriv, *_WITHOUT_POWERS]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("root ignores file modes, and setpriv may not change that")
    return command


@pytest.fixture
def may_mount(tmp_path: Path) -> list[str]:
    """What to put in front of a command so that it may mount, seen by nobody else."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare")
    command = [unshare, "-m"] if os.geteuid() == 0 else [unshare, "-r", "-m"]
    mount = [*command, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not permitted here")
    return command
