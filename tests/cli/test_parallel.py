from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.processes import open_cub
from tests.cli.standing import MINE, stand
from tests.conftest import Cub, tree
from tests.files.hold_lock import holder


def run_at_once(project: Path, home: Path, *commands: str) -> list[tuple[int, str, str]]:
    """The exit code, stdout and stderr of each of several commands that run at the same time."""
    with ExitStack() as stack:
        started = [
            stack.enter_context(open_cub(command, cwd=project, home=home)) for command in commands
        ]
        return [running.finish() for running in started]


@pytest.mark.parametrize("count", [2, pytest.param(5, marks=pytest.mark.thorough)])
def test_several_inits_at_once_are_one_init(
    project: Path, home: Path, cub: Cub, count: int
) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    ended = run_at_once(project, home, *["init"] * count)
    assert [code for code, _, _ in ended] == [0] * count
    assert sum("create" in out for _, out, _ in ended) == 1
    together = tree(project)
    cub("remove", "--purge", "--yes")
    assert tree(project) == {"AGENTS.md": MINE}
    cub("init")
    assert tree(project) == together


def test_init_and_remove_at_once_leave_one_of_both(project: Path, home: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    cub("init")
    full = tree(project)
    ended = run_at_once(project, home, "remove", "init", "remove", "init")
    assert {code for code, _, _ in ended} <= {0, 1}
    assert all("Traceback" not in err for _, _, err in ended)
    assert tree(project) in (
        full,
        {name: full[name] for name in [".cub/constitution.md"]} | {"AGENTS.md": MINE},
    )


def test_a_writer_says_for_whom_it_waits_until_it_is_interrupted(
    project: Path, home: Path, cub: Cub
) -> None:
    cub("init")
    before = stand(project)
    with holder(project) as process, open_cub("update", cwd=project, home=home) as waiting:
        assert waiting.err.readline().startswith(f"Waiting for process {process.pid} on ")
        looked = cub("status"), cub("update", "--check")
        waiting.process.send_signal(signal.SIGINT)
        code, _, _ = waiting.finish()
    assert code in (130, -signal.SIGINT)
    assert [look.code for look in looked] == [0, 0]
    now = {name: entry for name, entry in stand(project).items() if name != ".cub/lock"}
    assert {**now, ".cub": before[".cub"]} == before


def test_a_writer_waits_until_the_lock_is_free(project: Path, home: Path) -> None:
    with holder(project) as process, open_cub("init", cwd=project, home=home) as waiting:
        wanted = f"Waiting for process {process.pid} on "  # after what init is about to do
        assert any(line.startswith(wanted) for line in iter(waiting.err.readline, ""))
        assert sorted(path.name for path in project.iterdir()) == [".cub", ".git"]
        process.kill()
        code, _, _ = waiting.finish()
    assert code == 0
    assert (project / "AGENTS.md").exists()
