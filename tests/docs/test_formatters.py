"""What the page about CI says of formatters that wrap lines, tried with the real Prettier."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Cub
from tests.docs.pages import DOCS

TOOLS = os.environ.get("CUB_NODE_TOOLS", "")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not TOOLS, reason="CUB_NODE_TOOLS names no folder with prettier"),
]


@pytest.mark.parametrize("wrap", ["always", "never"])
def test_prettier_that_wraps_lines_leaves_a_project_current(
    project: Path, cub: Cub, wrap: str
) -> None:
    page = (DOCS / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert "Prettier 2 and 3 (`--write`, `--prose-wrap always` or `never`)" in page
    (project / ".prettierrc.json").write_text(json.dumps({"proseWrap": wrap}))
    (project / "AGENTS.md").write_text("# Bakery\n\nBread is\ncounted in dozens.\n")
    assert cub("init").code == 0
    subprocess.run(
        [Path(TOOLS, "prettier"), "--write", "."], cwd=project, capture_output=True, check=True
    )
    assert "Bread is counted in dozens." in (project / "AGENTS.md").read_text()
    checked = cub("update", "--check")
    assert checked.code == 0, checked.err
