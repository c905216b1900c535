from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cub.harness.base import LaunchRequest, Transcript
from cub.harness.scripted_harness import ScriptedHarness, read_script
from tests.conftest import Cub, environment, git, tree
from tests.examples import keep_few

Step = dict[str, Any]
Play = Callable[..., "Played"]


def launch(folder: Path, attempt: int = 1, task: str = "a") -> LaunchRequest:
    return LaunchRequest("the prompt", "the system", folder, folder, task, attempt, None, "auto")


class Played:
    """A player at work, and what it told once it has ended."""

    def __init__(
        self, client: ScriptedHarness, start: LaunchRequest, project: Path, home: Path
    ) -> None:
        self.client = client
        command = client.build_command(start)
        command.write_files(start.scratch)
        argv, self.stdin, more, _ = command
        self.process = subprocess.Popen(
            argv,
            cwd=project,
            env={**environment(home), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.told = Transcript()
        self.out = self.err = b""

    def say(self) -> None:
        assert self.process.stdin
        with self.process.stdin as into:
            into.write(self.stdin)
        self.process.stdin = None

    def line(self) -> dict[str, Any]:
        assert self.process.stdout
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def until(self, text: str) -> None:
        while text not in str(self.line().get("text")):
            pass

    def end(self) -> Transcript:
        self.out, self.err = self.process.communicate(self.stdin, timeout=60)
        self.read()
        return self.told

    def read(self) -> None:
        stream = self.client.open_reader()
        for event in (*stream.read(self.out), *stream.finish()):
            self.told.add_event(event)

    @property
    def succeeded(self) -> bool:
        return self.client.is_success(self.told, self.process.returncode)


@pytest.fixture
def play(project: Path, home: Path, tmp_path: Path) -> Iterator[Play]:
    """Start the client with these steps for a task; what is left of it is killed."""
    started = list[Played]()

    def run(*steps: Step, attempt: int = 1, task: str = "a", named: str = "a") -> Played:
        client = ScriptedHarness("s.yaml", {named: steps})
        started.append(Played(client, launch(tmp_path, attempt, task), project, home))
        return started[-1]

    yield run
    for one in started:
        one.process.kill()
        with one.process:  # which closes what it was read from
            pass


def test_all_that_a_step_says_is_told(play: Play, project: Path) -> None:
    (project / "old.txt").write_text("old")
    (project / "a.py").write_bytes(b"x = 1\r\n")
    played = play(
        {
            "say": ["I begin.", "I go on."],
            "files": {"shop/price.py": "é = 1\n", "old.txt": None, "never": None},
            "replace": [{"file": "a.py", "old": "1", "new": "2"}],
            "final": "Status: done\nSummary: \ud83d\ude00",
            "usage": {"input": 1, "output": 2, "cache_write": 4},
            "usd": 0.5,
        }
    )
    told = played.end()
    assert played.succeeded
    assert played.process.returncode == 0
    assert played.err == b""
    assert tree(project) == {"shop/price.py": "é = 1\n".encode(), "a.py": b"x = 2\r\n"}
    assert told.final_message == "Status: done\nSummary: \U0001f600"
    assert (told.tokens, told.usd) == ((1, 2, 0, 4), 0.5)
    assert told.session.startswith("scripted-")
    assert [json.loads(line)["type"] for line in played.out.splitlines()] == [
        "session", "text", "text", "tool", "tool", "tool", "tool", "usage", "cost", "result",
    ]  # fmt: skip


def test_without_a_final_message_what_it_said_is_one(play: Play) -> None:
    assert play({"say": ["hello"]}).end().final_message == "hello"


def test_a_failure_is_told_twice(play: Play) -> None:
    played = play({"exit": 3, "final": "sorry"})
    assert played.end().has_failed
    assert (played.process.returncode, played.succeeded) == (3, False)


@pytest.mark.parametrize(("attempt", "said"), [(1, "one"), (2, "two"), (3, "two"), (9, "two")])
def test_the_last_step_repeats(play: Play, attempt: int, said: str) -> None:
    assert play({"say": ["one"]}, {"say": ["two"]}, attempt=attempt).end().final_message == said


def test_a_star_stands_for_all_other_tasks(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text('tasks: {a: [{say: mine}], "*": [{say: others}]}')
    client = ScriptedHarness(path.as_posix(), read_script(path, path.as_posix()))
    for task, said in (("a", "mine"), ("b", "others")):
        files = client.build_command(launch(tmp_path, task=task)).files
        step = json.loads(files["step.json"])
        assert (step["task"], step["say"]) == (task, [said])


def test_a_task_without_steps_fails(play: Play) -> None:
    played = play({}, task="b")
    played.end()
    assert (played.process.returncode, played.succeeded) == (1, False)
    assert played.err == b"scripted: s.yaml has no steps for the task b\n"


GIT = [
    ".git/config", ".git", ".GIT/config", ".Git/hooks/pre-commit", "x/../.git/config",
    "./.git/info/exclude", "git~1/config", "GIT~2/config", ".git./config", ".git /config",
    ".git. . /config", ".git::$INDEX_ALLOCATION/config", ".g\u200cit/config", "\ufeff.git/config",
    ".git\\config", "a\\.git\\config", "linked/config", "deep/config", "config", "mod/.git",
    "mod/.git/config", "separate/config", "separate/hooks/x", "broken/config", "bare.git/config",
]  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="makes links")
@pytest.mark.parametrize("path", keep_few(GIT, 12))
@pytest.mark.parametrize("step", keep_few(["write", "delete", "replace"], 1))
def test_nothing_of_gits_is_touched(play: Play, project: Path, path: str, step: str) -> None:
    (project / "linked").symlink_to(".git")
    (project / "x").mkdir()
    (project / "x" / "further").symlink_to("../linked")
    (project / "deep").symlink_to("x/further")
    (project / "config").symlink_to(".git/config")
    (project / "mod").mkdir()
    (project / "mod" / ".git").write_text("gitdir: ../separate\n")
    git(project, "init", "-q", "--bare", "separate")
    git(project, "init", "-q", "--bare", "bare.git")
    (project / "broken").symlink_to(".git/none")
    before = {name: name.read_bytes() for name in project.rglob("*") if name.is_file()}
    steps: dict[str, Step] = {
        "write": {"files": {path: "x"}},
        "delete": {"files": {path: None}},
        "replace": {"replace": [{"file": path, "old": "[core]", "new": "[x]"}]},
    }
    played = play(steps[step])
    played.end()
    assert played.process.returncode == 1
    assert b"leads into git's directory" in played.err
    assert {name: name.read_bytes() for name in project.rglob("*") if name.is_file()} == before


def test_files_with_names_like_gits_are_the_projects(play: Play, project: Path) -> None:
    names = [
        ".gitignore",
        ".github/x",
        "git",
        "a.git",
        "gits~1",
        ".gitattributes",
        "HEAD",
        "refs/x",
    ]
    played = play({"files": dict.fromkeys(names, "x")})
    played.end()
    assert played.process.returncode == 0
    assert sorted(tree(project)) == sorted(names)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"files": {"../out": "x"}}, "../out leads out of the project"),
        ({"files": {"/tmp/out": "x"}}, "/tmp/out leads out of the project"),
        ({"files": {".": "x"}}, ". leads out of the project"),
        ({"files": {"link/x": "x"}}, "link/x leads out of the project"),
        ({"files": {"folder": None}}, "folder can't be written"),
        ({"replace": [{"file": "a", "old": "z", "new": ""}]}, "a has 'z' 0 times, not once"),
        ({"replace": [{"file": "a", "old": "1", "new": ""}]}, "a has '1' 2 times, not once"),
        ({"replace": [{"file": "a", "old": "", "new": ""}]}, "a has '' 0 times, not once"),
        ({"replace": [{"file": "none", "old": "1", "new": ""}]}, "none can't be read"),
        ({"replace": [{"file": "link/a", "old": "1", "new": ""}]}, "link/a leads out"),
    ],
)
def test_what_can_not_be_played_fails(
    play: Play, project: Path, home: Path, step: Step, message: str
) -> None:
    (project / "a").write_text("1 1")
    (project / "folder").mkdir()
    (project / "link").symlink_to(home)
    played = play({**step, "final": "never told"})
    assert not played.end().has_result
    assert (played.process.returncode, played.succeeded) == (1, False)
    assert message in played.err.decode()
    assert tree(project) == {"a": b"1 1"}
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("reason", ["done", "no_change"])
def test_a_task_is_closed_by_the_command(play: Play, cub: Cub, project: Path, reason: str) -> None:
    key = json.loads(cub("task", "add", "Bake", "--json").out)["tasks"][0]["id"]
    played = play({"close": reason}, task=key, named="*")
    played.end()
    assert f'"text": "cub task close {key} --reason {reason}"' in played.out.decode()
    assert (played.err, played.succeeded) == (b"", True)
    assert f'"close_reason":"{reason}"' in (project / ".cub/tasks.jsonl").read_text()


