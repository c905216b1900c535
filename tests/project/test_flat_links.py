from __future__ import annotations

import pytest

from cub.project.flat_links import behind

COPILOT, CURSOR = ".github/copilot-instructions.md", ".cursor/rules/cub.mdc"
KNOWN = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", COPILOT, CURSOR)


def _behind(path: str, **texts: str) -> str:
    """The file behind `path`; keys are names without `.md`."""
    files = {f"{name}.md": text.encode() for name, text in texts.items()}
    return behind(path, lambda p: files.get({COPILOT: "copilot.md"}.get(p, p)), KNOWN)


@pytest.mark.parametrize("text", ["AGENTS.md", "./AGENTS.md", "AGENTS.md\n", "AGENTS.md\r\n"])
def test_a_file_that_is_nothing_but_a_name_is_a_link(text: str) -> None:
    assert _behind("CLAUDE.md", CLAUDE=text, AGENTS="A.\n") == "AGENTS.md"


def test_a_link_is_read_from_where_it_stands() -> None:
    assert _behind(COPILOT, copilot="../AGENTS.md", AGENTS="A.\n") == "AGENTS.md"
    assert _behind(COPILOT, copilot="AGENTS.md", AGENTS="A.\n") == COPILOT


def test_links_are_followed_to_the_last_one() -> None:
    assert _behind("GEMINI.md", GEMINI="CLAUDE.md", CLAUDE="AGENTS.md", AGENTS="A.\n") == (
        "AGENTS.md"
    )


def test_links_in_a_circle_are_plain_text() -> None:
    texts = {"GEMINI": "CLAUDE.md", "CLAUDE": "AGENTS.md", "AGENTS": "CLAUDE.md"}
    assert {_behind(f"{name}.md", **texts) for name in texts} == {f"{name}.md" for name in texts}
    assert _behind("AGENTS.md", AGENTS="AGENTS.md") == "AGENTS.md"


def test_a_link_to_a_target_that_is_not_there_yet_is_a_link() -> None:
    assert _behind("CLAUDE.md", CLAUDE="AGENTS.md") == "AGENTS.md"


def test_agents_md_leads_only_to_what_is_there() -> None:
    assert _behind("AGENTS.md", AGENTS="CLAUDE.md") == "AGENTS.md"
    assert _behind("AGENTS.md", AGENTS="CLAUDE.md", CLAUDE="C.\n") == "CLAUDE.md"


def test_a_nested_instruction_file_counts_only_where_there_is_one() -> None:
    files = {"api/CLAUDE.md": b"AGENTS.md", "api/AGENTS.md": b"A.\n", "web/CLAUDE.md": b"AGENTS.md"}
    assert behind("api/CLAUDE.md", files.get, KNOWN) == "api/AGENTS.md"
    assert behind("web/CLAUDE.md", files.get, KNOWN) == "web/CLAUDE.md"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "Read AGENTS.md",
        "@AGENTS.md",
        "AGENTS.md\nCLAUDE.md",
        "AGENTS.md\n\nMore.",
        "/AGENTS.md",
        "../AGENTS.md",
        "docs/rules.md",
        "agents.md",
        CURSOR,
        "A" * 300,
        "\0AGENTS.md",
    ],
)
def test_anything_else_is_a_text_of_the_users(text: str) -> None:
    assert _behind("CLAUDE.md", CLAUDE=text, AGENTS="A.\n") == "CLAUDE.md"


@pytest.mark.parametrize("text", ["a\0b/AGENTS.md", "a\tb/AGENTS.md", "a\u2028b/AGENTS.md"])
def test_what_no_target_is_called_is_never_looked_for(text: str) -> None:
    files = {"CLAUDE.md": text.encode(), text: b"A.\n"}
    assert behind("CLAUDE.md", files.get, KNOWN) == "CLAUDE.md"
