"""GEMINI.md: Gemini CLI resolves imports, and gets the shared text once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.helpers import body, init, remove, settled, update, write
from tests.actions.targets import (
    AGENTS,
    ALL,
    GEMINI,
    SHARED,
    written,
)

# GEMINI.md as a person has it, and what its section says then: the shared text, an import, or
# nothing, with AGENTS.md as a target and without it.
GEMINI_TABLE = {
    "none": (None, "import", "shared"),
    "empty": (b"", "import", "shared"),
    "text": (b"G.\n", "shared", "shared"),
    "an import": (b"@AGENTS.md\n", "", "shared"),
    "an import with a dot": (b"@./AGENTS.md", "", "shared"),
    "an import in a text": (b"G.\n\nSee @AGENTS.md first\n", "", "shared"),
    "an import in code": (b"`@AGENTS.md`\n", "shared", "shared"),
    "an import with a full stop": (b"See @AGENTS.md.\n", "shared", "shared"),
    "a flattened link": (b"AGENTS.md", "", ""),
}


@pytest.mark.parametrize("name", GEMINI_TABLE)
@pytest.mark.parametrize("beside", [True, False])
def test_gemini_gets_the_shared_text_once(project: Path, name: str, beside: bool) -> None:
    text, with_agents, alone = GEMINI_TABLE[name]
    write(project, AGENTS, "A.\n")
    written(project, {GEMINI: text} if text is not None else {})
    init(project, targets=(AGENTS, GEMINI) if beside else (GEMINI,))
    said = body(project, GEMINI)
    found = "shared" if SHARED in said else "import" if "@AGENTS.md" in said else ""
    assert found == (with_agents if beside else alone)
    assert bool(said) == bool(found)
    assert settled(project)


def test_an_import_that_comes_later_takes_the_text_out_of_gemini_s_file(project: Path) -> None:
    write(project, GEMINI, "G.\n")
    init(project, targets=ALL)
    file = project / GEMINI
    file.write_bytes(b"@AGENTS.md\n\n" + file.read_bytes())
    update(project)
    assert SHARED not in body(project, GEMINI)
    assert "@" not in body(project, GEMINI)
    assert settled(project)
    file.write_bytes(file.read_bytes().removeprefix(b"@AGENTS.md\n\n"))
    update(project)
    assert SHARED in body(project, GEMINI)
    remove(project)
    assert file.read_bytes() == b"G.\n"


def test_a_gemini_file_that_cub_made_keeps_its_import(project: Path) -> None:
    init(project, targets=(AGENTS, GEMINI))
    file = project / GEMINI
    file.write_bytes(b"Mine.\n\n" + file.read_bytes())
    assert settled(project)


@pytest.mark.parametrize("name", ["AGENTS.md", "GEMINI.md", "./AGENTS.md"])
def test_gemini_s_settings_count_as_what_it_loads(project: Path, name: str) -> None:
    write(project, GEMINI, "G.\n")
    write(project, ".gemini/settings.json", f'{{"context": {{"fileName": ["{name}"]}}}}\n')
    init(project, targets=(AGENTS, GEMINI))
    has_text = (project / GEMINI).read_bytes() != b"G.\n"
    assert has_text == (name == "GEMINI.md")
    assert settled(project)
