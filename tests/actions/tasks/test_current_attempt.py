"""Who is in an attempt, by its mailbox, and what an agent may put there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.tasks.current_attempt import (
    REQUEST_FILE,
    AttemptMark,
    CurrentAttempt,
    encode_mark,
    find_current_attempt,
    find_mailbox,
    read_request,
    require_no_run,
)
from cub.errors import CubError
from cub.files.signed_state import find_project_state, find_state_folder, write_signed
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture
from tests.actions.tasks.bakery import added, epic
from tests.attempts import enter_attempt
from tests.conftest import Cub, environment

pytestmark = pytest.mark.usefixtures("home")


def test_a_person_is_in_none(project: Path) -> None:
    assert find_current_attempt(project) is None


def test_the_mailbox_tells_the_task_and_takes_the_request(project: Path) -> None:
    mailbox = enter_attempt(project, "s-1")
    attempt = find_current_attempt(project)
    assert attempt
    assert (attempt.task_id, attempt.mailbox) == ("s-1", mailbox)
    assert attempt.request_close("done", "it is baked")
    assert read_request(mailbox) == {"task": "s-1", "reason": "done", "note": "it is baked"}


def test_who_deletes_what_the_mailbox_tells_is_inside_all_the_same(project: Path) -> None:
    for path in enter_attempt(project, "s-1").iterdir():
        path.unlink()
    attempt = find_current_attempt(project)
    assert attempt
    assert attempt.task_id == ""


def _make_large(path: Path) -> None:
    path.touch()
    os.truncate(path, 20 << 30)


@pytest.mark.parametrize(
    "put",
    [
        os.mkfifo,
        Path.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("attempt.json"),
        _make_large,
        lambda path: path.write_text("[]"),
        lambda path: path.write_text("[" * 60_000),
        lambda path: path.write_bytes(b"\377{"),
    ],
)
def test_a_request_that_is_none(project: Path, put: Callable[[Path], object]) -> None:
    mailbox = enter_attempt(project, "s-1")
    put(mailbox / REQUEST_FILE)
    assert read_request(mailbox) == {}


def test_a_keeper_tells_it_where_the_checkout_can_be_seen(project: Path, home: Path) -> None:
    """As where an attempt has no namespace; a project elsewhere has nothing to do with it."""
    mark = encode_mark(AttemptMark(str(project), "s-1", str(home / "mailbox")))
    names = (project.as_posix(), home.as_posix())
    code = (
        "from pathlib import Path; from cub.actions.tasks.current_attempt import *; import sys;"
        "print([bool(find_current_attempt(Path(p))) for p in sys.argv[1:]])"
    )
    argv = ("/bin/sh", "-c", '"$@"; true', "sh", sys.executable, "-c", code, *names)
    spec = CommandSpec(argv, project, environment(home), mark=mark)
    assert b"[True, False]" in run_and_capture(spec, TimeLimits(20, None)).out


def test_no_person_works_below_the_state_folder() -> None:
    """As in a tree whose mailbox an agent without walls has deleted."""
    attempt = find_current_attempt(find_state_folder() / "projects/x/runs/r-1/places/1/tree")
    assert attempt
    assert attempt.task_id == ""


def test_a_request_without_a_copy_of_the_tasks_is_sent_or_fails(tmp_path: Path) -> None:
    attempt = CurrentAttempt("s-1", tmp_path)
    assert attempt.request_close("done", "")
    with pytest.raises(CubError, match="cannot send the request to the run"):
        attempt._replace(mailbox=tmp_path / "request.json").request_close("done", "")


def test_a_new_task_below_an_epic_has_an_id_that_no_other_attempt_gives(project: Path) -> None:
    parent = epic(project)
    assert added(project, parent=parent) == f"{parent}.1"
    enter_attempt(project, "s-1")
    keys = {added(project, parent=parent) for _ in range(3)}
    assert len(keys) == 3
    assert not any(key.startswith(f"{parent}.") for key in keys)


def test_an_attempt_edits_its_own_task_and_those_that_it_has_added(project: Path, cub: Cub) -> None:
    own, other = added(project), added(project, "Other")
    enter_attempt(project, own)
    new = cub("task", "add", "New").out.strip()
    assert cub("task", "edit", own, "--note", "a note").code == 0
    assert cub("task", "edit", new, "--title", "Newer", "--check", "true").code == 0
    assert cub("task", "dep", "add", own, new).code == 0
    for words in (("edit", other, "-p", "0"), ("dep", "add", other, new)):
        done = cub("task", *words)
        assert (done.code, f"an attempt at {own} cannot edit {other}" in done.err) == (1, True)
    assert "cannot change the checks of" in cub("task", "edit", own, "--check", "true").err


def test_to_close_where_the_mailbox_cannot_be_written_closes_the_copy(
    project: Path, cub: Cub
) -> None:
    own = added(project)
    (enter_attempt(project, own) / REQUEST_FILE).mkdir()
    done = cub("task", "close", own, "--reason", "wontfix", "-m", "no oven", "--json")
    assert "Asked the run to close" in done.err
    (task,) = json.loads(done.out)["tasks"]
    assert (task["status"], task["close_reason"]) == ("closed", "wontfix")


def test_only_a_run_that_is_alive_keeps_others_from_the_stores(project: Path) -> None:
    from filelock import FileLock

    state = find_project_state(project) / "runs/r-1"
    write_signed(state / "run.json", {"ended": False, "pid": os.getpid()})
    require_no_run(project)
    with FileLock(state / "lock"), pytest.raises(CubError, match="a run is in progress"):
        require_no_run(project)
    assert not find_mailbox(project).exists()
