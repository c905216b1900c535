"""Commands with `--json` in projects of many kinds: for each schema, all that it describes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cub.actions.run.check_comparison import CheckComparison, checks_to_json
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.run_folders import START_FILE, RunFolder
from cub.actions.run.run_status import AttemptRow, RunStatus
from cub.agent.conversation import (
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.session_file import SessionSummary, SessionWriter
from cub.agent.session_store import find_session_store
from cub.checks.failing_items import FailingItem
from cub.cli.json_output import review_to_json
from cub.store.ledger import Ledger
from tests.actions.agents.fake_agents import install_fake_claude
from tests.actions.run.shop import Shop, shop
from tests.cli.reviewed import FULL
from tests.cli.standing import NEWER, NO_BEGIN
from tests.cli.tasks import ALL, BREAD, put, put_events
from tests.command_line import call_cub, call_for_json
from tests.conftest import git

HEAT, BAKE = "b-shop1.1", "b-shop1.2"
Values = list[tuple[str, Any]]


@dataclass
class Scene:
    """Projects, and what commands have printed in them: with which words, and which schema it is
    to follow.
    """

    folder: Path
    home: Path
    values: Values = field(default_factory=list)
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def project(self, name: str = "project", **files: str) -> Path:
        """A repository with these files."""
        root = self.folder / name
        root.mkdir()
        git(root, "init", "-q")
        for path, text in files.items():
            write(root, path, text)
        return root.resolve()

    def json(self, schema: str, root: Path, *words: str, code: int = 0) -> Any:
        """The value that a command prints, which is to follow a schema."""
        value = call_for_json(root, *words, code=code)
        self.take(schema, words, value)
        return value

    def lines(self, schema: str, root: Path, *words: str, code: int = 0) -> list[Any]:
        """The values that a command prints, one a line."""
        done = call_cub([*words, "--json"], cwd=root)
        assert done.code == code, done
        values = [json.loads(line) for line in done.out.splitlines()]
        self.take(schema, words, *values)
        return values

    def take(self, schema: str, words: tuple[str, ...], *values: Any) -> None:
        """Remember what was printed."""
        self.values += [(schema, value) for value in values]
        self.calls.append((schema, words))


class Story(NamedTuple):
    """What is done in a scene, and the schemas of which it shows every key: each with those of the
    definitions that it shares with others of which it does so, too.
    """

    tell: Callable[[Scene], None]
    schemas: dict[str, frozenset[str]]


def write(root: Path, path: str, text: str | bytes) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def _files(scene: Scene) -> None:
    """Plans, tables and errors of projects before, with and after cub."""
    root = scene.project()
    write(root, ".cub/config.yaml", "mapp: 1\n")
    scene.json("plan", root, "init")
    scene.json("status", root, "status")
    assert call_cub(["init"], cwd=root).code == 0
    scene.json("plan", root, "init")
    scene.json("plan", root, "update")
    scene.json("plan", root, "diff")
    scene.json("plan", root, "remove")
    _leave_patch(root)
    scene.json("plan", root, "run", "apply", "gone")
    scene.json("status", root, "status")
    spoilt = scene.project("spoilt")
    write(spoilt, "AGENTS.md", NO_BEGIN)
    scene.json("repair", spoilt, "repair", code=1)
    scene.json("plan", spoilt, "repair", "--apply", "1")
    write(spoilt, "CLAUDE.md", NEWER)
    scene.json("error", spoilt, "init", code=1)
    scene.json("status", spoilt, "status")
    scene.json("repair", root, "repair")
    long = scene.project("long", **{"AGENTS.md": "- Bake.\n" * 5_000})
    assert call_cub(["init"], cwd=long).code == 0
    scene.json("status", long, "status")
    bare = scene.project("bare")
    places = [str(place) for place in (root, bare, spoilt)]
    write(bare, ".cub/config.yaml", "placement: 7\n")
    scene.json("projects", root, "status", *places, code=1)
    scene.json("projects", root, "update", "--check", *places, code=1)


def _conflict(scene: Scene) -> None:
    """What is offered in the middle of a merge."""
    root = scene.project()
    write(root, "AGENTS.md", "# Bakery\n")
    assert call_cub(["init"], cwd=root).code == 0
    text = (root / "AGENTS.md").read_text()
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("- Claim:"))
    mine, theirs = lines[at].replace("Claim", "Take"), lines[at].replace("Claim", "Get")
    lines[at] = f"<<<<<<< HEAD\n{mine}=======\n{theirs}>>>>>>> other\n"
    write(root, "AGENTS.md", "".join(lines))
    write(root, ".cub/config.yaml", "mapp: 1\n")
    found = scene.json("repair", root, "repair", code=1)
    assert found["choices"]
    scene.json("plan", root, "repair", "--apply", "1")
    scene.json("error", root, "update", code=1)
    scene.json("status", root, "status")


MAPPED = {
    "pyproject.toml": '[project]\nname = "bakery"\ndescription = "Counts bread."\n'
    '[project.scripts]\nbakery = "bakery.bread:dozens"\n[tool.ruff]\n',
    "README.md": "# Bakery\n",
    "bakery/__init__.py": "from bakery.bread import dozens\n",
    "bakery/bread.py": "def dozens(loaves: int) -> int:\n    return loaves\n",
    "bakery/photo.py": "\0",
    ".cub/tasks.jsonl": '{"id": "t-1"}\n',
    ".cub/ledger.jsonl": '{"ev": "attempt_end", "ok": true}\n',
}


def _map(scene: Scene) -> None:
    scene.json("map", scene.project(), "map")
    root = scene.project("bakery", **MAPPED)
    scene.json("map", root, "map")
    scene.json("map", root, "map", "bakery")


def _review(scene: Scene) -> None:
    """Commits that touch a section by hand, somebody's own text, a mode, and what executes."""
    root = scene.project()
    agents = write(root, "AGENTS.md", "# Bakery\n")
    write(root, "CLAUDE.md", "")
    call_cub(["init"], cwd=root)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Add cub")
    edited = agents.read_text().replace("- Claim:", "- Never claim:")
    agents.write_text(f"{edited}\nPrices are in cents.\n")
    write(root, ".claude/settings.json", "{}\n")
    (root / "CLAUDE.md").chmod(0o755)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Change")
    scene.json("review", root, "diff", "HEAD~1..HEAD", code=1)
    agents.write_text(edited.replace("<!-- END", "<!-- AND"))
    git(root, "commit", "-q", "-a", "-m", "Break it")
    scene.json("review", root, "diff", "HEAD~1", code=1)
    scene.json("review", root, "diff", "HEAD")
    told_of = json.dumps(review_to_json(FULL, root))  # with a step of versions
    scene.take("review", (), json.loads(told_of))


