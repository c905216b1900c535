"""The shapes in docs/reference/json.md are the ones that the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.conftest import Cub

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"


def examples() -> list[Any]:
    page = PAGE.read_text(encoding="utf-8")
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]


def shape(value: Any) -> Any:
    """Keys and kinds of values, in order; of a list, the shapes that its items have."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [json.loads(text) for text in sorted({json.dumps(shape(item)) for item in value})]
    return "number" if value is None or isinstance(value, int) else type(value).__name__


def test_a_plan(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("mapp: 1\n")
    assert shape(json.loads(cub("init", "--json").out)) == shape(examples()[0])


def test_a_status(cub: Cub) -> None:
    assert cub("init").code == 0
    printed = json.loads(cub("status", "--json").out)
    assert printed["files"][1] == examples()[1]["files"][0]
    assert shape({**printed, "files": []}) == shape({**examples()[1], "files": []})


def test_an_error(cub: Cub, project: Path) -> None:
    (project / "AGENTS.md").write_text("# A\n\n<!-- END CUB MANAGED SECTION -->\n")
    done = cub("init", "--json")
    assert (done.code, json.loads(done.out)) == (1, examples()[2])