def test_a_task_that_can_not_be_closed_fails(play: Play) -> None:
    played = play({"close": "done"})
    played.end()
    assert played.process.returncode == 1
    assert b"there is no task 'a'" in played.err


def test_what_was_denied_is_told(play: Play) -> None:
    played = play({"denied": "rm -rf build"})
    assert played.end().denials == ["rm -rf build"]
    assert played.process.returncode == 0


@pytest.mark.parametrize(("more", "code"), [({}, 1), ({"exit": 0}, 0)])
def test_a_limit_stands_on_stderr(play: Play, more: Step, code: int) -> None:
    played = play({"limit": "You've hit your limit", **more})
    played.end()
    assert (played.process.returncode, played.err) == (code, b"You've hit your limit\n")


def test_it_reads_the_whole_prompt_first(play: Play, project: Path) -> None:
    played = play({"files": {"x": "x"}})
    assert played.process.stdin
    for _ in range(20):
        played.process.stdin.write(b"y" * 100_000)
    played.process.stdin.flush()
    assert tree(project) == {}
    played.say()
    played.until("write x")


def test_the_player_starts_fast(tmp_path: Path, project: Path) -> None:
    command = ScriptedHarness("s.yaml", {"*": ({},)}).build_command(launch(tmp_path))
    command.write_files(tmp_path)
    argv = command.argv
    assert argv[:3] == (sys.executable, "-I", "-S")
    costs = list[float]()
    for _ in range(5):
        before, started = os.times(), time.monotonic()
        subprocess.run(argv, cwd=project, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        after = os.times()
        costs.append(after[2] + after[3] - before[2] - before[3])
        assert time.monotonic() - started < 20
    assert min(costs) < 0.5
