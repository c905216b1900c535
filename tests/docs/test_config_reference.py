"""docs/reference/config.md tells of every key, and of every limit, what the code has."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.layout.reading import MOST_LEVELS, MOST_VALUES
from cub.layout.source import MOST_BYTES
from cub.layout.words import written
from cub.project.settings import SETTINGS, Setting

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "config.md"
KINDS = {
    "flag": "`true`, `false`",
    "number": "number of 0 or more",
    "text": "text",
    "time": "time",
    "size": "size",
    "texts": "list of texts",
    "list": "list",
    "mapping": "mapping",
    "specifier": "version specifier",
    "targets": "list of paths",
}


def row(setting: Setting) -> str:
    choices = ", ".join(f"`{choice}`" for choice in setting.choices)
    kind = {
        "whole": f"whole number of {setting.least} or more",
        "choice": choices,
        "choices": f"list of {choices}",
        "template": f"text with {', '.join(f'`{{{name}}}`' for name in setting.choices)}",
    }
    default = "none" if setting.default is None else f"`{written(setting.default)}`"
    cells = (
        f"`{setting.key.replace('*', 'NAME')}`",
        kind.get(setting.kind) or KINDS[setting.kind],
        default,
        "project" if setting.project else "anywhere",
        "yes" if setting.live else "no",
        setting.about.removesuffix("."),
    )
    return f"| {' | '.join(cells)} |"


def test_the_table_of_keys_is_the_table() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| Key |")) + 2
    assert lines[start : start + len(SETTINGS)] == [row(setting) for setting in SETTINGS]
    assert lines[start + len(SETTINGS)].startswith("| `profiles.NAME` | mapping |")


@pytest.mark.parametrize(
    "limit", [f"{MOST_BYTES:,} bytes", f"{MOST_VALUES:,} values", f"{MOST_LEVELS} levels"]
)
def test_the_limits_are_told(limit: str) -> None:
    assert limit in PAGE.read_text(encoding="utf-8")
