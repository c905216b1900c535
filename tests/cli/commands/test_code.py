from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from cub.harness.base import Transcript
from cub.harness.event_protocol import EventProtocolReader
from cub.model_server.exchange import RecordedRequest, ScriptedCall
from tests.cli.terminal import in_terminal
from tests.command_line import Result
from tests.conftest import Cub, environment
from tests.model_server.faults import ModelServer, Reply, find_api, read_system

SCRIPT = """\
    conversations:
      - replies:
          - text: I look first.
            calls: [{Read: {file_path: price.py}}]
            usage: {input: 1000, output: 20, cache_read: 500}
          - calls: [{Edit: {file_path: price.py, old_string: "1", new_string: "2"}}]
            usage: {input: 1100, output: 30}
          - text: It is 2 now.
            usage: {input: 1200, output: 10}
"""
EDIT = ("--permissions", "accept-edits")


@pytest.fixture
def code(project: Path, cub: Cub) -> Callable[..., Result]:
    """`cub code` with a scripted model, in a project with one file."""
    (project / "price.py").write_text("PRICE = 1\n", encoding="utf-8")
    (project / "replies.yaml").write_text(dedent(SCRIPT), encoding="utf-8")

    def run(*words: str, **more: str) -> Result:
        return cub("code", "--model", "scripted/replies.yaml", *words, **more)

    return run


def test_the_answer_goes_to_stdout_and_the_rest_to_stderr(
    code: Callable[..., Result], project: Path
) -> None:
    done = code("-p", "Make it 2.", *EDIT)
    assert (done.code, done.out) == (0, "It is 2 now.\n")
    assert done.err.splitlines() == [
        "I look first.",
        "Read price.py",
        "Edit price.py",
        "  @@ -1 +1 @@",
        "  -PRICE = 1",
        "  +PRICE = 2",
        "3 turns, 3,360 tokens, 500 more from the cache, cost not known",
    ]
    assert (project / "price.py").read_text() == "PRICE = 2\n"


@pytest.mark.usefixtures("code")
def test_a_terminal_shows_a_text_once(project: Path, home: Path) -> None:
    words = ("code", "--model", "scripted/replies.yaml", "-p", "Go.", "--max-turns", "1")
    shown = in_terminal(*words, cwd=project, home=home)
    assert "stopped after 1 turn" in shown.text
    assert shown.text.count("I look first.") == 1


def test_the_prompt_may_come_from_stdin(code: Callable[..., Result]) -> None:
    assert code(*EDIT, stdin="Make it 2.").out == "It is 2 now.\n"


def test_without_a_prompt_nothing_begins(code: Callable[..., Result]) -> None:
    done = code()
    assert done.code == 2
    assert done.err.startswith("error: missing prompt\nhint: ")


def test_json_has_the_answer_and_what_it_cost(code: Callable[..., Result], project: Path) -> None:
    done = code("-p", "Make it 2.", "--output-format", "json", "-q")
    tree = json.loads(done.out)
    assert tree.pop("session")
    assert tree == {
        "v": 1,
        "root": project.as_posix(),
        "result": "It is 2 now.",
        "reason": "end_turn",
        "message": "",
        "model": "scripted/replies.yaml",
        "turns": 3,
        "tokens": {"input": 3300, "output": 60, "cache_read": 500, "cache_write": 0},
        "usd": None,
        "denied": ["Edit price.py"],
    }
    assert done.err == ""
    assert (project / "price.py").read_text() == "PRICE = 1\n"


def test_events_are_those_of_the_protocol_and_some_more(code: Callable[..., Result]) -> None:
    done = code("-p", "Make it 2.", "--output-format", "stream-json", *EDIT)
    kinds = [json.loads(line)["type"] for line in done.out.splitlines()]
    assert kinds == [
        "session",
        "text", "tool", "tool_result", "model", "usage",
        "tool", "tool_result", "model", "usage",
        "text", "model", "usage",
        "cache", "end", "result",
    ]  # fmt: skip
    transcript = Transcript()
    for event in EventProtocolReader().read(done.out.encode()):
        transcript.add_event(event)
    assert transcript.final_message == "It is 2 now."
    assert transcript.has_result
    assert not transcript.has_failed
    assert transcript.tokens is not None
    assert transcript.tokens.total == 3360


