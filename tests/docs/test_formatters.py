"""What the page about CI says of formatters that fill lines, tried with the real Prettier."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Cub
from tests.docs.pages import DOCS, recipe

TOOLS = os.environ.get("CUB_NODE_TOOLS", "")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not TOOLS, reason="CUB_NODE_TOOLS names no folder with prettier"),
]


@pytest.mark.parametrize("wrap", ["always", "never"])
@pytest.mark.parametrize("recipe_followed", [True, False])
def test_prettier_that_fills_lines_has_to_be_told(
    project: Path, cub: Cub, wrap: str, recipe_followed: bool
) -> None:
    settings = recipe("ci.md", ".prettierrc.yaml")
    settings["proseWrap"] = wrap
    if not recipe_followed:
        del settings["overrides"]
    (project / ".prettierrc.json").write_text(json.dumps(settings))
    (project / "AGENTS.md").write_text("# Bakery\n\nBread is\ncounted in dozens.\n")
    assert cub("init").code == 0
    subprocess.run(
        [Path(TOOLS, "prettier"), "--write", "."], cwd=project, capture_output=True, check=True
    )
    checked = cub("update", "--check")
    assert (checked.code == 0) == recipe_followed, checked.err


def test_prettier_leaves_what_stands_between_its_comments(project: Path, cub: Cub) -> None:
    above, below = "<!-- prettier-ignore-start -->", "<!-- prettier-ignore-end -->"
    page = (DOCS / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert above in page
    assert below in page
    agents = project / "AGENTS.md"
    agents.write_text("Bread is\ncounted in dozens.\n")
    (project / ".prettierrc.json").write_text('{"proseWrap": "always"}')
    (project / ".prettierignore").write_text(".cub/\n")
    assert cub("init", "--targets", "AGENTS.md").code == 0
    text, begin, section = agents.read_text().partition("<!-- BEGIN")
    agents.write_text(f"{text}{above}\n\n{begin}{section}\n{below}\n")
    subprocess.run(
        [Path(TOOLS, "prettier"), "--write", "."], cwd=project, capture_output=True, check=True
    )
    assert "Bread is counted in dozens." in agents.read_text()
    assert cub("update", "--check").code == 0
