from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.store.store_paths import TASKS_FILE
from tests.cli.standing import MINE, stand
from tests.cli.tasks import ALL, put, put_events
from tests.command_line import call_cub
from tests.conftest import Cub, environment

LOOKING = [
    ("init", "--dry-run"),
    ("init", "--diff"),
    ("init", "--json"),
    ("init", "--diff", "--dry-run", "pkg"),
    ("update", "--check"),
    ("map", "--check"),
    ("update", "--dry-run"),
    ("update", "--diff"),
    ("update", "--json"),
    ("update", "--check", "--diff", "--edited", "replace"),
    ("remove", "--dry-run"),
    ("remove", "--diff"),
    ("remove", "--json"),
    ("remove", "--dry-run", "--purge"),
    ("remove", "--dry-run", "--purge", "--yes"),
    ("doctor",),
    ("status",),
    ("status", "--json"),
    ("--help",),
    ("--version",),
]

# What reads tasks or the ledger, and whether it has to name the bad lines of the tasks.
READING = {
    "task list": True,
    "task list --json": False,
    "task list --tree --status all": True,
    "task ready": True,
    "task ready --json": False,
    "task show clean": True,
    "task stats": True,
    "doctor": False,
    "doctor --json": False,
    "task export": True,
    "task export --format markdown": True,
    "prompt clean": True,
    "prompt clean --explain": True,
    "ledger list": False,
    "ledger show clean": False,
    "ledger stats": False,
    "ledger tail": False,
    "run --dry-run --harness scripted": False,
    "run status": False,
    "run logs": False,
    "run show clean": False,
    "trust --show": False,
    "status": False,
    "config show": False,
    "update --check": False,
    "diff": False,
}
EVENT = {"v": 1, "ev": "task_state", "ts": "2026-01-01T08:00:00.000Z", "task": "b-clean"}


@pytest.fixture(scope="module", params=["fresh", "current", "stale", "edited", "broken"])
def original(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, empty_repository: Path
) -> Path:
    """A project in one of the states that a command may meet, to be copied."""
    folder = tmp_path_factory.mktemp("original")
    root = folder / "project"
    shutil.copytree(empty_repository, root)
    (root / "pkg").mkdir()
    (root / "pkg" / "oven.py").write_bytes(b"def bake(bread):\n    return bread\n")
    (root / "AGENTS.md").write_bytes(MINE)
    if request.param == "fresh":
        return root
    assert call_cub(["init"], cwd=root, environ=environment(folder)).code == 0
    agents = (root / "AGENTS.md").read_bytes()
    spoilt = {
        "stale": agents.replace(b"cub:digest", b"no digest"),
        "edited": agents.replace(b"- Find:", b"- Search:"),
        "broken": agents.replace(b"<!-- END", b"<!-- AND"),
    }
    (root / "AGENTS.md").write_bytes(spoilt.get(request.param, agents))
    return root


@pytest.fixture
def prepared(project: Path, original: Path) -> Path:
    """A copy of `original`."""
    shutil.copytree(original, project, symlinks=True, dirs_exist_ok=True)
    return project


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_who_only_looks_leaves_everything_as_it_is(
    prepared: Path, home: Path, cub: Cub, command: tuple[str, ...]
) -> None:
    before = stand(prepared), stand(home)
    assert cub(*command).code in (0, 1)
    assert (stand(prepared), stand(home)) == before


@pytest.mark.parametrize("command", ["init", "update"])
def test_a_second_run_leaves_everything_as_it_is(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    assert cub("init").code == 0
    before = stand(project)
    assert cub(command).code == 0
    # The folder of the lock alone sees a file come and go.
    assert {**stand(project), ".cub": before[".cub"]} == before


@pytest.mark.parametrize("command", READING)
def test_who_reads_bad_lines_names_them_and_leaves_them_where_they_are(
    project: Path, cub: Cub, command: str
) -> None:
    put(project, *ALL, '{"id":"torn', "junk", ALL[0])
    put_events(project, EVENT, '{"ev":"torn', "junk")
    before = stand(project)
    shown = cub(*command.split())
    assert shown.code in (0, 1)
    assert stand(project) == before
    assert "Traceback" not in shown.err
    if READING[command]:
        assert f"{TASKS_FILE}:6: invalid JSON" in shown.err
        assert f"{TASKS_FILE}:7: invalid JSON: " in shown.err
