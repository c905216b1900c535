"""Every command that writes first ends what any other one left half done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cub
from tests.cli.command_tree import walk_commands
from tests.cli.interrupted import (
    CHANGES,
    READERS,
    WRITERS,
    Tree,
    lasting,
    left_behind,
    rebuilt,
    run_writer,
)
from tests.examples import keep_few
from tests.files.conftest import scratch  # noqa: F401 - a fixture

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs hard links")


PACKAGE = Path(cub.__file__).parent


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's configuration, and no run around the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CUB_ROOT", "CUB_TASK", "CUB_ATTEMPT", "CUB_AGENT", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_each_command_is_known_to_write_or_to_read_only() -> None:
    names = [
        name
        for name, context in walk_commands()
        if name and getattr(context.command, "invoke_without_command", True)
    ]
    assert sorted(names) == sorted([*WRITERS, *READERS])


def test_each_plan_that_is_carried_out_is_killed_somewhere_here() -> None:
    imports = re.compile(
        r"from cub\.(?:cli\.plan_command|files\.apply) import (?:\([^)]*|.*)"
        r"\b(?:run_plan_command|apply_plan)\b"
    )
    found = {path.stem for path in PACKAGE.rglob("*.py") if imports.search(path.read_text("utf-8"))}
    # `stores` brings git's files before the first task; `diff` only shows, and the demo's section
    # is in a directory of its own.
    makers = {"task add": "stores", "config set": "config", "run apply": "attempt_commands"}
    plans = {makers.get(name, name) for name in CHANGES}
    assert found - {"plan_command", "diff", "section_demo"} == plans


def picked(states: list[Tree], number: int) -> Iterator[int]:
    """Two states for each writer, others than for the one before: all of them, and all pairs of
    commands, at a fraction of the time that all pairs of both would take.
    """
    for start in (0, -(-len(states) // 2)):
        yield (number + start) % len(states)


# The numbers of the writers that come after each kill: a few, others for each, and the rest.
FEW, PARTS = 2, 3


def select_writers(killed: str, part: int) -> list[int]:
    """Part 0 is for the fast tier."""
    first = FEW * list(CHANGES).index(killed)
    few = [(first + number) % len(WRITERS) for number in range(FEW)]
    rest = [number for number in range(len(WRITERS)) if number not in few]
    return rest[part - 1 :: PARTS - 1] if part else few


@pytest.mark.parametrize("killed", CHANGES)
def test_every_writer_is_tried_and_every_state_is_picked(
    killed: str,
    scratch: Path,  # noqa: F811
) -> None:
    _, states, _ = left_behind(CHANGES[killed], scratch)
    tried = [number for part in range(PARTS) for number in select_writers(killed, part)]
    assert sorted(tried) == list(range(len(WRITERS)))
    seen = {state for number in tried for state in picked(states, number)}
    assert seen == set(range(len(states)))


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, PARTS))]
)
@pytest.mark.parametrize("killed", keep_few(CHANGES, 4))
def test_a_writer_after_a_kill_ends_all_old_or_all_new_and_does_its_work(
    killed: str,
    part: int,
    scratch: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, states, after = left_behind(CHANGES[killed], scratch)
    writers = list(WRITERS)
    for number in select_writers(killed, part):
        writer = writers[number]
        ends = []
        for name, tree in (("old", before), ("new", after)):
            root = rebuilt(tree, scratch / f"{number}-{name}")
            ends.append((run_writer(writer, root), lasting(root)))
        for state in picked(states, number):
            root = rebuilt(states[state], scratch / f"{number}-{state}")
            capsys.readouterr()
            end = run_writer(writer, root), lasting(root)
            said = capsys.readouterr().err
            assert end in ends, (writer, state)
            if ".cub/journal.jsonl" in states[state]:
                assert "a change that was interrupted" in said, (writer, state)
            assert not list(root.rglob("*.tmp")), (writer, state)