def _configuration(scene: Scene) -> None:
    root = scene.project()
    scene.json("settings", root, "config", "show")
    write(
        root,
        ".cub/config.yaml",
        "mapp: 1\nplacement: top\nrun: {checks: [make test], budget: {usd: 1.5}}\n"
        "profiles: {fast: {run: {model: small}}}\nharnesses: {mine: {argv: [a]}}\n",
    )
    scene.json("settings", root, "config", "show")
    scene.json("settings", root, "config", "show", "--profile", "fast")
    for key in ("placement", "run.checks", "run.budget", "run.model", "harnesses.mine"):
        scene.json("setting", root, "config", "get", key)
    scene.json("error", root, "config", "get", "zebra", code=2)


def _tasks(scene: Scene) -> None:
    """Tasks from none to closed, with all that may be wrong with them."""
    root = scene.project()
    for words in (("list",), ("ready",)):
        scene.json("tasks", root, "task", *words)
    scene.json("task-stats", root, "task", "stats")
    scene.json("findings", root, "doctor", "--select", "D6")
    put(root, *ALL)
    sell = ("Sell bread", "--check", "make", "-l", "shop")
    added = scene.json("tasks", root, "task", "add", *sell)["tasks"][0]["id"]
    scene.json("tasks", root, "task", "edit", BAKE, "-p", "1", "-m", "Soon")
    scene.json("tasks", root, "task", "dep", "add", BAKE, "b-clean")
    scene.json("tasks", root, "task", "dep", "remove", BAKE, "b-clean")
    listed = scene.json("tasks", root, "task", "list")
    assert {one["id"]: one["waits_for"] for one in listed["tasks"]}[BAKE] == [HEAT]
    for verb in ("claim", "park", "reopen", "close", "reopen", "start", "done"):
        scene.json("tasks", root, "task", verb, HEAT)
    deleted = scene.json("tasks", root, "task", "delete", added, "--yes")
    assert deleted["tasks"][0]["deleted_at"]
    scene.json("tasks", root, "task", "ready", "--limit", "1")
    for key in ("b-shop1", BAKE, HEAT):
        scene.json("task", root, "task", "show", key)
    scene.json("task-stats", root, "task", "stats")
    scene.json("error", root, "task", "show", "zebra", code=1)
    _odd_tasks(scene)
    _exchange(scene)


