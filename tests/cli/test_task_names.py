"""Other names of `cub task claim` and `cub task close`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.store.store_paths import TASKS_FILE
from tests.attempts import enter_attempt
from tests.cli.tasks import ALL, add, put
from tests.conftest import Cub, tree


@pytest.mark.parametrize(
    ("alias", "original", "options"),
    [("start", "claim", ("--as", "ada")), ("done", "close", ("-m", "Brown"))],
)
def test_other_names_do_the_same(
    cub: Cub, project: Path, alias: str, original: str, options: tuple[str, ...]
) -> None:
    put(project, *ALL)
    first = cub("task", original, "shop1.1", *options)
    after = tree(project)[TASKS_FILE]
    put(project, *ALL)
    again = cub("task", alias, "shop1.1", *options)
    assert again == first
    now = tree(project)[TASKS_FILE]
    assert [sorted(json.loads(line)) for line in now.splitlines()] == [
        sorted(json.loads(line)) for line in after.splitlines()
    ]
    assert f"`cub task {alias}` is the same" in " ".join(
        cub("task", original, "--help").out.split()
    )


def test_in_an_attempt_other_names_ask_as_their_originals_do(cub: Cub, project: Path) -> None:
    key = add(cub)
    before = tree(project)
    mailbox = enter_attempt(project, key)
    assert cub("task", "start", key).out == f"{key} is already yours.\n"
    done = cub("task", "done", key, "--reason", "no_change")
    assert done.out.startswith(f"Asked the run to close {key} (no_change)")
    assert json.loads((mailbox / "request.json").read_text())["reason"] == "no_change"
    assert tree(project) == before


def test_other_names_are_not_listed(cub: Cub) -> None:
    shown = cub("task", "--help").out
    assert "\n  claim " in shown
    assert "\n  start " not in shown
