"""The whole of it on a real project: a test fails, the retry is told its name, and mends it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.actions.run.shop import Shop
from tests.conftest import Cub, git

NET = "def net(cents):\n    return cents\n"
WRONG = NET + "\n\ndef gross(cents):\n    return cents + 19\n"
RIGHT = NET + "\n\ndef gross(cents):\n    return cents * 119 // 100\n"
OLD = "from price import net\n\n\ndef test_net():\n    assert net(100) == 100\n"
NEW = """\
import pytest

from price import gross


@pytest.mark.parametrize(("net", "gross_"), [(100, 119), (200, 238)])
def test_gross(net, gross_):
    assert gross(net) == gross_
"""
FAILING = "tests/test_gross.py::test_gross[200-238]"


@pytest.fixture
def prices(bakery: Shop) -> Shop:
    for path, text in {
        "src/price.py": NET,
        "tests/test_net.py": OLD,
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
    }.items():
        bakery.write(path, text)
    bakery.commit("prices")
    files = {"tests/test_gross.py": NEW}
    bakery.script(
        {
            "*": [
                {"files": {"src/price.py": WRONG, **files}, "close": "done", "final": "Done."},
                {"files": {"src/price.py": RIGHT, **files}, "close": "done", "final": "Done."},
            ]
        }
    )
    return bakery


@pytest.mark.thorough
def test_a_failing_test_is_told_to_the_retry_and_one_commit_closes_the_task(
    prices: Shop, cub: Cub
) -> None:
    check = f"{Path(sys.executable).as_posix()} -m pytest -q -p no:cacheprovider"
    key = cub("task", "add", "Prices with tax", "--check", check).out.strip()
    done = cub("run", "--harness", "scripted", "--json")
    assert done.code == 0, done.err + done.out
    first, second = (
        event for event in map(json.loads, done.out.splitlines()) if event["ev"] == "attempt_end"
    )
    assert first["fail"]["class"] == "checks_failed"
    assert first["fail"]["reason"].startswith(FAILING)
    assert (first["checks"][0]["new"], second["ok"]) == (1, True)
    prompt = (prices.root / second["log"] / "prompt.md").read_text()
    assert f"failing: `{FAILING}`" in prompt
    assert prices.log() == [f"task({key}): Prices with tax", "prices", "start"]
    changed = git(prices.root, "show", "--format=", "--name-only", "HEAD").split()
    assert set(changed) - {".cub/ledger.jsonl", ".cub/tasks.jsonl"} == {
        "src/price.py", "tests/test_gross.py",
    }  # fmt: skip
    assert prices.tasks()[key].is_done
    assert (prices.root / "src" / "price.py").read_text() == RIGHT
    assert "+    return cents + 19" in (prices.root / first["git"]["patch"]).read_text()
    assert not prices.dirt()
