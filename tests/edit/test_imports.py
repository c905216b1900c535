from __future__ import annotations

import pytest

from cub.edit.imports import imports


@pytest.mark.parametrize(
    "text",
    [
        "@AGENTS.md",
        "@./AGENTS.md\n",
        "# Rules @AGENTS.md\n",
        "- see: @AGENTS.md\n",
        "> @AGENTS.md and more\n",
        "text\n@AGENTS.md\ntext\n",
        "| a |\n|---|\n| @AGENTS.md |\n",
        "<!-- note -->\n@AGENTS.md\n",
        "<!-- note -->\n\n@docs/../AGENTS.md\n",
    ],
)
def test_an_import_in_plain_text_counts(text: str) -> None:
    assert "AGENTS.md" in imports(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AGENTS.md",
        "`@AGENTS.md`",
        "```\n@AGENTS.md\n```\n",
        "text\n\n    @AGENTS.md\n",
        "<!-- @AGENTS.md -->\n",
        "<!--\n@AGENTS.md\n-->\n",
        "<div>\n@AGENTS.md\n</div>\n",
        "(@AGENTS.md)",
        "[t](@AGENTS.md)",
        "[@AGENTS.md](x)",
        '"@AGENTS.md"',
        "map:@AGENTS.md",
        "@AGENTS.md.",
        "@AGENTS.md, and more",
        "me@AGENTS.md",
        "@docs/AGENTS.md",
        "@AGENTS.mdx",
        "a `code` @AGENTS.md`x`",
        "\\@AGENTS.md text",
        "&#32;@AGENTS.md",
        "[x]: @AGENTS.md",
    ],
)
def test_anything_else_does_not(text: str) -> None:
    assert "AGENTS.md" not in imports(text)
