from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.standing import MINE, stand
from tests.conftest import Cub, environment, tree
from tests.files.hold_lock import holder


def start(project: Path, home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cub", *arguments],
        cwd=project,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("count", [2, 5])
def test_several_inits_at_once_are_one_init(
    project: Path, home: Path, cub: Cub, count: int
) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    started = [start(project, home, "init") for _ in range(count)]
    ended = [(process.communicate(), process.returncode) for process in started]
    assert [code for _, code in ended] == [0] * count
    assert sum("create" in out for (out, _), _ in ended) == 1
    together = tree(project)
    cub("remove", "--purge", "--yes")
    assert tree(project) == {"AGENTS.md": MINE}
    cub("init")
    assert tree(project) == together


def test_init_and_remove_at_once_leave_one_of_both(project: Path, home: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    cub("init")
    full = tree(project)
    started = [start(project, home, command) for command in ("remove", "init", "remove", "init")]
    ended = [(process.communicate(), process.returncode) for process in started]
    assert {code for _, code in ended} <= {0, 1}
    assert all("Traceback" not in err for (_, err), _ in ended)
    assert tree(project) in (
        full,
        {name: full[name] for name in [".cub/constitution.md"]} | {"AGENTS.md": MINE},
    )


def test_a_writer_says_for_whom_it_waits_until_it_is_interrupted(
    project: Path, home: Path, cub: Cub
) -> None:
    cub("init")
    before = stand(project)
    with holder(project) as process:
        waiting = start(project, home, "update")
        assert waiting.stderr is not None
        assert waiting.stderr.readline().startswith(f"Waiting for process {process.pid} on ")
        looked = cub("status"), cub("update", "--check")
        waiting.send_signal(signal.SIGINT)
        waiting.communicate()
    assert waiting.returncode in (130, -signal.SIGINT)
    assert [look.code for look in looked] == [0, 0]
    now = {name: entry for name, entry in stand(project).items() if name != ".cub/lock"}
    assert {**now, ".cub": before[".cub"]} == before


def test_a_writer_waits_until_the_lock_is_free(project: Path, home: Path) -> None:
    with holder(project) as process:
        waiting = start(project, home, "init")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)  # it would take a fraction of that if it did not wait
        assert sorted(path.name for path in project.iterdir()) == [".cub", ".git"]
        process.kill()
        waiting.communicate()
    assert waiting.returncode == 0
    assert (project / "AGENTS.md").exists()