def test_turns_are_limited_and_the_exit_code_says_so(code: Callable[..., Result]) -> None:
    done = code("-p", "Make it 2.", "--max-turns", "1")
    assert (done.code, done.out) == (1, "I look first.\n")
    assert "The session ended: stopped after 1 turn\n" in done.err


def test_plan_changes_nothing(code: Callable[..., Result], project: Path) -> None:
    done = code("-p", "Make it 2.", "--permissions", "plan")
    assert "not allowed: the mode is plan" in done.err
    assert (project / "price.py").read_text() == "PRICE = 1\n"


def test_a_rule_allows_and_another_denies(code: Callable[..., Result], project: Path) -> None:
    done = code("-p", "Make it 2.", "--allow", "Edit(*.py)", "--deny", "Edit(price.py)")
    assert "the rule Edit(price.py) denies it" in done.err
    assert code("-p", "Make it 2.", "--allow", "Edit(*.py)").code == 0
    assert (project / "price.py").read_text() == "PRICE = 2\n"


def test_a_rule_that_is_none_is_an_error(code: Callable[..., Result]) -> None:
    done = code("-p", "Go.", "--allow", "Bsh(ls)")
    assert done.code in (1, 2)
    assert "Bash" in done.err


def configure(project: Path, text: str) -> None:
    (project / ".cub").mkdir(exist_ok=True)
    (project / ".cub/config.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "setting",
    ["permissions: bypass", "allow: [Bash]", "base_url: http://127.0.0.1:1", "api_key: x",
     "search_url: http://127.0.0.1:1", "permissions: ask", "small_model: scripted/replies.yaml"],
)  # fmt: skip
def test_a_repository_widens_nothing_unless_it_is_trusted(
    code: Callable[..., Result], cub: Cub, project: Path, setting: str
) -> None:
    configure(project, f"code: {{{setting}}}\n")
    done = code("-p", "Go.")
    assert done.code == 1
    assert done.err.startswith(
        "error: .cub/config.yaml: the commands of this project are not trusted"
    )
    assert f"code.{setting.partition(':')[0]}" in done.err
    assert code("-p", "Go.", "--trust").code == 0
    assert cub("trust").code == 0
    assert code("-p", "Go.").code == 0


def test_a_repository_does_not_choose_who_decides_unless_it_is_trusted(
    code: Callable[..., Result], cub: Cub, project: Path
) -> None:
    configure(project, "code: {model: scripted/replies.yaml}\n")
    done = cub("code", "-p", "Go.", "--permissions", "bypass")
    assert (done.code, "code.model" in done.err) == (1, True)
    assert cub("code", "-p", "Go.", "--trust").out == "It is 2 now.\n"
    assert code("-p", "Go.").code == 0


def test_a_repository_allows_nothing_that_the_user_denies(
    code: Callable[..., Result], cub: Cub, project: Path
) -> None:
    assert cub("config", "set", "--user", "code.deny", "[Edit]").code == 0
    configure(project, "code: {deny: []}\n")
    assert "the rule Edit denies it" in code("-p", "Go.", *EDIT, "--trust").err


def test_a_repository_may_narrow_what_is_allowed(
    code: Callable[..., Result], project: Path
) -> None:
    configure(project, "code: {permissions: plan, deny: [Edit]}\n")
    assert code("-p", "Go.").code == 0


def test_context_commands_stand_before_the_prompt(cub: Cub) -> None:
    with ModelServer([Reply("Seen.")]) as server:
        done = run_with_server(cub, server, "-p", "What is it?", "--exec", "echo the output")
        (request,) = server.requests
    assert done.out == "Seen.\n"
    prompt = request.texts[-1]
    assert prompt.endswith("\n\nWhat is it?")
    assert "the output" in prompt