def _odd_tasks(scene: Scene) -> None:
    gone = {"id": "b-gone", "depends_on": ["b-none", "b-gone"]}
    lease = {"run": "r1", "pid": 1, "host": "h", "expires": "2000-01-01T00:00:00.000Z"}
    held = {"id": "b-held", "status": "in_progress", "assignee": "ida", "lease": lease}
    late = {"id": "b-held", "created_at": "2026-02-01T00:00:00.000Z"}
    root = scene.project("odd")
    put(root, gone, held, late, "no task", {"id": "b-back", "status": "closed"})
    scene.json("tasks", root, "task", "list")
    scene.json("tasks", root, "task", "reopen", "b-back")
    scene.json("task", root, "task", "show", "b-gone")
    put(root, gone, held, late, "no task")
    scene.json("findings", root, "doctor", code=1)


def _exchange(scene: Scene) -> None:
    root = scene.project("exchanged")
    stories = [
        {"id": "US-1", "title": "Bake", "priority": 1, "passes": False},
        {"id": "US-2", "title": "Sell", "priority": 2, "passes": True, "notes": ""},
    ]
    write(root, "prd.json", json.dumps({"project": "b", "userStories": stories}))
    scene.json("import", root, "task", "import", str(root / "prd.json"), "--dry-run")
    scene.json("import", root, "task", "import", str(root / "prd.json"))
    scene.json("tasks", root, "task", "list")
    stories[0] |= {"title": "Bake bread"}
    stories[1] |= {"passes": False}
    put(root, *(root / ".cub/tasks.jsonl").read_text().splitlines(), "no task")
    write(root, "prd.json", json.dumps({"project": "b", "userStories": stories}))
    scene.json("import", root, "task", "import", str(root / "prd.json"))
    for name in ("jsonl", "markdown"):
        found = scene.json("export", root, "task", "export", "--format", name)
        assert found["data"] == call_cub(["task", "export", "--format", name], cwd=root).out
    put(root, *(root / ".cub/tasks.jsonl").read_text().splitlines(), "no task")
    found = scene.json("export", root, "task", "export", "--output", str(root / "out.jsonl"))
    assert (found["data"], (root / "out.jsonl").exists()) == (None, True)
    scene.json("error", root, "task", "export", "--format", "zebra", code=2)


