"""Which tasks a run may take, and what clients and checks are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cub.errors import CubError
from tests.actions.run.shop import Done, Shop

_MAKE = 'cat > /dev/null; echo x > "made-$CUB_TASK"'


@pytest.fixture
def shelf(bakery: Shop) -> Shop:
    """Tasks of all kinds; s-1 is the first one."""
    bakery.client(_MAKE)
    bakery.task("s-1")
    bakery.task("s-2", labels=["oven", "hot"])
    bakery.task("s-3", issue_type="epic")
    bakery.task("s-3.1", parent="s-3", labels=["oven"])
    bakery.task("s-3.2", parent="s-3")
    bakery.task("s-3.3", parent="s-3", issue_type="epic")
    bakery.task("s-3.3.1", parent="s-3.3")
    bakery.task("s-4", depends_on=["s-1"])
    bakery.task("s-5", status="closed", close_reason="wontfix")
    bakery.task("s-6", status="parked")
    bakery.task("s-7", status="in_progress", assignee="ida", lease=_LEASE)
    return bakery


_LATER = datetime.now(UTC) + timedelta(days=10)
_LEASE = {"host": "elsewhere", "expires": _LATER.isoformat().replace("+00:00", "Z")}


def _taken(done: Done) -> list[str]:
    return [event["task"] for event in done.of("attempt_end")]


def test_one_task_by_its_id_or_its_end(shelf: Shop) -> None:
    done = shelf.run(task="s-2")
    assert (_taken(done), done.end["end"]) == (["s-2"], "done")
    assert shelf.status("s-1") == "open"


def test_a_task_that_fails_is_tried_as_often_as_others(shelf: Shop) -> None:
    assert _taken(shelf.run_agent("exit 1", task="s-2")) == ["s-2"] * 3
    assert shelf.status("s-2") == "parked"


@pytest.mark.parametrize(
    ("key", "says", "hint"),
    [
        ("s-3", "is an epic", "--epic s-3"),
        ("s-4", "waits for s-1", "first"),
        ("s-5", r"is closed \(wontfix\)", "reopen s-5"),
        ("s-6", "is parked", "reopen s-6"),
        ("s-7", "is in_progress by ida", "reopen s-7"),
        ("s-99", "s-99", ""),
    ],
)
def test_a_task_that_can_not_be_begun_is_refused(
    shelf: Shop, key: str, says: str, hint: str
) -> None:
    with pytest.raises(CubError, match=says) as refused:
        shelf.run(task=key)
    assert hint in refused.value.hint
    assert shelf.ledger() == []


def test_a_closed_task_is_not_ready_because_a_lease_lapsed(shelf: Shop) -> None:
    shelf.task("s-8", status="in_progress", lease={"host": "x", "expires": "2020-01-01T00:00:00Z"})
    assert _taken(shelf.run(task="s-8")) == ["s-8"]


def test_the_tasks_of_an_epic_and_of_those_inside(shelf: Shop) -> None:
    done = shelf.run(epic="s-3")
    assert _taken(done) == ["s-3.1", "s-3.2", "s-3.3.1"]
    assert shelf.status("s-3") == "closed"
    assert shelf.status("s-1") == "open"


def test_an_epic_that_there_is_not_is_refused(shelf: Shop) -> None:
    with pytest.raises(CubError, match="s-99"):
        shelf.run(epic="s-99")


def test_the_tasks_with_a_label(shelf: Shop) -> None:
    assert _taken(shelf.run(label="oven")) == ["s-2", "s-3.1"]


def test_a_label_within_an_epic(shelf: Shop) -> None:
    assert _taken(shelf.run(label="oven", epic="s-3")) == ["s-3.1"]


def test_a_label_that_nothing_has(shelf: Shop) -> None:
    assert shelf.run(label="cold").end["end"] == "nothing_ready"


@pytest.mark.parametrize("names", ["nobody", "mine,nobody", "scripted:none.yaml"])
def test_a_client_that_there_is_not_is_refused_before_anything(shelf: Shop, names: str) -> None:
    with pytest.raises(CubError):
        shelf.run(harness=names)
    assert shelf.ledger() == []


def test_auto_is_all_clients_of_the_configuration_in_their_order(shelf: Shop) -> None:
    shelf.client("exit 127", "another")
    done = shelf.run(harness="auto", once=True)
    assert done.of("run_start")[0]["harness"] == "mine,another"


def _given(shop: Shop, **config: Any) -> dict[str, str]:
    """The environment that a client, and a check, have."""
    out = shop.root.parent / "out"
    out.mkdir()
    shop.client(f"{_MAKE}; env > {out}/client")
    shop.configure(run={"writable": [out.as_posix()], **config})
    done = shop.run(task="s-1", checks=f"env > {out}/check")
    assert done.outcomes == ["ok"]
    told = {name: (out / name).read_text() for name in ("client", "check")}
    assert ("CUB_TASK=s-1\n" in told["client"], "CUB_TASK" in told["check"]) == (True, False)
    return told


def test_hidden_variables_reach_neither_client_nor_check(shelf: Shop) -> None:
    shelf.environ |= {"AWS_KEY": "secret", "AWS_REGION": "secret", "SHOWN": "shown"}
    told = _given(shelf, hide_env=["AWS_*"])
    assert all("secret" not in text and "SHOWN=shown" in text for text in told.values())


def test_hidden_variables_do_not_reach_hooks_either(shelf: Shop) -> None:
    shelf.environ |= {"AWS_KEY": "secret"}
    shelf.install_hook("pre-commit", f"env > {shelf.root.parent}/out/hook")
    _given(shelf, hide_env=["AWS_*"])
    assert "secret" not in (shelf.root.parent / "out/hook").read_text()


def test_what_a_client_is_told_of_an_outer_attempt_is_its_own(shelf: Shop) -> None:
    shelf.environ |= {"CUB_RUN": "outer", "CUB_AGENT": "outer"}
    told = _given(shelf)
    assert "outer" not in told["client"] + told["check"]
    assert "CUB_AGENT=mine" in told["client"]
    assert f"CUB_ROOT={shelf.root}" in told["client"]


def test_a_client_is_started_with_the_wrapper(shelf: Shop) -> None:
    told = _given(shelf, wrap=["env", "WRAPPED=yes"])
    assert "WRAPPED=yes" in told["client"]
    assert "WRAPPED" not in told["check"]


def test_a_client_has_variables_of_its_own(shelf: Shop) -> None:
    shelf.client('cat > /dev/null; test "$OVEN" = hot7 && touch made', env={"OVEN": "hot7"})
    assert shelf.run(task="s-1").outcomes == ["ok"]


def _arguments(shop: Shop, *argv: str, **asked: Any) -> list[str]:
    shell = 'cat > /dev/null; touch made; printf "%s\\n" "$@" > argv.txt'
    words = ["/bin/sh", "-c", shell, "client", *argv]
    known = {"mine": {"argv": words}}
    shop.configure(harnesses=known)
    assert shop.run(task="s-1", **asked).outcomes == ["ok"]
    return (shop.root / "argv.txt").read_text().splitlines()


def test_words_in_braces_are_filled_in(shelf: Shop) -> None:
    shelf.configure(run={"permissions": "bypass"})
    words = ("--model", "{model}", "-p={permissions}", "{task}/{attempt}", "{{task}}", "{other}")
    assert _arguments(shelf, *words, model="large") == [
        "--model", "large", "-p=bypass", "s-1/1", "{task}", "{other}",
    ]  # fmt: skip
    assert shelf.ledger("attempt_start")[0]["model"] == "large"
    assert shelf.ledger("run_start")[0]["permissions"] == "bypass"


def test_without_a_model_its_option_is_left_out(shelf: Shop) -> None:
    assert _arguments(shelf, "--model", "{model}", "{permissions}") == ["auto"]
    assert "model" not in shelf.ledger("attempt_start")[0]


def test_the_model_of_the_configuration_is_taken(shelf: Shop) -> None:
    shelf.configure(run={"model": "small"})
    assert _arguments(shelf, "-m", "{model}") == ["-m", "small"]


def test_cub_is_in_the_path_of_a_client(shelf: Shop) -> None:
    shelf.environ["PATH"] = "/usr/bin:/bin"
    assert shelf.run_agent("cub task show s-1 > shown.txt", task="s-1").outcomes == ["ok"]
    assert "Do s-1" in (shelf.root / "shown.txt").read_text()
