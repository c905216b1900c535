"""Whole runs with the built-in agent, which talks to a model server in this process."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import psutil
import pytest

from cub.agent_profiles.profiles import redirect_agent
from cub.errors import CubError
from cub.model_server.exchange import RecordedRequest, ScriptedCall
from cub.store.events import Event
from tests.actions.run.shop import Done, Shop, surroundings
from tests.examples import keep_few
from tests.fork_server import start_cub
from tests.model_server.faults import ModelServer, Reply, count_occurrences

# Every line of `wrong` is a failing test.
_CHECK = "sed 's/.*/FAILED tests\\/test_a.py::&/' wrong; test ! -s wrong && echo 1 passed"
_DONE = Reply("I did it.\n\nStatus: done")
_MODEL = "openai/gpt-4o"


def write_file(text: str, name: str = "new.txt") -> Reply:
    return Reply("I write it.", calls=[ScriptedCall("Write", {"file_path": name, "content": text})])


@dataclass
class Bakery:
    """A repository with a task, the built-in agent, and the model that it talks to."""

    shop: Shop
    server: ModelServer

    def run(self, **asked: Any) -> Done:
        return self.shop.run(**{"harness": "builtin", "iterations": 1, **asked})

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        return self.server.requests

    def list_processes(self) -> list[psutil.Process]:
        home = self.shop.environ["HOME"]
        return [process for process in psutil.process_iter() if _has_home(process, home)]


def _has_home(process: psutil.Process, home: str) -> bool:
    try:
        is_dead = process.status() == psutil.STATUS_ZOMBIE
        return not is_dead and process.environ().get("HOME") == home
    except psutil.Error:
        return False


Start = Callable[..., Bakery]


@pytest.fixture
def start(bakery: Shop, home: Path) -> Iterator[Start]:
    """Open a bakery whose model gives these replies; no process may be left in the end."""
    with ExitStack() as stack:
        opened: list[Bakery] = []

        def start(*replies: Reply, then: Reply = _DONE) -> Bakery:
            server = stack.enter_context(ModelServer(chain(replies, repeat(then))))
            variables = redirect_agent("builtin", server.url, home).environ
            bakery.environ |= {**variables, "PATH": surroundings(home)["PATH"]}
            bakery.environ["CUB_CODE_MODEL"] = _MODEL
            bakery.set_checks(_CHECK)
            bakery.write("wrong", "")
            bakery.write(".gitignore", ".cub/\n")
            bakery.commit()
            bakery.task()
            opened.append(Bakery(bakery, server))
            return opened[-1]

        yield start
        assert [process.cmdline() for one in opened for process in one.list_processes()] == []


def get_failure(done: Done) -> dict[str, Any]:
    """Why the first attempt failed."""
    failure: dict[str, Any] = done.of("attempt_end")[0]["fail"]
    return failure


def test_an_edit_is_committed_and_its_task_closed(start: Start) -> None:
    made = start(write_file("a\n"), _DONE)
    called = made.shop.call("run", "--once", "--trust", "--json", "--harness", "builtin")
    assert called.code == 0, called.out + called.err
    assert made.shop.status() == "closed"
    assert made.shop.log()[0].endswith("s-1")
    assert (made.shop.root / "new.txt").read_text() == "a\n"
    events = [json.loads(line) for line in called.out.splitlines()]
    (end,) = (event for event in events if event["ev"] == "attempt_end")
    assert (end["tok"]["in"], end["tok"]["out"]) == (2000, 100)
    assert end["usd"] > 0
    assert end["session"]
    said = "".join(one["text"] for one in events if one.get("type") == "text")
    assert said == "I write it.\nI did it.\n\nStatus: done\n"


@pytest.mark.parametrize("model", keep_few(["", "claude-sonnet-4-5"], 1))
def test_the_next_attempt_is_told_which_test_fails(start: Start, model: str) -> None:
    fix = ScriptedCall("Bash", {"command": ": > wrong; echo b > b"})
    made = start(write_file("a\n"), Reply(command="echo sum > wrong"), _DONE, Reply(calls=[fix]))
    done = made.run(iterations=2, model=model or None)
    assert done.outcomes == ["checks_failed", "ok"]
    first, *_, retry = (one for one in made.requests if len(one.texts) == 2)
    assert count_occurrences(first, "tests/test_a.py::sum") == 0
    assert count_occurrences(retry, "tests/test_a.py::sum")


_FAILURES = [
    (Reply("I tried.\n\n<stuck>no database here</stuck>"), "stuck", "no database here", True),
    (Reply(status=401, message="invalid x-api-key"), "auth", "invalid x-api-key", False),
    (Reply(status=403, message="not for you"), "auth", "not for you", False),
    (Reply(status=404, message="model: no-such"), "harness_setup", "model: no-such", False),
    (Reply(status=429, message="Slow down.", headers={"retry-after": "3600"}),
     "rate_limited", "Slow down", False),
    (Reply(body="<html>hello</html>", headers={"retry-after": "0"}), "service_failed", "", False),
    (Reply("All is well."), "no_changes", "", True),
    (Reply(stop_reason="refusal"), "harness_exit", "refused", True),
    (Reply("Half", stop_reason="max_tokens"), "harness_exit", "cut", True),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "failure", "reason", "is_charged"), keep_few(_FAILURES, 2))
def test_the_class_of_each_failure_and_its_charge(
    start: Start, reply: Reply, failure: str, reason: str, is_charged: bool
) -> None:
    made = start(then=reply)
    done = made.run()
    assert done.outcomes == [failure], get_failure(done)
    assert reason in get_failure(done)["reason"]
    assert get_failure(done)["charge"] is is_charged
    assert made.shop.dirt() == ""


def test_a_missing_key_is_known_before_the_run(start: Start) -> None:
    made = start()
    for name in ("CUB_CODE_API_KEY", "CUB_CODE_BASE_URL"):
        del made.shop.environ[name]
    with pytest.raises(CubError, match=r"missing API key for api\.openai\.com") as caught:
        made.run()
    assert "OPENAI_API_KEY" in caught.value.hint
    assert made.shop.status() == "open"


@pytest.mark.thorough  # it asks four times, within 7 s
def test_a_service_that_fails_is_asked_again_and_is_not_charged(start: Start) -> None:
    made = start(then=Reply(status=500, message="boom"))
    done = made.run()
    assert done.outcomes == ["service_failed"]
    assert get_failure(done)["charge"] is False
    assert len(made.requests) == 4


@pytest.mark.thorough
def test_a_short_limit_is_waited_for_by_the_agent(start: Start) -> None:
    limit = Reply(status=429, message="Slow down.", headers={"retry-after": "1"})
    made = start(limit, write_file("a\n"), _DONE)
    assert made.run().outcomes == ["ok"]


@pytest.mark.thorough
def test_a_model_that_does_not_answer_is_given_up(start: Start) -> None:
    made = start(then=Reply(hangs=True))
    assert made.run(idle_timeout="2s", iterations=1).outcomes == ["service_failed"]


@pytest.mark.thorough
def test_an_agent_that_is_killed_has_failed(start: Start) -> None:
    made = start(then=Reply(hangs=True))

    def kill(_: Event) -> None:
        if made.requests:
            for process in made.list_processes():
                process.kill()

    done = made.run(each=kill)
    assert done.outcomes == ["harness_exit"]
    assert get_failure(done)["charge"] is False  # no model has replied


def test_an_interrupt_of_cub_run_ends_the_command_and_all_that_it_started(
    start: Start, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "started")
    made = start(
        Reply("I wait.", f"sleep 600 & setsid sleep 600 & echo > {tmp_path}/started; sleep 600")
    )
    words = ("run", "--once", "--trust", "--harness", "builtin")
    with (tmp_path / "out").open("wb") as out, Path(os.devnull).open("rb") as null:
        descriptors = (null.fileno(), out.fileno(), out.fileno())
        process = start_cub(
            words, cwd=made.shop.root, environ=made.shop.environ, descriptors=descriptors
        )
        (tmp_path / "started").read_text()  # waits until the command runs
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    (end,) = made.shop.ledger("attempt_end")
    assert end["fail"]["class"] == "interrupted"


def test_missing_packages_show_before_the_run(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = start()
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(CubError, match="its packages are not installed"):
        made.run()


def test_a_denied_command_is_named(start: Start) -> None:
    made = start(Reply("I publish.", "git push origin main"), Reply("I may not."))
    made.shop.configure(code={"deny": ["Bash(git push *)"]})
    done = made.run()
    assert done.outcomes == ["permission_denied"]
    assert "git push origin main" in get_failure(done)["reason"]


@pytest.mark.parametrize("budget", keep_few([{"tokens": 2500}, {"usd": 0.006}], 1))
def test_a_budget_ends_it_in_the_middle(start: Start, budget: dict[str, Any]) -> None:
    made = start(then=Reply("More.", "date +%N", input_tokens=1000))
    done = made.run(**budget)
    assert done.outcomes == ["budget"]
    assert len(made.requests) <= 5


@pytest.mark.thorough
def test_the_model_of_the_command_line_wins_over_those_of_the_configuration(start: Start) -> None:
    made = start(then=Reply("All is well."))
    made.shop.configure(
        run={"checks": [_CHECK], "model": "claude-3-5-haiku-latest"},
        harnesses={"builtin": {"model": "openai/gpt-4o"}},
    )
    made.run()
    made.run(model="openai/gpt-4o-mini")
    made.shop.configure(run={"checks": [_CHECK]})
    made.run()
    models = [request.model for request in made.requests]
    assert models == ["claude-3-5-haiku-latest", "gpt-4o-mini", "gpt-4o"]


def test_a_scripted_model_works_in_a_place(start: Start) -> None:
    made = start()
    replies = [{"calls": [{"Write": {"file_path": "new.txt", "content": "a\n"}}]},
               {"text": "Status: done"}]  # fmt: skip
    made.shop.write("replies.yaml", json.dumps({"conversations": [{"replies": replies}]}))
    made.shop.commit("replies")
    done = made.run(model="scripted/replies.yaml")
    assert done.outcomes == ["ok"]
    assert (made.shop.root / "new.txt").read_text() == "a\n"
    assert made.requests == ()


def test_a_run_names_the_model_that_the_key_decides(start: Start) -> None:
    made = start()
    address = made.shop.environ.pop("CUB_CODE_BASE_URL")
    for name in ("CUB_CODE_MODEL", "CUB_CODE_API_KEY"):
        made.shop.environ.pop(name, None)
    made.shop.environ |= {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": address}
    called = made.shop.call("run", "--once", "--trust", "--harness", "builtin")
    assert "with builtin" in called.err + called.out
    assert (called.err + called.out).count("model gpt-6-sol (OPENAI_API_KEY is set)") == 1