def _prompt(scene: Scene) -> None:
    root = scene.project()
    more = [{"id": f"b-m{n:03}", "title": "Loaf", "parent": "b-shop1"} for n in range(60)]
    put(root, *ALL, *more, "no task")
    scene.json("prompt", root, "prompt", "--system")
    found = scene.json("prompt", root, "prompt", HEAT)
    put(root, *ALL, *more)
    assert found["prompt"] == call_cub(["prompt", HEAT], cwd=root).out
    assert found["system"] == call_cub(["prompt", "--system"], cwd=root).out
    tight = scene.json("prompt", root, "prompt", HEAT, "--tokens", "1", "--explain")
    assert (tight["over"], tight["budget"], found["budget"]) == (True, 1, 4000)
    scene.json("error", root, "prompt", code=2)


def _context(scene: Scene) -> None:
    """Rules that are in and out, a task file, and commands that fail."""
    root = scene.project(
        **{
            "AGENTS.md": "# Bakery\n",
            ".agents/rules/go.md": "---\nlanguages: go\n---\nRun gofmt.\n",
            ".agents/tasks/fix.md": "Fix issue ${issue}.\n",
            ".cub/config.yaml": "context_commands: [{name: a, command: kill -9 $$}]\n",
        }
    )
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    words = ("context", "fix", "-s", "languages=python", "--trust", "--exec", "exit 3")
    found = scene.json("context", root, *words)
    assert found["context"] == call_cub(words, cwd=root).out
    assert [row["exit"] for row in found["commands"]] == [-9, 3]
    planned = scene.json("context", root, *words, "--explain")
    assert (planned["commands"], planned["task"]) == ([], ".agents/tasks/fix.md")
    scene.json("context", root, "context", "--prompt", "Why?", "--no-context-exec")
    scene.json("error", root, "context", "zebra", code=1)
    write(root, ".agents/tasks/gone.md", "---\nstage: [\n---\n")
    write(
        scene.home,
        ".agents/tasks/plan.md",
        "---\nstage: [plan, 2]\nselectors: {languages: go}\n---\n${a:-b c} ${d:?needed} ${a}\n",
    )
    fix, plan = scene.json("task-files", root, "context", "--list")["files"]
    assert (fix["task"], fix["file"], fix["scope"]) == ("fix", ".agents/tasks/fix.md", "project")
    assert fix["parameters"] == [{"name": "issue", "default": None, "required": False}]
    assert plan["scope"] == "user"
    assert plan["fields"] == {"stage": ["plan", "2"]}
    assert plan["selectors"] == {"languages": ["go"]}
    assert [tuple(one.values()) for one in plan["parameters"]] == [
        ("a", "b c", False),
        ("d", None, True),
    ]


def _agents(scene: Scene) -> None:
    """Agents that are installed, or not, and what reaches a model from one."""
    root = scene.project(
        **{
            "AGENTS.md": "Bake bread before six in the morning.\n",
            "ovens/AGENTS.md": "Clean the ovens.\n",
            ".mcp.json": "{}\n",
            ".cub/config.yaml": "mapp: 1\nharnesses: {mine: {argv: [mine]}}\n",
        }
    )
    write(scene.home, ".claude/CLAUDE.md", "Be brief.\n")
    with pytest.MonkeyPatch.context() as here:
        programs = install_fake_claude(scene.folder / "programs")
        here.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        claude, codex, *_, own, mine = scene.json("agents", root, "agents")["agents"]
        assert [claude["installed"], codex["installed"]] == [True, False]
        assert (mine["tokens"], mine["install"]) == (None, None)
        assert (own["name"], own["install"].rstrip("'")[-7:]) == ("builtin", "[agent]")
        (seen,) = scene.json("agent-proofs", root, "agents", "prove", "claude")["agents"]
        assert (seen["name"], seen["ok"], seen["left_out"]) == ("claude", True, [".mcp.json"])
        missing = scene.json("agent-proofs", root, "agents", "prove", "codex", code=1)
        assert missing["agents"][0]["problem"]


CONVERSATION = """\
conversations:
  - replies:
      - calls: [{Bash: {command: make}}]
        usage: {input: 1200, output: 30}
      - text: Nothing was made.
"""


