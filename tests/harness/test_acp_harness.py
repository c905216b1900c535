from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cub.agent_profiles.agent_profile import AgentProfile
from cub.errors import CubError, UsageError
from cub.harness.acp_harness import (
    ACP_AGENTS,
    AcpHarness,
    load_acp_harness,
    make_acp_harness,
)
from cub.harness.base import AgentEvent, LaunchRequest
from tests.harness.acp.talks import command, said
from tests.harness.agent_streams import NOW, collect_events, make_request


def request(folder: Path, system_prompt: str = "", **fields: Any) -> LaunchRequest:
    (folder / "system.md").write_text(system_prompt)
    return make_request(folder, system_prompt=system_prompt, **fields)


def options(harness: AcpHarness, folder: Path, **fields: Any) -> tuple[str, ...]:
    """Permissions, mode, model and file of the child, and the agent's command."""
    return harness.build_command(request(folder, **fields)).argv[6:]


def test_the_command_is_a_process_of_cubs_that_talks_with_the_agent(tmp_path: Path) -> None:
    harness = make_acp_harness("mine", {"acp": command(said("Status: done"))})
    start = harness.build_command(request(tmp_path, system_prompt="Be brief."))
    done = subprocess.run(
        start.argv,
        input=start.stdin,
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **start.environ},
    )
    reader = harness.open_reader()
    transcript = collect_events(*reader.read(done.stdout), *reader.finish())
    assert transcript.session == "s-1"
    assert transcript.final_message == "Status: done"
    assert harness.is_success(transcript, 0)
    assert not harness.is_success(transcript, 1)


def test_the_child_takes_no_module_from_the_project(tmp_path: Path) -> None:
    for name in ("json.py", "cub.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('taken')")
    start = make_acp_harness("m", {"acp": command(said("Hi"))}).build_command(request(tmp_path))
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        start.argv, input=b"x", capture_output=True, check=True, cwd=tmp_path, env=environ
    )
    assert json.loads(done.stdout.splitlines()[-1])["text"] == "Hi"


def test_permissions_mode_model_and_system_prompt_are_options(tmp_path: Path) -> None:
    settings = {"acp": ["x", "--acp"], "modes": {"bypass": "yolo"}, "model": "small"}
    harness = make_acp_harness("mine", settings)
    assert options(harness, tmp_path) == ("auto", "", "small", "", "x", "--acp")
    asked = {"permissions": "bypass", "model": "large", "system_prompt": "Be brief."}
    file = str(tmp_path / "system.md")
    assert options(harness, tmp_path, **asked)[:4] == ("bypass", "yolo", "large", file)


@pytest.mark.parametrize(
    ("argv", "full"),
    [
        (["gemini"], ("gemini", "--acp")),
        (["gemini", "--acp", "-m", "x"], ("gemini", "--acp", "-m", "x")),
        (["/opt/bin/gemini", "--acp"], ("/opt/bin/gemini", "--acp")),
        (["npx", "-y", "@google/gemini@1.0.0", "--acp"],
         ("npx", "-y", "@google/gemini@1.0.0", "--acp")),
    ],
)  # fmt: skip
def test_a_known_agent_has_its_modes_and_variables(argv: list[str], full: tuple[str, ...]) -> None:
    harness = make_acp_harness("mine", {"acp": argv, "modes": {"auto": "plan"}, "env": {"A": 1}})
    assert harness.argv == full
    assert harness.modes == {"auto": "plan", "bypass": "yolo"}
    assert harness.environ == {"GEMINI_CLI_TRUST_WORKSPACE": "true", "A": "1"}
    assert harness.reads == "gemini"


def test_codex_does_without_its_sandbox_where_none_can_start(tmp_path: Path) -> None:
    modes = [
        options(make_acp_harness("m", {"acp": [name]}), tmp_path, can_nest=False)[:2]
        for name in ("codex", "claude")
    ]
    assert modes == [("bypass", "agent-full-access"), ("auto", "auto")]


def test_an_unknown_agent_has_what_its_entry_says() -> None:
    harness = load_acp_harness("acp:'my agent' --fast")
    facts = AgentProfile(
        title="acp:'my agent' --fast", name="acp:'my agent' --fast", program="my agent"
    )
    assert harness == AcpHarness(("my agent", "--fast"), facts=facts)


def test_names_of_known_agents_are_commands() -> None:
    commands = {agent.name: load_acp_harness(f"acp:{agent.name}").argv for agent in ACP_AGENTS}
    assert commands["claude"] == ("claude-agent-acp",)
    assert commands["copilot"] == ("copilot", "--acp", "--stdio")
    assert len(commands) == len(ACP_AGENTS)


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({"acp": [""]}, "acp", "this is not a command"),
        ({"acp": ["x"], "modes": {"yolo": "auto"}}, "modes", "does not map auto and bypass"),
        ({"acp": ["x"], "modes": {"auto": 1}}, "modes", "a mode is a string"),
        ({"acp": ["x"], "env": {"A": []}}, "env.A", "expected a string"),
    ],
)
def test_values_that_are_not_valid_have_their_place(
    settings: dict[str, Any], key: str, message: str
) -> None:
    with pytest.raises(CubError, match=message) as error:
        make_acp_harness("mine", settings)
    assert error.value.where == f".cub/config.yaml: harnesses.mine.{key}"


def test_a_command_that_is_not_one_is_an_error() -> None:
    with pytest.raises(UsageError, match="a closing quote is missing"):
        load_acp_harness("acp:a 'b")
    with pytest.raises(UsageError, match="missing COMMAND") as error:
        load_acp_harness("acp:")
    assert error.value.hint == (
        "write acp:COMMAND; tried with cub: acp:claude, acp:codex, acp:gemini, acp:opencode, "
        "acp:qwen; not tried: acp:copilot, acp:cursor, acp:goose, acp:kiro, acp:kimi"
    )


def test_requests_that_opencode_tries_again_are_in_its_log() -> None:
    reader = load_acp_harness("acp:opencode").open_reader()
    line = (
        'timestamp=1 level=ERROR run=1 message="stream error" small=false '
        'error.error="AI_APICallError: Rate limit reached."\n'
    )
    ended = b'{"type": "text", "text": "the attempt was interrupted", "failed": true}\n'
    told = [*reader.read_errors(line.encode()), *reader.read(ended)]
    assert [event.kind for event in told] == ["limit", "text"]  # it has not answered
    told = [*reader.read(b'{"type": "text", "text": "Hi"}\n')]
    assert [event.kind for event in told] == ["model", "text"]
    assert [event.kind for event in reader.read(b"More\n")] == ["text"]


def test_a_refusal_is_by_events_or_by_the_last_lines() -> None:
    harness, line = make_acp_harness("mine", {"acp": ["x"]}), "Error: 429 Too Many Requests"
    assert harness.find_refusal(collect_events(), "", NOW) is None
    assert harness.find_refusal(collect_events(), f"{line}\n", NOW) == ("limit", None, line)
    transcript = collect_events(AgentEvent("service", "HTTP 503"))
    assert harness.find_refusal(transcript, line, NOW) == ("service", None, "HTTP 503")