def run_with_server(cub: Cub, server: ModelServer, *words: str, **more: str) -> Result:
    more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "sk-test-1", **more}
    return cub("code", *words, **more)


def test_texts_are_added_to_the_system_prompt_which_never_changes(project: Path, cub: Cub) -> None:
    (project / "more.md").write_text("From a file.", encoding="utf-8")
    (project / "AGENTS.md").write_text("Speak softly.\n", encoding="utf-8")
    calls = [ScriptedCall("Read", {"file_path": "more.md"})]
    with ModelServer([Reply(calls=calls), Reply("Done.")]) as server:
        words = ("--append-system-prompt", "In words.", "--append-system-prompt-file", "more.md")
        assert run_with_server(cub, server, "-p", "Go.", *words).code == 0
        first, second = server.requests
    assert read_system(first) == read_system(second)
    for text in ("In words.", "From a file.", "Speak softly.", project.as_posix()):
        assert read_system(first).count(text) == 1


def test_a_wrong_key_ends_the_session_with_a_login_event(cub: Cub) -> None:
    with ModelServer([Reply(status=401, message="the key is not valid")]) as server:
        done = run_with_server(cub, server, "-p", "Go.", "--output-format", "stream-json")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 1
    kinds = ["session", "cache", "login", "text", "end", "result"]
    assert [event["type"] for event in events] == kinds
    assert "the key is not valid" in events[3]["text"]
    assert events[3]["failed"] is events[-1]["failed"] is True


def test_a_model_of_a_local_server_needs_no_key(project: Path, cub: Cub) -> None:
    with ModelServer([Reply("Hello.")]) as server:
        (project.parent / "home/.config/cub").mkdir(parents=True)
        config = project.parent / "home/.config/cub/config.yaml"
        config.write_text(f"code: {{model: ollama/qwen3, base_url: {server.url}/v1}}\n")
        done = cub("code", "-p", "Hi.")
        (request,) = server.requests
    assert (done.code, done.out) == (0, "Hello.\n")
    assert (find_api(request), request.model) == ("chat", "qwen3")


@pytest.mark.usefixtures("project")
def test_the_model_that_the_key_decides_is_named_once_on_stderr(cub: Cub, home: Path) -> None:
    (home / ".claude").mkdir()
    with ModelServer(lambda _: Reply("Hello.")) as server:
        variables = {"ANTHROPIC_API_KEY": "sk-test-1", "ANTHROPIC_BASE_URL": server.url}
        settings = json.dumps({"env": variables})
        (home / ".claude/settings.json").write_text(settings, encoding="utf-8")
        shown = [
            cub("code", "-p", "Hi.", "--output-format", name)
            for name in ("text", "json", "stream-json")
        ]
        quiet = cub("code", "-p", "Hi.", "--model", "claude-x")
    line = "model claude-sonnet-5-5 (ANTHROPIC_API_KEY is set)\n"
    assert [one.err.count(line) for one in shown] == [1, 1, 0]
    assert [line in one.out for one in shown] == [False] * 3
    assert (quiet.out, line in quiet.err) == ("Hello.\n", False)


def test_no_key_is_an_error_with_a_hint(cub: Cub) -> None:
    done = cub("code", "-p", "Hi.")
    assert done.code == 1
    assert done.err.startswith(
        "error: missing API key\nhint: set ANTHROPIC_API_KEY, OPENAI_API_KEY, or GEMINI_API_KEY"
    )


