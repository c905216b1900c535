"""What commands print with `--json` is what the published schemas say, and no key more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.actions.schemas import CONFIG, bundle_schema, list_schemas
from tests.attempts import enter_attempt
from tests.cli.command_tree import walk_commands
from tests.cli.shapes import definitions, fault, unseen
from tests.cli.stories import HEAT, STORIES, Scene, Story
from tests.cli.tasks import OVEN, put
from tests.command_line import call_cub, call_for_json
from tests.conftest import environment

SCHEMAS = {one.name: one for one in list_schemas()}


COMMANDS = [
    name
    for name, context in walk_commands()
    if any("--json" in one.opts for one in context.command.get_params(context))
]


@pytest.fixture
def scene(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Commands called in this process see nothing of this machine or this person."""
    for name, value in environment(home).items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CUB_AGENT", "CUB_ROOT", "CUB_TASK"):
        monkeypatch.delenv(name, raising=False)
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    return Scene(tmp_path, home)


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(story, id=name, marks=pytest.mark.thorough if name == "runs" else ())
        for name, story in STORIES.items()
    ],
)
def test_what_is_printed_is_what_the_schemas_say(story: Story, scene: Scene) -> None:
    story.tell(scene)
    faults = [wrong for name, value in scene.values if (wrong := fault(name, value))]
    assert not faults, "\n".join(dict.fromkeys(faults))
    calls = [words for _, words in scene.calls]
    for name, shared in story.schemas.items():
        values = [value for schema, value in scene.values if schema == name]
        assert unseen(name, values, shared) == [], "a key that nothing prints"
        missing = [line for line in SCHEMAS[name].commands if not _is_called(line, calls)]
        assert missing == [], f"{name}: no output of these is looked at"


def _is_called(line: str, calls: list[tuple[str, ...]]) -> bool:
    """Whether one of the calls is of this command, with its options."""
    words = [word for word in line.split()[1:] if not word[0].isupper()]
    path = [word for word in words if not word.startswith("-")]
    return any(list(call[: len(path)]) == path and set(words) <= set(call) for call in calls)


def test_every_schema_is_held_against_real_output() -> None:
    held = [one for story in STORIES.values() for one in story.schemas.items()]
    assert {name for name, _ in held} == SCHEMAS.keys() - {CONFIG}  # which has tests of its own
    assert definitions() == {one for _, shared in held for one in shared} | {"other_event"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_prints_json_has_a_schema(command: str) -> None:
    described = [line for one in SCHEMAS.values() for line in one.commands]
    assert [line for line in described if f"{line} ".startswith(f"cub {command} ")]


def test_every_command_of_a_schema_is_there() -> None:
    for one in SCHEMAS.values():
        for line in one.commands:
            assert [name for name in COMMANDS if f"{line} ".startswith(f"cub {name} ")], line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_errors_of_one_shape(command: str, scene: Scene) -> None:
    done = call_cub([*command.split(), "--json", "--zebra"], cwd=scene.folder)
    assert (done.code, fault("error", json.loads(done.out))) == (2, "")


@pytest.mark.parametrize("verb", ["claim", "close"])
def test_an_agent_gets_its_own_task_as_it_is(verb: str, scene: Scene) -> None:
    root = scene.project()
    put(root, OVEN)
    enter_attempt(root, HEAT)
    found = call_for_json(root, "task", verb, HEAT)
    assert (fault("tasks", found), found["tasks"][0]["status"]) == ("", "open")


def test_the_command_prints_one_or_lists_all(tmp_path: Path) -> None:
    listed = call_cub(["schema"], cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in listed[1:]] == list(SCHEMAS)
    assert json.loads(call_cub(["schema", "plan"], cwd=tmp_path).out) == bundle_schema("plan")
    assert (
        call_cub(["schema", "task", "list"], cwd=tmp_path).out
        == call_cub(["schema", "tasks"], cwd=tmp_path).out
    )
    assert (
        call_cub(["schema", "config"], cwd=tmp_path).out
        == call_cub(["config", "schema"], cwd=tmp_path).out
    )
    unknown = call_cub(["schema", "plam"], cwd=tmp_path)
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean 'plan'?" in unknown.err
