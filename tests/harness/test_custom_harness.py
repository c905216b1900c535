from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.errors import CubError
from cub.harness.base import AgentEvent, Harness, LaunchRequest
from cub.harness.custom_harness import CustomHarness, make_custom_harness
from tests.harness.agent_streams import collect_events


def launch(
    folder: Path, model: str | None = "m", prompt: str = "P", system: str = "S"
) -> LaunchRequest:
    return LaunchRequest(prompt, system, folder, folder, "t-1", 2, model, "auto")


@pytest.mark.parametrize(
    ("settings", "model", "argv", "stdin"),
    [
        ({"argv": ["run"]}, "m", ["run"], "S\n\nP"),
        ({"argv": ["run", "{system}"]}, "m", ["run", "F/system.md"], "P"),
        ({"argv": ["run"], "prompt": "arg"}, "m", ["run", "S\n\nP"], ""),
        ({"argv": ["run", "-p", "{prompt}", "-x"], "prompt": "arg"}, "m",
         ["run", "-p", "S\n\nP", "-x"], ""),
        ({"argv": ["run", "-s", "{system}"], "prompt": "arg"}, "m",
         ["run", "-s", "F/system.md", "P"], ""),
        ({"argv": ["run"], "prompt": "file"}, "m", ["run", "F/input.md"], ""),
        ({"argv": ["run", "--f={file}", "{system}"], "prompt": "file"}, "m",
         ["run", "--f=F/prompt.md", "F/system.md"], ""),
        ({"argv": ["run", "-m", "{model}", "{task}.{attempt}.{permissions}"]}, "m",
         ["run", "-m", "m", "t-1.2.auto"], "S\n\nP"),
        ({"argv": ["run", "-m", "{model}", "x"]}, None, ["run", "x"], "S\n\nP"),
        ({"argv": ["run", "x", "{model}"]}, None, ["run", "x"], "S\n\nP"),
        ({"argv": ["run", "--json", "--model={model}"]}, None, ["run", "--json"], "S\n\nP"),
        ({"argv": ["run", "{{model}}", "a{{task}}b"]}, None, ["run", "{model}", "a{task}b"],
         "S\n\nP"),
        ({"argv": ["sh", "-c", "awk '{print}' ${x} {{ }} {other} {a:{b}}"]}, "m",
         ["sh", "-c", "awk '{print}' ${x} {{ }} {other} {a:{b}}"], "S\n\nP"),
        ({"argv": ["run", "{task}{task}"]}, "m", ["run", "t-1t-1"], "S\n\nP"),
    ],
)  # fmt: skip
def test_the_command_that_is_started(
    tmp_path: Path, settings: dict[str, Any], model: str | None, argv: list[str], stdin: str
) -> None:
    start = make_custom_harness("mine", settings).build_command(launch(tmp_path, model))
    assert [one.replace(str(tmp_path), "F") for one in start.argv] == argv
    assert start.stdin == stdin.encode()
    assert start.files == ({"input.md": b"S\n\nP"} if "F/input.md" in argv else {})


def test_values_are_not_looked_into_for_braces(tmp_path: Path) -> None:
    start = make_custom_harness(
        "mine", {"argv": ["run", "{system}"], "prompt": "arg"}
    ).build_command(launch(tmp_path, prompt="{task} {{model}} \\1"))
    assert start.argv[-1] == "{task} {{model}} \\1"


def test_without_a_system_text_the_prompt_stands_alone(tmp_path: Path) -> None:
    settings = {"argv": ["run"], "prompt": "file"}
    start = make_custom_harness("mine", settings).build_command(launch(tmp_path, system=" \n"))
    assert start.argv == ("run", str(tmp_path / "prompt.md"))


def test_the_environment_is_that_of_the_configuration(tmp_path: Path) -> None:
    settings = {"argv": ["run"], "env": {"A": "x", "B": 5, "C": 0.5}}
    start = make_custom_harness("mine", settings).build_command(launch(tmp_path))
    assert start.environ == {"A": "x", "B": "5", "C": "0.5"}


def test_a_prompt_that_no_argument_holds_is_an_error(tmp_path: Path) -> None:
    client = make_custom_harness("mine", {"argv": ["run"], "prompt": "arg"})
    assert client.build_command(launch(tmp_path, prompt="a\0b")).argv[-1] == "S\n\nab"
    most = 131_071 - len("S\n\n")
    assert len(client.build_command(launch(tmp_path, prompt="x" * most)).argv[-1]) == 131_071
    with pytest.raises(CubError, match="too long for an argument") as error:
        client.build_command(launch(tmp_path, prompt="x" * (most + 1)))
    assert error.value.where == ".cub/config.yaml: harnesses.mine.prompt"


RESULT = AgentEvent("result", "all green")
FAILED = AgentEvent("result", "all green", failed=True)
TEXT = AgentEvent("text", "so:\nall green\n")


@pytest.mark.parametrize(
    ("success", "event", "code", "expected"),
    [
        ("exit", TEXT, 0, True),
        ("exit", TEXT, 1, False),
        ("exit", TEXT, None, False),
        ("exit", TEXT, -9, False),
        ("exit", FAILED, 0, True),
        ("result", RESULT, 0, True),
        ("result", RESULT, 1, False),
        ("result", FAILED, 0, False),
        ("result", TEXT, 0, False),
        ("match:^all gre+n$", TEXT, 0, True),
        ("match: green", RESULT, 0, True),
        ("match:^all gre+n$", TEXT, 1, False),
        ("match:red", TEXT, 0, False),
    ],
)
def test_what_its_success_is(
    success: str, event: AgentEvent, code: int | None, *, expected: bool
) -> None:
    harness = make_custom_harness("mine", {"argv": ["run"], "success": success})
    assert harness.is_success(collect_events(event), code) is expected


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({}, "argv", "has no command"),
        ({"argv": []}, "argv", "has no command"),
        ({"argv": [""]}, "argv", "has no command"),
        ({"argv": ["run"], "success": "maybe"}, "success", "'maybe' is not a success rule"),
        ({"argv": ["run"], "success": "match:"}, "success", "'match:' is not a success rule"),
        ({"argv": ["run"], "success": "match:("}, "success", "not a regular expression"),
        ({"argv": ["run"], "env": {"A": [1]}}, "env.A", "expected a string"),
        ({"argv": ["run"], "env": {"A": True}}, "env.A", "expected a string"),
        ({"argv": ["run"], "env": {"A=B": "x"}}, "env", "'A=B' can't be a variable"),
    ],
)
def test_settings_that_make_no_sense_name_their_key(
    settings: dict[str, Any], key: str, message: str
) -> None:
    with pytest.raises(CubError) as error:
        make_custom_harness("mine", settings)
    assert error.value.where == f".cub/config.yaml: harnesses.mine.{key}"
    assert message in error.value.message


def test_it_is_a_harness() -> None:
    client: Harness = make_custom_harness("mine", {"argv": ["run"]})
    assert isinstance(client, CustomHarness)
    assert client.name == "mine"