def _code(scene: Scene) -> None:
    """A session in which a call is not allowed, and what is left of it and of another one."""
    root = scene.project()
    write(root, "replies.yaml", CONVERSATION)
    words = ("code", "-p", "Make it.", "--model", "scripted/replies.yaml")
    done = call_cub([*words, "--output-format", "json"], cwd=root)
    scene.take("code", words, json.loads(done.out))
    key = json.loads(done.out)["session"]
    store = find_session_store(root)
    writer = SessionWriter(store.folder / "other.jsonl")
    call = ToolCall("c", "Read", {}, "not JSON", {"gemini": {}})
    result = ToolResult("c", (TextBlock("no"), ImageBlock("image/png", "")), is_error=True)
    reasoning = ReasoningBlock("deepseek", "Hm.", {"reasoning_content": "Hm."})
    blocks = (TextBlock("I look."), ImageBlock("image/png", ""), reasoning, call)
    writer.save([Message("assistant", blocks), Message("user", (result,))], SessionSummary("other"))
    writer.close()
    write(store.folder, "broken.jsonl", "{}\n")
    listed = scene.json("sessions", root, "code", "sessions")
    assert sorted(row["id"] for row in listed["sessions"]) == sorted([key, "other"])
    scene.json("sessions", root, "code", "sessions", "list")
    scene.json("session", root, "code", "sessions", "show", key)
    scene.json("session", root, "code", "sessions", "show", "other")
    scene.json("deleted-sessions", root, "code", "sessions", "delete", key, "--yes")


def _trust(scene: Scene) -> None:
    root = scene.project()
    nothing = scene.json("trust", root, "trust", "--show")
    assert (nothing["trusted"], nothing["config"], nothing["checks"]) == (True, [], [])
    write(root, "Makefile", "test:\n\ttrue\n")
    proposed = scene.json("trust", root, "trust", "--show")["proposed"]
    assert proposed == [{"command": "make test", "source": "Makefile", "trusted": False}]
    write(root, ".cub/config.yaml", "run: {checks: [make test]}\n")
    put(root, *ALL)
    shown = scene.json("trust", root, "trust", "--show")
    agreed = scene.json("trust", root, "trust")
    assert (shown["trusted"], agreed["trusted"]) == (False, True)
    put(root, *ALL, {**BREAD, "id": "b-new", "checks": ["make bread", "make heat"]})
    partly = scene.json("trust", root, "trust", "--show")
    assert partly["config"] == [{"key": "run.checks", "value": ["make test"], "trusted": True}]
    assert partly["checks"] == [
        {"command": "make heat", "tasks": [HEAT, "b-new"], "trusted": True},
        {"command": "make bread", "tasks": ["b-new"], "trusted": False},
    ]
    write(root, ".agents/tasks/mix.md", "---\nexpand_commands: true\n---\n!`make flour`\n")
    scripts = scene.json("trust", root, "trust", "--show")["scripts"]
    command = {"kind": "command", "source": ".agents/tasks/mix.md", "command": "make flour"}
    assert scripts == [{**command, "trusted": False}]
    write(root, ".mcp.json", "{}")
    partly["files"] = scene.json("trust", root, "trust", "--show")["files"]
    assert partly["files"] == [{"path": ".mcp.json", "trusted": False}]
    partly["scripts"] = scripts
    assert scene.json("trust", root, "trust", "--revoke") == {
        **partly,
        "trusted": False,
        "config": [{**row, "trusted": False} for row in partly["config"]],
        "checks": [{**row, "trusted": False} for row in partly["checks"]],
    }


