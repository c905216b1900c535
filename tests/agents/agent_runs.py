"""What a run must do with any agent; a module for each agent inherits these tests.

A run's clock leaps: where an agent tries again by itself, a minute passes with each second.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.store.events import Event
from tests.actions.run.shop import Done
from tests.agents.conftest import CHECK, AgentProject, StartAgent, write_file
from tests.model_server.faults import Reply, count_occurrences
from tests.written_files import write_files

DONE = Reply("I did it.\n\nStatus: done")
TEXT = "Use me@example.com, @kept.txt, `@kept.txt` and @missing/file.\n\n    @property\n"
Start = Callable[..., AgentProject]


_CLAUDE_RULE = (".claude/settings.json", {"permissions": {"deny": ["Bash(git push *)"]}})
_GEMINI_RULE = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 100
"""
# Where a user forbids an agent to push: the file, and what it has, or the settings to add.
_RULES: dict[str, tuple[str, str | dict[str, Any]]] = {
    "claude": _CLAUDE_RULE,
    "claude-acp": _CLAUDE_RULE,
    "codex": (
        ".codex/rules/default.rules",
        'prefix_rule(pattern=["git", "push"], decision="forbidden")\n',
    ),
    "gemini": (".gemini/policies/mine.toml", _GEMINI_RULE),
    "opencode": (
        ".config/opencode/opencode.json",
        {"permission": {"bash": {"*": "allow", "git push *": "deny"}}},
    ),
}


def change_settings(file: Path, changes: dict[str, Any]) -> None:
    """Set keys in an agent's own settings."""
    settings = json.loads(file.read_text()) if file.exists() else {}
    write_files(file.parent, {file.name: json.dumps(settings | changes)})


def limit_attempts_of_gemini(home: Path) -> None:
    """Have it try a request once; over the protocol it is ten times in minutes, in silence."""
    file = home / ".gemini/settings.json"
    general = json.loads(file.read_text())["general"]
    change_settings(file, {"general": {**general, "maxAttempts": 1}})


def failure(done: Done) -> dict[str, Any]:
    """Why the first attempt failed."""
    found: Event = done.of("attempt_end")[0]["fail"]
    return found


@pytest.mark.agents
@pytest.mark.timeout(600)
class AgentRuns:
    agent: ClassVar[str]
    # Such as variables that make it give up sooner than it would by itself.
    settings: ClassVar[dict[str, Any]] = {}
    reports_tokens_as_they_come: ClassVar[bool] = True
    tokens: ClassVar[tuple[int, int]] = (2000, 100)
    notice: ClassVar[str] = ""  # what it says by itself, before its model does
    limit: ClassVar[str] = "Slow down."  # the service's words
    denial: ClassVar[str] = "git push origin main"
    # An attempt whose check fails, and the first reply of the next one.
    fail_and_fix: ClassVar[tuple[Reply, ...]] = (
        write_file("sum", "wrong"), DONE, Reply("Again.", ": > wrong; echo b > b"),
    )  # fmt: skip

    @pytest.fixture
    def start(self, start_agent: StartAgent, home: Path) -> Callable[..., AgentProject]:
        def start(*replies: Reply, then: Reply = DONE, **environ: str) -> AgentProject:
            made = start_agent(self.agent, chain(replies, repeat(then)), **environ)
            made.shop.configure(harnesses={self.agent: self.settings}, run={"checks": [CHECK]})
            self.prepare(home)
            return made

        return start

    def prepare(self, home: Path) -> None:
        """Change the agent's own settings."""

    def test_an_edit_is_committed_and_its_task_closed(self, start: Start) -> None:
        made = start(write_file("a"), DONE)
        called = made.shop.call("run", "--once", "--trust", "--json")
        assert called.code == 0, called.out + called.err
        assert made.shop.status() == "closed"
        assert made.shop.log()[0].endswith("s-1")
        assert (made.shop.root / "new.txt").read_text() == "a\n"
        events = [json.loads(line) for line in called.out.splitlines()]
        (end,) = (event for event in events if event["ev"] == "attempt_end")
        assert (end["tok"]["in"], end["tok"]["out"]) == self.tokens
        assert end["session"]
        said = (one["text"] for one in events if one["ev"] == "client" and one["type"] == "text")
        assert "".join(said) == f"{self.notice}I write it.\nI did it.\n\nStatus: done\n"

    def test_both_prompts_reach_the_model_once(self, start: Start) -> None:
        made = start()
        made.shop.task("s-2", description=TEXT)
        made.run(task="s-2", iterations=1)
        first = made.requests[0]
        (system,) = made.shop.cub.glob("runs/*/s-2/1/system.md")
        contract = system.read_text().strip().splitlines()[0]
        for text in (contract, "Title: Do s-2", "missing/file", "kept.txt`", "property"):
            assert (text, count_occurrences(first, text)) == (text, 1)

    def test_the_next_attempt_is_told_which_test_fails(self, start: Start) -> None:
        made = start(*self.fail_and_fix)
        done = made.run()
        assert done.outcomes == ["checks_failed", "ok"]
        second = made.requests[len(self.fail_and_fix) - 1]
        assert count_occurrences(second, "tests/test_a.py::sum")

    def test_what_an_agent_writes_into_its_own_folder_ends_no_run(self, start: Start) -> None:
        made = start(*self.fail_and_fix)
        folders = {one.name: one.folder for one in NAMED_PROFILES}
        made.shop.write(f"{folders.get(self.agent) or '.agents'}/commands/x.md", "# X\n")
        made.shop.commit("a command")
        assert made.run().outcomes == ["checks_failed", "ok"]

    def test_an_agent_that_is_stuck_is_believed(self, start: Start) -> None:
        made = start(then=Reply("I tried.\n\n<stuck>no database here</stuck>"))
        done = made.run()
        assert done.outcomes == ["stuck"]
        assert "no database here" in failure(done)["reason"]

    def test_a_limit_is_waited_for(self, start: Start) -> None:
        refused = Reply(status=429, message=self.limit, headers={"retry-after": "3600"})
        made = start(refused, write_file("a"), DONE)
        done = made.run(each=made.hurry)
        assert done.outcomes == ["rate_limited", "ok"]
        assert failure(done)["charge"] is False

    def test_a_denied_command_is_named(
        self, start: Start, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = start(Reply("I publish.", "git push origin main"), Reply("I may not."))
        monkeypatch.setenv("HOME", str(home))  # where this process looks for the user's rules
        self.deny_pushes(home)
        done = made.run(iterations=1)
        assert done.outcomes == ["permission_denied"]
        assert self.denial in failure(done)["reason"]

    def deny_pushes(self, home: Path) -> None:
        if self.agent not in _RULES:
            pytest.skip(f"{self.agent} has no rules for commands")
        path, rule = _RULES[self.agent]
        if isinstance(rule, str):
            write_files(home, {path: rule})
        else:
            change_settings(home / path, rule)

    def test_a_budget_in_tokens_ends_it_in_the_middle(self, start: Start) -> None:
        if not self.reports_tokens_as_they_come:
            pytest.skip(f"{self.agent} reports tokens at its end")
        made = start(then=Reply("More.", "true", input_tokens=1000))
        done = made.run(tokens=2500)
        assert done.outcomes == ["budget"]
        assert len(made.requests) <= 5

    def test_an_agent_that_is_killed_has_failed(self, start: Start) -> None:
        made = start(Reply(hangs=True))
        done = made.run(iterations=1, each=made.kill_when_it_asks)
        # What is left of it may say what became of the rest.
        assert done.outcomes in (["harness_exit"], ["service_failed"])
        assert failure(done)["charge"] is False  # no model has replied
