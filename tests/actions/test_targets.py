"""Any targets of the root: what each of them gets, and that all of it can be taken back."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest

from cub.actions.init_update import plan_update
from cub.project.project import Project
from tests.actions.helpers import body, init, remove, rows, settled, states, update, write
from tests.actions.targets import (
    AGENTS,
    ALL,
    CLAUDE,
    COPILOT,
    CURSOR,
    GEMINI,
    SHARED,
    left,
    warned,
    written,
)
from tests.conftest import tree

COMBINATIONS = tuple(chain.from_iterable(combinations(ALL, n) for n in range(1, len(ALL) + 1)))
# What a person has, by file.
OWN: dict[str, dict[str, bytes]] = {
    "nothing": {},
    "every file": {path: f"My {path}.\n".encode() for path in ALL[:4]},
    "odd bytes": {
        AGENTS: b"\xef\xbb\xbfA\r\n",
        CLAUDE: b"",
        GEMINI: b"---\na: b\n---",
        COPILOT: b"```\nopen",
        CURSOR: b"---\nalwaysApply: false\n---\nMine.\n",
    },
    "imports": {CLAUDE: b"@AGENTS.md\n", GEMINI: b"# G\n\n@./AGENTS.md\n", COPILOT: b"@AGENTS.md"},
}


CASES = [
    *((own, targets) for own in ("nothing", "odd bytes") for targets in COMBINATIONS),
    *((own, ALL) for own in ("every file", "imports")),
]


def is_fast(own: str, targets: tuple[str, ...]) -> bool:
    """Whether this is a case of all targets, or of one with bytes that are hard to keep."""
    return targets == ALL or (own == "odd bytes" and len(targets) == 1)


@pytest.mark.parametrize(
    ("own", "targets"),
    [pytest.param(*case, marks=() if is_fast(*case) else pytest.mark.thorough) for case in CASES],
    ids=str,
)
def test_any_targets_settle_and_are_removed_to_the_byte(
    project: Path, own: str, targets: tuple[str, ...]
) -> None:
    written(project, OWN[own])
    init(project, targets=targets)
    times = {path: (project / path).stat().st_mtime_ns for path in tree(project)}
    assert init(project, targets=targets).is_empty
    assert init(project).is_empty
    assert update(project).is_empty
    assert {path: (project / path).stat().st_mtime_ns for path in tree(project)} == times
    states = {row.state for row in rows(project).values()}
    assert states <= {"current (v1)", "yours", "edited, kept"}
    remove(project)
    assert left(project) == OWN[own]


def test_each_of_several_names_that_are_asked_for_iswritten(project: Path) -> None:
    init(project, targets=ALL)
    for path in (AGENTS, COPILOT):
        assert SHARED in body(project, path)
    assert body(project, GEMINI).splitlines()[2] == "- Shared instructions: @AGENTS.md"
    assert SHARED in (project / CURSOR).read_text()


def test_alone_each_file_says_everything(project: Path) -> None:
    for target in ALL:
        init(project, targets=(target,))
        assert SHARED in (project / target).read_text()
        assert not any((project / other).exists() for other in ALL if other != target)
        assert settled(project)


@pytest.mark.parametrize("path", [COPILOT, CURSOR])
def test_readers_that_get_the_text_twice_are_named(project: Path, path: str) -> None:
    plan = init(project, targets=(AGENTS, path))
    reader = "Copilot" if path == COPILOT else "Cursor"
    said = (path, f"{reader} also reads AGENTS.md, and gets the same text twice")
    assert warned(plan) == [said] == warned(plan_update(Project.load(project)))
    assert warned(init(project, targets=(CLAUDE, path))) == []


@pytest.mark.parametrize("dropped", ALL[:4])
def test_a_target_that_is_left_out_loses_its_section(project: Path, dropped: str) -> None:
    written(project, OWN["every file"])
    init(project, targets=ALL)
    kept = tuple(path for path in ALL if path != dropped)
    init(project, targets=kept)
    assert (project / dropped).read_bytes() == OWN["every file"][dropped]
    assert settled(project)
    assert rows(project).keys() >= {*kept}
    assert dropped not in rows(project)


def test_a_section_of_a_target_dropped_by_hand_is_warned_of_and_removed(project: Path) -> None:
    written(project, {"p/AGENTS.md": b"P.\n"})
    init(project, targets=(AGENTS, GEMINI, COPILOT, "p/AGENTS.md", CURSOR))
    write(project, ".cub/config.yaml", "targets: [AGENTS.md]\n")
    sections = (GEMINI, COPILOT, "p/AGENTS.md")
    dropped = dict.fromkeys(sections, "cub does not update this section")
    dropped[CURSOR] = "cub does not update this file"
    assert dict(warned(update(project))) == dropped
    stale = {path for path, state in states(project).items() if state == "stale"}
    assert stale == {*sections}
    remove(project)
    assert left(project) == {"p/AGENTS.md": b"P.\n"}


def test_nested_files_of_gemini_point_to_the_root(project: Path) -> None:
    write(project, "packages/api/GEMINI.md", "Mine.\n")
    init(project, "packages/api/GEMINI.md")
    assert "`../../AGENTS.md`" in body(project, "packages/api/GEMINI.md")
    init(project, targets=(GEMINI, "packages/api/GEMINI.md"))
    assert "`../../GEMINI.md`" in body(project, "packages/api/GEMINI.md")
    assert body(project, GEMINI)
    assert settled(project)


def test_a_nested_pointer_reaches_its_readers_once(project: Path) -> None:
    write(project, "api/AGENTS.md", "Mine.\n")
    write(project, "api/GEMINI.md", "@AGENTS.md\n")
    write(project, "api/CLAUDE.md", "AGENTS.md")
    init(project, "api", "api/GEMINI.md", "api/CLAUDE.md")
    assert body(project, "api/AGENTS.md")
    assert (project / "api/GEMINI.md").read_bytes() == b"@AGENTS.md\n"
    assert (project / "api/CLAUDE.md").read_bytes() == b"AGENTS.md"
    assert settled(project)
