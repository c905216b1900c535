"""What a run itself starts, git with its hooks and filters and `run.notify`, acts for no person."""

from __future__ import annotations

import sys

import pytest

from tests.actions.run.attacked import CHECK, attack_until_killed, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git

_CUB = f"{sys.executable} -m cub"
_TRUST = f"{_CUB} trust >> $LOG 2>&1 || true\n"
_CLOSE = f"{_CUB} task close s-2 >> $LOG 2>&1 || true\n"
_REFUSED = "commands cannot be trusted inside an attempt"


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    made = copy_shop(prepare)
    made.write("lint.sh", "true\n")
    made.commit("lint")
    (made.root.parent / "out").mkdir()
    made.environ["LOG"] = str(made.root.parent / "out/log")
    return made


def _read_log(shop: Shop) -> str:
    return (shop.root.parent / "out/log").read_text()


@pytest.mark.parametrize(
    ("place", "command", "refusal"),
    [
        ("hook", _TRUST, _REFUSED),
        ("hook", _CLOSE, "an attempt at s-1 cannot close s-2"),
        ("filter", _TRUST, _REFUSED),
        ("notify", _TRUST, _REFUSED),
    ],
)
def test_what_the_attempt_planted_there_is_refused(
    shop: Shop, place: str, command: str, refusal: str
) -> None:
    """R01: trust and closing worked in cub's commit, and the next run executed it."""
    shop.task("s-2")
    shop.commit("another task")
    shop.configure(run={"writable": [str(shop.root.parent / "out")]})
    if place == "hook":
        shop.install_hook("pre-commit", "sh ./lint.sh")
    elif place == "filter":
        git(shop.root, "config", "filter.lint.clean", "sh ./lint.sh; cat")
        shop.write(".git/info/attributes", "c.py filter=lint\n")
    else:
        shop.configure(run={"notify": "sh ./lint.sh"})  # of the checkout
    shop.client(f"cat > /dev/null; echo C > c.py; cat > lint.sh <<'X'\n{command}X")
    result = shop.call("run", "--once", "--trust", "--harness", "mine", "--check", CHECK)
    assert result.code == 0, result.err
    assert refusal in _read_log(shop)
    assert shop.status("s-2") == "open"


def test_the_person_may_do_both_while_a_run_is_on(shop: Shop) -> None:
    shop.task("s-2")
    shop.client("cat > /dev/null; echo C > c.py")
    results: list[int] = []

    def act(event: dict[str, object]) -> None:
        if event["ev"] == "check_end" and not results:
            results.append(shop.call("trust").code)
            results.append(shop.call("task", "close", "s-2").code)

    shop.run(checks=CHECK, once=True, each=act)
    assert (results, shop.status("s-2")) == ([0, 0], "closed")


def test_what_an_attempt_added_before_a_kill_is_taken_over(shop: Shop) -> None:
    adds = f"{_CUB} task add 'Found on the way'; {_CUB} task edit s-1 -m 'half done'"
    attack_until_killed(shop, adds)
    done = shop.run(checks=CHECK, label="none")
    assert [event["status"] for event in done.of("recovered")] == ["open"]
    titles = {shop.record(task.id)["title"] for task in shop.tasks()}
    assert titles == {"Do s-1", "Found on the way"}
    assert shop.record()["notes"].endswith("half done")