SAID = """\
All is well.
<promise>COMPLETE</promise>

Status: done
Summary: bread is counted
Tried: a guess; it was wrong
Next: sell it
"""
EVENTS: list[dict[str, Any]] = [
    {"type": "text", "text": "I count."},
    {"type": "tool", "text": "edit bread.py"},
    {"type": "usage", "input": 1200, "output": 300, "cache_read": 5, "cache_write": 7},
    {"type": "cost", "usd": 0.01},
    {"type": "session", "id": "c-1"},
    {"type": "denied", "text": "rm -r"},
    {"type": "limit", "text": "wait"},
    {"type": "result", "text": SAID, "failed": False},
]
NO_TEST = "echo Ran 0 tests in 0.0s"
RED = "echo shop.py:7:1: F821 old; echo 1 failed, 2 passed in 0.1s; exit 1"
SETTINGS = {"permissions": "bypass", "max_attempts": 1, "model": "small"}
# It tells each of them, and makes a file.
WORKS = 'cat > /dev/null; echo bread >> bread.txt; cat "$HOME/said.jsonl"'
CLAUDE = """#!/bin/sh
if [ "$1" = --version ]; then echo 2.1.330; exit; fi
cat > /dev/null; echo rolls >> rolls.txt
echo '{"type": "result", "subtype": "success", "is_error": false, "result": "Done."}'
"""
STUCK = """
cat > /dev/null; echo half > half.txt; echo 'I need more flour.'; echo
echo '<stuck>the price list is missing</stuck>'
"""
LIMITED = """
cat > /dev/null
if [ -e "$HOME/limited" ]; then echo done > done.txt; exit; fi
touch "$HOME/limited"; echo 'Rate limit reached. Try again in 20s.' >&2; exit 1
"""


def _runs(scene: Scene) -> None:
    """Runs that succeed, fail, are over their budget, wait, and were killed."""
    scene.lines("run-event", scene.project("idle"), "run")  # no task, and no agent
    place = _shop(scene)
    scene.json("runs", place.root, "run", "status")
    scene.json("events", place.root, "ledger", "list")
    scene.json("ledger-stats", place.root, "ledger", "stats")
    run = ("run", "--trust", "--harness")
    scene.json(
        "run-preview",
        place.root,
        *run,
        "works,claude,codex,gone",
        "--dry-run",
        "--check",
        "true",
        "--exec",
        "true",
    )
    scene.json(
        "run-preview", place.root, *run, "works", "Sell bread", "--dry-run", "--check", "true"
    )
    budget = ("--budget-usd", "0.001", "--check", "test ! -e bread.txt")
    scene.lines("run-event", place.root, *run, "works", *budget, code=1)
    scene.json("runs", place.root, "run", "status")  # of the only one that there is
    status = RunStatus(run="r", running={"s-1": AttemptRow(harness="works", task="s-1")})
    runs = [{**status.to_json(), "alive": True}]
    scene.take("runs", (), {"v": 1, "root": place.root.as_posix(), "runs": runs})
    scene.lines("run-event", place.root, *run, "locked", "--no-checks", code=1)
    scene.lines("run-event", place.root, *run, "auto", "--task", "s-2", "--no-checks", "--once")
    scene.lines("run-event", place.root, *run, "stuck", "--once", "--no-checks", code=1)
    place.configure(run={**SETTINGS, "checks": [NO_TEST]})
    unjudged = ("works", "--task", "s-5", "--once")
    scene.lines("run-event", place.root, *run, *unjudged, code=1)
    _work_apart(scene, place, *run, *unjudged)
    place.configure(run={**SETTINGS, "max_attempts": 2})
    burnt = ("--task", "s-6", "--check", "test ! -e burnt.txt")
    scene.lines("run-event", place.root, *run, "burns", *burnt, code=1)
    _leave_known_failures(scene, place, *run)
    place.configure(run={**SETTINGS, "accept_unverified": True})
    _killed(place)
    left = scene.lines("run-event", place.root, *run, "works", "--once", "--label", "later")
    why = "its attempt failed by checks_failed"
    assert left[-1]["left_parked"]["tasks"] == [{"id": "s-1", "title": "Do s-1", "why": why}]
    waited = place.run(harness="limited", iterations=2, no_checks=True)
    events = [{"v": 1, **event} for event in waited.events if event["ev"] != "tick"]
    scene.take("run-event", (), *events)
    _ledger(scene, place)


