"""docs/reference/config.md tells of every key, and of every limit, what the code has."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.config_edit.yaml_text import MAX_YAML_LEVELS, MAX_YAML_VALUES, format_yaml
from cub.project.settings import COMMAND_KEYS, SETTINGS, Setting
from cub.source_text import MAX_CONFIG_BYTES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "config.md"
KINDS = {
    "flag": "`true`, `false`",
    "number": "number of at least 0",
    "text": "string",
    "time": "time",
    "size": "size",
    "texts": "list of strings",
    "commands": "list of commands",
    "mapping": "mapping",
    "specifier": "version specifier",
    "targets": "list of paths",
}


def cells(setting: Setting) -> tuple[str, ...]:
    """Key, kind, default and description, as both tables have them."""
    choices = ", ".join(f"`{choice}`" for choice in setting.choices)
    kind = {
        "whole": f"integer of at least {setting.minimum}",
        "choice": choices,
        "choices": f"list of {choices}",
        "template": f"string with {', '.join(f'`{{{name}}}`' for name in setting.choices)}",
    }
    default = "none" if setting.default is None else f"`{format_yaml(setting.default)}`"
    return (
        f"`{setting.key.replace('*', 'NAME')}`",
        kind.get(setting.kind) or KINDS[setting.kind],
        default,
        setting.description.removesuffix("."),
    )


def row(setting: Setting) -> str:
    *first, last = cells(setting)
    place = "project" if setting.is_project_only else "anywhere"
    return f"| {' | '.join([*first, place, last])} |"


def read_rows(header: str) -> list[str]:
    """The rows of a table, by how its header begins, and what follows it."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith(header)) + 2 :]


def test_the_table_of_keys_is_the_table() -> None:
    rows = read_rows("| Key |")
    assert rows[: len(SETTINGS)] == [row(setting) for setting in SETTINGS]
    assert rows[len(SETTINGS)].startswith("| `profiles.NAME` | mapping |")


def test_the_keys_of_a_command_are_a_table_too() -> None:
    rows = read_rows("| Key of a command |")
    expected = [f"| {' | '.join(cells(key))} |" for key in COMMAND_KEYS]
    assert rows[: len(COMMAND_KEYS) + 1] == [*expected, ""]


@pytest.mark.parametrize(
    "limit",
    [f"{MAX_CONFIG_BYTES:,} bytes", f"{MAX_YAML_VALUES:,} values", f"{MAX_YAML_LEVELS} levels"],
)
def test_the_limits_are_told(limit: str) -> None:
    assert limit in PAGE.read_text(encoding="utf-8")
