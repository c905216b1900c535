"""SIGKILL at any point of a run: the next one recovers, and nothing is done twice."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from cub.actions.run.run_folders import PLACES_FOLDER, RunFolder
from cub.place.folder import PlaceFolder
from tests.actions.run.attacked import run_killed
from tests.actions.run.shop import CHECK, Shop, shop
from tests.examples import keep_few
from tests.processes.programs import is_running, make_sleep

POINTS = 12
_UNSURE = 10  # steps that a faster run does not take: how a run stands is noted each second
# It fails its first attempt, and mends it when it is told. What it leaves in the background would
# go on for ever.
SLEEP = make_sleep()
CLIENT = """
grep -q 'F821 gone' && { echo mended > work.txt; echo API_KEY=1 > .env; exit 0; }
echo 'shop.py:7:1: F821 gone' > wrong; echo half >> kept.txt
"""


def furnished(bakery: Shop) -> Shop:
    bakery.client(f"{SLEEP} &{CLIENT}")
    bakery.task()
    bakery.write(".gitignore", ".cub/\n")
    bakery.commit()
    bakery.write("notes.txt", "a person's, unknown to git\r\n")
    return bakery


@pytest.fixture(scope="session")
def steps(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> int:
    """How many steps a run has that nobody kills."""
    root, home = tmp_path_factory.mktemp("counted").resolve(), tmp_path_factory.mktemp("home")
    shutil.copytree(empty_repository, root, dirs_exist_ok=True)
    done = run_killed(furnished(shop(root, home)), 0)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("point", keep_few(range(POINTS), 3))
def test_the_next_run_goes_on(
    bakery: Shop, steps: int, point: int, pytestconfig: pytest.Config
) -> None:
    """At one step of each stretch of a run: another one each time, as the seed has it."""
    seed = pytestconfig.getoption("--hypothesis-seed")
    among = random.Random(None if seed is None else f"{seed} {point}")
    step = 1 + int((point + among.random()) * (steps - _UNSURE) / POINTS)
    print(f"killed at step {step} of {steps}")  # noqa: T201 - pytest shows it where this fails
    assert run_killed(furnished(bakery), step).returncode == -9
    done = bakery.run(checks=CHECK)
    assert bakery.status() == "closed"
    assert bakery.log() == ["task(s-1): Do s-1", "start", "start"]
    assert bakery.dirt() == "?? notes.txt\n"
    left_out = {path.read_text() for path in bakery.cub.glob("runs/*/s-1/*/left-out/.env")}
    assert left_out == {"API_KEY=1\n"}
    assert (bakery.root / "notes.txt").read_bytes() == b"a person's, unknown to git\r\n"
    assert (bakery.root / "kept.txt").read_text() == "kept\n"
    assert (bakery.root / "work.txt").read_text() == "mended\n"
    assert not is_running(SLEEP)
    begun = [(e["run"], e["task"], e["n"]) for e in bakery.ledger("attempt_start")]
    ended = [(e["run"], e["task"], e["n"]) for e in bakery.ledger("attempt_end")]
    assert sorted(begun) == sorted(ended) == sorted(set(ended))
    assert [e["ok"] for e in bakery.ledger("attempt_end")].count(True) == 1
    charged = [e["fail"]["class"] for e in bakery.ledger("attempt_end") if not e["ok"]]
    assert set(charged) <= {"checks_failed", "interrupted"}
    assert charged.count("checks_failed") == 1
    assert done.end["ok"]


def test_what_a_run_made_before_it_was_noted_is_removed(bakery: Shop) -> None:
    furnished(bakery)
    killed = RunFolder(bakery.root, "20261125-101500-k1ll").state
    place = PlaceFolder(killed / PLACES_FOLDER / "1")
    place.prepare()
    place.tree.chmod(0o500)
    bakery.run(once=True, checks=CHECK)
    assert not killed.exists()