def _leave_known_failures(scene: Scene, place: Shop, *words: str) -> None:
    """Accept work that leaves a failure from before, with a check of the task and without one."""
    place.configure(run={**SETTINGS, "checks": [RED]})
    place.task("s-8", checks=["true"])
    place.task("s-9")
    scene.lines("run-event", place.root, *words, "works", "--task", "s-8")
    excused = ("--task", "s-9", "--excuse-known-failures")
    scene.lines("run-event", place.root, *words, "works", *excused)


def _work_apart(scene: Scene, place: Shop, *words: str) -> None:
    """Commit to a branch that is not checked out."""
    place.configure(run={**SETTINGS, "accept_unverified": True, "checks": [NO_TEST]})
    scene.lines("run-event", place.root, *words, "--branch", "night", "--jobs", "2")
    place.configure(run={**SETTINGS, "accept_unverified": True})


def _shop(scene: Scene) -> Shop:
    """Six tasks, and eight clients, of which one is not there."""
    place = shop(scene.project(), scene.home)
    for agent in ("claude", "codex"):
        write(scene.home, f"bin/{agent}", CLAUDE)
        (scene.home / "bin" / agent).chmod(0o755)
    path = {"PATH": f"{scene.home}/bin:/usr/bin:/bin", "IS_SANDBOX": "1"}
    place.configure(harnesses={"claude": {"env": path}, "codex": {"env": path}})
    place.write("AGENTS.md", "Bake.\n" * 10_000)  # more than Codex reads
    place.client(WORKS, "works")
    place.client(STUCK, "stuck")
    place.client(LIMITED, "limited")
    place.client("echo 'Invalid API key' >&2; exit 1", "locked")
    place.client("cat > /dev/null; echo burnt > burnt.txt", "burns")
    place.client("", "gone", argv=["no-such-client"])
    place.configure(run=SETTINGS)
    place.task("s-1", labels=["later"])
    for number in range(2, 7):
        place.task(f"s-{number}")
    place.commit()
    write(scene.home, "said.jsonl", "".join(json.dumps(one) + "\n" for one in EVENTS))
    return place


def _killed(place: Shop) -> None:
    """What a run leaves that is killed between a claim and its end."""
    folder = RunFolder(place.root, "20260101-080000-kill")
    folder.write_run_facts({"run": folder.id, "folder": place.root.as_posix(), "ended": False})
    start = {
        "task": "s-3", "n": 9, "harness": "works", "base": ["", "", "", ""], "charged": True,
        "place": os.devnull, "kind": ["aside", "none", ""], "excluded": [],
    }  # fmt: skip
    folder.attempt_folder("s-3", 9).write_state(START_FILE, start)


