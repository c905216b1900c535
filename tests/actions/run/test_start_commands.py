"""Context commands of a run: before each attempt, with their output in its prompt."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from cub.actions.run.run_context import RunRefusedError
from cub.errors import CubError
from cub.store.events import Event
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import seen
from tests.cli.commands.run.started import start_run
from tests.conftest import git
from tests.processes.programs import is_running, make_sleep, until

_WORK = 'cat > /dev/null; echo x > "made-$CUB_TASK"'


def _prepare(bakery: Shop) -> None:
    bakery.write(".gitignore", ".cub/\n")
    bakery.commit()
    bakery.task()
    bakery.client(_WORK)


@pytest.fixture
def stocked(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


def named(command: str, **more: Any) -> dict[str, Any]:
    """An item of `context_commands`."""
    return {"name": "Named", "command": command, **more}


def block(text: str, name: str = "Named", kind: str = "Context") -> str:
    return f"--- {kind}: {name} ---\n{text}\n--- End Context ---\n\n"


def test_their_output_is_in_front_of_each_attempt_s_prompt(stocked: Shop) -> None:
    stocked.task("s-2")
    stocked.environ["SECRET_WORD"] = "salt"
    stocked.configure(
        context_commands=[named("ls; printenv SECRET_WORD")], run={"hide_env": ["SECRET_*"]}
    )
    done = stocked.run(exec_lines=("echo '# Loud'; basename $PWD",))
    assert done.outcomes == ["ok", "ok"]
    failed = "Command exited with code 1\nPartial output:\n"
    loud = block(f"\\# Loud\n{stocked.root.name}", "CLI Command 1")
    first = block(f"{failed}kept.txt", kind="Context Error") + loud
    assert stocked.read_prompt(done, 0).startswith(f"{first}## CURRENT TASK\n")
    second = block(f"{failed}kept.txt\nmade-s-1", kind="Context Error") + loud
    assert stocked.read_prompt(done).startswith(f"{second}## CURRENT TASK\n")


def test_they_see_the_files_that_an_attempt_starts_from(stocked: Shop) -> None:
    stocked.write("mine.txt", "not committed")
    done = stocked.run(exec_lines=("ls",))
    assert stocked.read_prompt(done, 0).startswith(block("kept.txt", "CLI Command 1"))


@pytest.mark.parametrize("asked", [{"checks": "true"}, {"no_checks": True}])
def test_a_run_does_not_start_where_one_fails_that_must_not(
    stocked: Shop, asked: dict[str, Any]
) -> None:
    stocked.configure(context_commands=[named("echo flat; exit 4", on_failure="fail")])
    before = seen(stocked)
    tasks = (stocked.cub / "tasks.jsonl").read_bytes()
    with pytest.raises(RunRefusedError, match="'Named' exited with code 4") as refused:
        stocked.run(**asked)
    assert refused.value.where.startswith(".cub/config.yaml:")
    assert "flat" in refused.value.details
    assert (stocked.cub / "tasks.jsonl").read_bytes() == tasks
    assert stocked.ledger() == []
    assert [path.name for path in (stocked.cub / "runs").iterdir()] == [".gitignore"]
    assert seen(stocked) == before
    assert stocked.run(no_context_exec=True, **asked).outcomes == ["ok"]


def test_one_that_fails_later_charges_nothing_and_ends_the_run_in_time(stocked: Shop) -> None:
    stocked.task("s-2")
    stocked.configure(context_commands=[named("test ! -e made-s-1", on_failure="fail")])
    done = stocked.run()
    assert done.outcomes == ["ok", *["context_failed"] * 3]
    assert (done.end["end"], stocked.status("s-2")) == ("machine", "open")
    failure = done.of("attempt_end")[1]["fail"]
    assert not failure["charge"]
    assert failure["reason"].endswith("the context command 'Named' exited with code 1")
    assert stocked.dirt() == ""


@pytest.mark.parametrize("change", ["echo more >> kept.txt", "rm kept.txt", "echo x > new.txt"])
def test_what_one_changes_is_in_no_attempt_and_no_checkout(stocked: Shop, change: str) -> None:
    stocked.task("s-2")
    stocked.configure(context_commands=[named(f"{change}; exit 1")])
    assert stocked.run(checks="true").outcomes == ["ok", "ok"]
    files = git(stocked.root, "ls-files", "--", ":!.cub").split()
    assert {"kept.txt", "made-s-1", "made-s-2"} == {*files} - {".gitignore"}
    assert (git(stocked.root, "show", "HEAD:kept.txt"), stocked.dirt()) == ("kept\n", "")


def test_debug_has_a_notice_for_each_without_secrets(stocked: Shop) -> None:
    token = "ghp_" + "a1B2" * 9
    lines = (f": {token}", "exit 3")
    assert "ran " not in stocked.run(exec_lines=lines, task="s-1").notices
    stocked.task("s-2")
    notices = stocked.run(exec_lines=lines, debug=True).notices
    assert re.search(r"^ran 'exit 3' \(--exec\): exited with code 3, ", notices, re.MULTILINE)
    assert "ran ': [masked]" in notices
    assert token not in notices


def test_commands_that_do_not_run_need_no_trust(stocked: Shop, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(stocked.root.parent / "state"))
    stocked.write(".cub/config.yaml", "context_commands: [{name: A, command: touch made}]\n")
    asked: dict[str, Any] = {"harness": "scripted", "trust": False, "checks": None, "check": "true"}
    stocked.script({"s-1": [{"files": {"bread": "x"}}]})
    with pytest.raises(CubError, match="are not trusted") as refused:
        stocked.run(**asked)
    assert refused.value.details[0].startswith("context_commands.0: ")
    assert stocked.run(no_context_exec=True, exec_lines=("true",), **asked).outcomes == ["ok"]
    assert not (stocked.root / "made").exists()


def test_a_stop_ends_one(stocked: Shop) -> None:
    def starts(event: Event) -> bool:
        return bool(event["ev"] == "run_start")

    began = time.monotonic()
    done = stocked.run(exec_lines=("sleep 60; touch late",), stop_at=starts)
    assert done.end["end"] == "interrupted"
    assert time.monotonic() - began < 20
    assert stocked.status() == "open"


def test_one_is_in_the_attempt(stocked: Shop) -> None:
    done = stocked.run(exec_lines=('"$PYTHON" -m cub context --exec true 2>&1',))
    assert "context commands cannot be run inside an attempt" in stocked.read_prompt(done, 0)


@pytest.mark.thorough
def test_a_kill_ends_one_and_the_next_run_goes_on(stocked: Shop) -> None:
    sleep = make_sleep()
    run = start_run(stocked, "--no-checks", "--json", "--exec", f"exec {sleep}")
    assert until(lambda: is_running(sleep))
    run.process.kill()
    run.communicate()
    assert until(lambda: not is_running(sleep))
    assert stocked.run().outcomes == ["ok"]