def test_the_signal_of_a_person_ends_it_in_order(project: Path, home: Path) -> None:
    """A command that ignores INT at first is ended, and so is the session."""
    calls = [ScriptedCall("Bash", {"command": "echo started > here; sleep 60"})]
    with ModelServer([Reply(calls=calls)]) as server:
        environ = {
            **environment(home),
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "sk-test-1",
        }
        words = ["code", "-p", "Go.", "--permissions", "bypass", "--output-format", "stream-json"]
        with subprocess.Popen(
            [sys.executable, "-m", "cub", *words], cwd=project, env=environ,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(json.loads(line))
                if lines[-1]["type"] == "tool":
                    process.send_signal(signal.SIGINT)
            assert process.wait() == 130
    assert [line for line in lines if line["type"] == "tool_result"]
    assert lines[-2] == {"type": "end", "reason": "cancelled", "message": "cancelled"}


def replies_to(request: RecordedRequest) -> Reply:
    """A model that asks to leave the project, edits what is cub's, and calls what is not there."""
    results = sum(message.get("role") == "user" for message in request.body["messages"]) - 1
    calls: list[list[ScriptedCall]] = [
        [ScriptedCall("Read", {"file_path": "/etc/passwd"})],
        [ScriptedCall("Read", {"file_path": "AGENTS.md"}), ScriptedCall("Fly", {})],
        [ScriptedCall("Edit", '{"file_path": ')],
        [ScriptedCall("Edit", {"file_path": "AGENTS.md", "old_string": "cub task ready",
                               "new_string": "rm -rf"})],
        [ScriptedCall("Write", {"file_path": "../outside.txt", "content": "x"})],
    ]  # fmt: skip
    return Reply(calls=calls[results]) if results < len(calls) else Reply("<stuck>Nothing</stuck>")


def test_a_hostile_model_damages_nothing(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_text("# Ours\n", encoding="utf-8")
    assert cub("init", "--yes").code == 0
    before = (project / "AGENTS.md").read_bytes()
    with ModelServer(replies_to) as server:
        done = run_with_server(cub, server, "-p", "Go.", *EDIT, "--output-format", "stream-json")
    events: list[dict[str, Any]] = [json.loads(line) for line in done.out.splitlines()]
    results = [event["text"] for event in events if event["type"] == "tool_result"]
    assert results[0].startswith("not allowed: /etc/passwd is outside of the project")
    # It needs no thread; the file may be read before the reply has come so far, or after.
    assert any("there is no tool 'Fly'" in text for text in results[1:3])
    assert "JSON" in results[3]
    assert "managed section" in results[4]
    assert results[5].startswith("not allowed:")
    assert events[-1]["text"] == "<stuck>Nothing</stuck>"
    assert (project / "AGENTS.md").read_bytes() == before
    assert not (project.parent / "outside.txt").exists()


SKILL_SCRIPT = """\
    conversations:
      - when: The review of price.py, carefully.
        replies:
          - calls: [{Edit: {file_path: price.py, old_string: "1", new_string: "2"}}]
          - text: Reviewed.
      - when: Fix it.
        replies:
          - calls: [{Skill: {skill: review, args: price.py}}]
          - text: Loaded.
      - replies: [text: Just a prompt.]
"""


@pytest.fixture
def code_with_skill(code: Callable[..., Result], project: Path) -> Callable[..., Result]:
    (project / "replies.yaml").write_text(dedent(SKILL_SCRIPT), encoding="utf-8")
    (project / ".claude/skills/review").mkdir(parents=True)
    text = "---\nallowed-tools: [Read]\ncontext: 5\n---\nThe review of $ARGUMENTS.\n"
    (project / ".claude/skills/review/SKILL.md").write_text(text, encoding="utf-8")
    return code


def test_a_prompt_calls_for_a_skill_which_limits_the_tools(
    code_with_skill: Callable[..., Result], project: Path
) -> None:
    done = code_with_skill("-p", "/review price.py, carefully", *EDIT)
    assert (done.code, done.out) == (0, "Reviewed.\n")
    assert ".claude/skills/review/SKILL.md:3: context is not inline or fork" in done.err
    assert "not allowed: the skill /review may use only: Read" in done.err
    assert (project / "price.py").read_text() == "PRICE = 1\n"


def test_the_model_loads_a_skill_by_itself(code_with_skill: Callable[..., Result]) -> None:
    done = code_with_skill("-p", "Fix it.", "--output-format", "stream-json")
    results = [json.loads(line) for line in done.out.splitlines()]
    assert [tree["text"] for tree in results if tree["type"] == "tool_result"] == [
        "The review of price.py."
    ]


def test_text_from_stdin_is_no_argument_of_a_skill(code_with_skill: Callable[..., Result]) -> None:
    assert code_with_skill("-p", "/review price.py, carefully", stdin="a diff").out == "Reviewed.\n"
    assert code_with_skill(stdin="/review price.py, carefully\n").out == "Reviewed.\n"
    assert code_with_skill("-p", "/usr/bin", stdin="/review").out == "Just a prompt.\n"


def test_an_unknown_command_in_a_prompt_is_an_error(code_with_skill: Callable[..., Result]) -> None:
    done = code_with_skill("-p", "/reviev price.py")
    assert done.code == 2
    assert "error: unknown command /reviev\nhint: did you mean /review? " in done.err


def test_a_skill_and_a_model_start_sub_agents_that_the_project_defines(
    code: Callable[..., Result], project: Path
) -> None:
    script = """\
        conversations:
          - when: Audit price.py.
            replies:
              - calls: [{Edit: {file_path: price.py, old_string: "1", new_string: "2"}}]
              - text: It is fine.
          - when: Ask the critic.
            replies:
              - calls: [{Task: {prompt: Audit price.py., subagent_type: critic}}]
              - text: The critic is happy.
    """
    (project / "replies.yaml").write_text(dedent(script), encoding="utf-8")
    (project / ".claude/skills/audit").mkdir(parents=True)
    text = "---\ncontext: fork\nagent: critic\n---\nAudit $0.\n"
    (project / ".claude/skills/audit/SKILL.md").write_text(text, encoding="utf-8")
    (project / ".claude/agents").mkdir()
    text = "---\ntools: Read\nmodel: openai/gpt\n---\nBe strict.\n"
    (project / ".claude/agents/critic.md").write_text(text, encoding="utf-8")
    done = code("-p", "/audit price.py", "--permissions", "bypass")
    assert (done.code, done.out) == (0, "It is fine.\n")
    assert ".claude/agents/critic.md:3: model is not one of inherit, " in done.err
    assert "critic 1:   error: there is no tool 'Edit'" in done.err
    assert (project / "price.py").read_text() == "PRICE = 1\n"
    assert code("-p", "Ask the critic.").out == "The critic is happy.\n"


DELEGATED = """\
    conversations:
      - when: Clean up.
        replies:
          - calls: [{Bash: {command: rm -r build}}]
            usage: {input: 20, output: 2}
          - text: I may not.
            usage: {input: 30, output: 3}
      - when: Start it.
        replies:
          - calls: [{Task: {prompt: Clean up., description: tidy, run_in_background: BACKGROUND}}]
            usage: {input: 1000, output: 10}
          - text: Done.
            usage: {input: 2000, output: 20}
          - text: It may not.
            usage: {input: 3000, output: 30}
"""


@pytest.mark.parametrize("background", ["true", "false"])
def test_what_sub_agents_use_and_may_not_do_is_reported_once(
    code: Callable[..., Result], project: Path, background: str
) -> None:
    script = dedent(DELEGATED).replace("BACKGROUND", background)
    (project / "replies.yaml").write_text(script, encoding="utf-8")
    tree = json.loads(code("-p", "Start it.", "--output-format", "json", "-q").out)
    # An answer from the background comes with the second turn or with one after it.
    assert (tree["turns"], tree["tokens"]["input"]) in [(4, 3050), (5, 6050)]
    assert tree["denied"] == ["general-purpose 1: Bash rm -r build"]
    done = code("-p", "Start it.", "--output-format", "stream-json")
    events = [json.loads(line) for line in done.out.splitlines()]
    used = [event["input"] for event in events if event["type"] == "usage"]
    assert sum(used) in (3050, 6050)
    denied = [event["text"] for event in events if event["type"] == "denied"]
    assert denied == tree["denied"]
    assert [event["type"] for event in events[-2:]] == ["end", "result"]
    lines = [line for line in code("-p", "Start it.").err.splitlines() if "not allowed" in line]
    assert [line.count("general-purpose 1: ") for line in lines] == [1]


PRICE_TEST = """\
import unittest
from price import PRICE

class PriceTest(unittest.TestCase):
    def test_price(self) -> None:
        self.assertEqual(PRICE, 3)

    def test_old_fault(self) -> None:
        self.fail("as before")
"""
REVIEWED = """\
    conversations:
      - when: You judge whether
        replies:
          - text: '{"isComplete": true, "reasoning": "The price is right."}'
          - text: '{"isComplete": true, "reasoning": "All of it."}'
          - text: '{"isComplete": true, "reasoning": "That was meant."}'
      - replies:
          - calls: [{Read: {file_path: price.py}}]
          - calls: [{Edit: {file_path: price.py, old_string: "3", new_string: "2"}}]
          - text: Done.
          - calls: [{Edit: {file_path: price.py, old_string: "2", new_string: "0 + 3"}}]
          - text: Really done.
"""


def test_a_failing_check_goes_back_to_the_model_by_name_until_it_passes(
    code: Callable[..., Result], project: Path
) -> None:
    (project / "price.py").write_text("PRICE = 3\n", encoding="utf-8")
    (project / "test_price.py").write_text(PRICE_TEST, encoding="utf-8")
    (project / "replies.yaml").write_text(dedent(REVIEWED), encoding="utf-8")
    check = f"{sys.executable} -m unittest test_price"
    configure(project, f"run: {{checks: ['{check}']}}\n")
    assert code("-p", "Go.", "--eval", *EDIT).code == 1  # its checks are not trusted
    done = code("-p", "Go.", "--eval", "--trust", *EDIT)
    assert (done.code, done.out) == (0, "Really done.\n")
    reviews = [line for line in done.err.splitlines() if line.startswith(("check ", "judge "))]
    assert reviews == [
        f"check `{check}` failed: test_price.PriceTest.test_price: AssertionError: 2 != 3 (new)",
        f"check `{check}`: 1 known failure, no new one",
        "judge Correctness: complete: The price is right.",
        "judge Completeness: complete: All of it.",
        "judge Goal Alignment: complete: That was meant.",
    ]
    (project / "replies.yaml").write_text(dedent(REVIEWED), encoding="utf-8")


def test_what_a_session_has_broken_is_not_excused_when_it_goes_on(
    code: Callable[..., Result], project: Path
) -> None:
    script = """\
        conversations:
          - when: Break it.
            replies: [{calls: [{Bash: {command: touch broken}}]}, {text: Done.}]
          - replies: [{text: I did.}]
    """
    (project / "replies.yaml").write_text(dedent(script), encoding="utf-8")
    configure(project, "run: {checks: ['test ! -e broken']}\n")
    words = ("--gate", "checks", "--trust", "--permissions", "bypass")
    assert code("-p", "Break it.", *words).code == 1
    done = code("-p", "Did you?", "--continue", *words)
    assert (done.code, "check `test ! -e broken` failed" in done.err) == (1, True)
    assert code("-p", "Did you?", *words).code == 0  # of another session


def test_checks_without_a_check_are_an_error(code: Callable[..., Result]) -> None:
    done = code("-p", "Go.", "--gate", "checks")
    assert done.code == 1
    assert "no check can review the work: run.checks is empty" in done.err
    assert "run.checks" in done.err.splitlines()[-1]


def test_a_limit_in_dollars_needs_a_price(code: Callable[..., Result]) -> None:
    done = code("-p", "Go.", "--max-budget-usd", "1")
    assert done.code == 1
    assert "--max-budget-usd needs a price, and scripted/replies.yaml has none" in done.err