def _ledger(scene: Scene, place: Shop) -> None:
    """The events of these runs, and some that take long to come about."""
    slow = CheckComparison(CheckResult("make slow", None, cause="wall"), is_ok=False)
    item = FailingItem("test", "test_loud", "too loud")
    loud = CheckComparison(
        CheckResult("make loud", 1, 1.5, "", (item,), "flour, " * 200), is_ok=False
    )
    long = {"ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "task": "s-1", "n": 9}
    Ledger(place.root).append_events(
        {**long, "ok": False, "checks": checks_to_json([slow])},
        {**long, "ok": False, "checks": checks_to_json([loud] * 10)},
    )
    assert (
        call_cub(["task", "close", "s-4", "-r", "wontfix", "-m", "No."], cwd=place.root).code == 0
    )
    scene.lines("event", place.root, "ledger", "tail", "-n", "1000")
    scene.json("events", place.root, "ledger", "list")
    for key in ("s-1", "s-2"):
        scene.json("task-events", place.root, "ledger", "show", key)
    scene.json("ledger-stats", place.root, "ledger", "stats")
    scene.json("error", place.root, "ledger", "show", "zebra", code=1)
    old = scene.project("old")
    ends = [one for name, one in scene.values if name == "run-event" and one["ev"] == "run_end"]
    zebra = {"v": 1, "ev": "zebra", "ts": "2026-01-01T08:00:00.000Z"}
    put_events(old, zebra, *_make_rare_events(), *ends)  # earlier versions recorded the end, too
    scene.lines("event", old, "ledger", "tail", "-n", "1000")


def _make_rare_events() -> list[dict[str, Any]]:
    """The events of earlier versions, and of a model that cub chose by a key."""
    common = {"v": 1, "ts": "2026-01-01T08:00:00.000Z", "run": "r"}
    chosen = "a-model (ANTHROPIC_API_KEY is set)"
    change = {"base": "1" * 40, "head": "2" * 40, "parent": "3" * 40, "files": ["a"]}
    end = {"task": "s-1", "n": 1, "harness": "works", "ok": True, "git": change}
    return [
        {**common, "ev": "run_start", "harness": "builtin", "checks": [], "model_choice": chosen},
        {**common, "ev": "attempt_end", **end},
    ]


PATCH = """\
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
"""


def _leave_patch(root: Path) -> None:
    """What a failed attempt at a task that is gone has left."""
    end = {"v": 1, "ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "run": "r", "n": 1}
    put_events(root, {**end, "task": "gone", "ok": False})
    write(root, ".cub/runs/r/gone/1/changes.patch", PATCH)


def _attempts(scene: Scene) -> None:
    """What attempts said and left: one that failed, and one that has not ended."""
    place = shop(scene.project(), scene.home)
    write(scene.home, "said.jsonl", "".join(json.dumps(one) + "\n" for one in EVENTS))
    place.client(f"{WORKS}; exit 1")
    place.task("s-1")
    place.commit()
    place.run(once=True, no_checks=True)
    scene.lines("log-event", place.root, "run", "logs")
    start = {"ev": "attempt_start", "ts": "2026-01-01T08:00:00.000Z", "run": "r", "task": "s-1"}
    Ledger(place.root).append_events({**start, "n": 2, "harness": "mine", "log": "x"})
    end = {**start, "ev": "attempt_end", "n": 3, "harness": "codex", "session": "019a"}
    Ledger(place.root).append_events({**end, "ok": False})
    scene.json("attempts", place.root, "run", "show", "s-1")


def _client(scene: Scene) -> None:
    """What the reference has clients print."""
    scene.take("client-event", (), *EVENTS)


def _story(tell: Callable[[Scene], None], *schemas: str, **shared: str) -> Story:
    named = {name.replace("_", "-"): frozenset(words.split()) for name, words in shared.items()}
    return Story(tell, {**dict.fromkeys(schemas, frozenset[str]()), **named})


STORIES = {
    "files": _story(_files, "status", "projects", "repair", plan="warning", error="error"),
    "conflict": _story(_conflict),
    "map": _story(_map, "map"),
    "review": _story(_review, "review"),
    "configuration": _story(_configuration, "settings", setting="setting"),
    "tasks": _story(
        _tasks, "task", "task-stats", "findings", "import", "export", tasks="task"
    ),
    "prompt": _story(_prompt, "prompt"),
    "context": _story(_context, "context", "task-files"),
    "code": _story(
        _code, "code", "deleted-sessions", sessions="session warning", session="session"
    ),
    "trust": _story(_trust, "trust"),
    "agents": _story(_agents, "agents", "agent-proofs", agents="warning"),
    "runs": _story(
        _runs, "run-preview", "runs", "events", "task-events",
        event="event run_start run_end attempt_start attempt_end task_state tokens check_result",
        run_event="client_event",
        ledger_stats="totals",
    ),
    "attempts": _story(_attempts, "attempts", log_event="client_event"),
    "client": _story(_client, "client-event"),
}  # fmt: skip
