from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from cub.actions.review.section_verdict import VERDICT_MEANINGS
from cub.actions.schemas import CONFIG, bundle_schema, find_schema, list_schemas
from cub.errors import UsageError
from cub.project.config_layers import ValueOrigin
from cub.project.config_schema import build_config_schema as config_schema
from cub.project.executable_config import ExecutableKind as Executed
from cub.repomap.stack.facts import CommandOrigin, CommandPurpose, TechnologyRole
from cub.repomap.symbols.file_facts import DefinitionKind as Symbol
from cub.resources import find_data_dir
from cub.store.task_schema import LIST_KEYS, TASK_KEYS

NAMES = [one.name for one in list_schemas()]
FILES = sorted(find_data_dir("schemas").glob("*.json"))


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from parts(inner)


def choices(name: str, *path: str) -> set[str]:
    """The words that a value may be, found by the keys that lead to it through lists."""
    tree = bundle_schema(name)
    for key in path:
        tree = tree["properties"][key]
        tree = tree.get("items", tree)
    return set(tree["enum"]) - {None}


@pytest.mark.parametrize("name", NAMES)
def test_each_is_one_schema_that_refers_to_nothing_outside(name: str) -> None:
    tree = bundle_schema(name)
    Draft202012Validator.check_schema(tree)
    assert tree["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert tree["title"]
    named = {f"#/$defs/{key}" for key in tree.get("$defs", ())}
    assert {part["$ref"] for part in parts(tree) if isinstance(part.get("$ref"), str)} == named
    assert sum("$id" in part and isinstance(part["$id"], str) for part in parts(tree)) <= 1


@pytest.mark.parametrize("name", [name for name in NAMES if name != CONFIG])
def test_each_has_a_name_a_description_and_descriptions_of_its_keys(name: str) -> None:
    tree = bundle_schema(name)
    assert (tree["$id"], bool(tree["description"])) == (f"urn:cub:schema:v1:{name}", True)
    for part in parts(tree):
        if part.get("type") in ("object", ["object", "null"]) and "properties" in part:
            for key, inner in part["properties"].items():
                about = tree["$defs"][inner["$ref"][8:]] if "$ref" in inner else inner
                assert "description" in about or "description" in inner, key


def test_the_configuration_is_that_of_cub_config_schema() -> None:
    assert bundle_schema(CONFIG) == config_schema()


def test_no_name_means_two_things() -> None:
    found = Counter(key for path in FILES for key in json.loads(path.read_bytes()).get("$defs", ()))
    assert [key for key, count in found.items() if count > 1] == []
    made = [bundle_schema(name) for name in NAMES if name != CONFIG]
    referred = {part["$ref"] for tree in made for part in parts(tree) if "$ref" in part}
    whole = {"plan", "status"}  # the only ones that are a part of another one as a whole
    assert referred - {f"#/$defs/{key}" for key in found} == {f"#/$defs/{key}" for key in whole}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_files_are_written_one_way(path: Any) -> None:
    text = path.read_text("utf-8")
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_words_are_those_of_the_code() -> None:
    assert choices("review", "files", "section", "verdict") == set(VERDICT_MEANINGS)
    assert choices("review", "executes", "kind") == set(get_args(Executed))
    assert choices("map", "symbols", "kind") == set(get_args(Symbol))
    assert choices("map", "technologies", "role") == set(get_args(TechnologyRole))
    assert choices("map", "commands", "purpose") == set(get_args(CommandPurpose))
    assert choices("map", "commands", "origin") == set(get_args(CommandOrigin))
    assert set(bundle_schema("setting")["$defs"]["setting"]["properties"]["origin"]["enum"]) == set(
        get_args(ValueOrigin)
    )


def test_a_task_has_the_keys_of_the_store() -> None:
    task = bundle_schema("tasks")["$defs"]["task"]
    assert list(task["properties"]) == [*TASK_KEYS, "origin"]
    assert set(task["required"]) == set(TASK_KEYS)
    foreign = {"$ref": "#/$defs/task", "$defs": bundle_schema("tasks")["$defs"]}
    empty: dict[str, Any] = {key: [] if key in LIST_KEYS else None for key in TASK_KEYS}
    record = {**empty, "id": "a", "status": "later", "estimate": 3}
    assert Draft202012Validator(foreign).is_valid(record)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("plan", "plan"),
        ("init", "plan"),
        ("cub init", "plan"),
        ("task list", "tasks"),
        ("cub task dep add", "tasks"),
        ("task", "task"),
        ("ledger show", "task-events"),
        ("run", "run-event"),
        ("config", "config"),
        ("config show", "settings"),
    ],
)
def test_a_schema_is_found_by_its_name_or_by_a_command(words: str, name: str) -> None:
    assert find_schema(words) == name


@pytest.mark.parametrize(
    ("words", "hint"),
    [("plam", "did you mean 'plan'?"), ("zebra", "run `cub schema` to list them")],
)
def test_an_unknown_one_is_refused(words: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_schema(words)
    assert (raised.value.message, raised.value.hint) == (f"unknown schema {words!r}", hint)
