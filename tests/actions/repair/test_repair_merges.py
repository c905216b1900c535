"""Two branches on which cub wrote different sections, merged by git, and repaired."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.edit.document import Document
from cub.edit.section_writer import put_section
from tests.actions.helpers import body, init, remove, settled, update, write
from tests.actions.repairs import look, repair
from tests.actions.reviews import commit
from tests.conftest import git

STYLES = ["merge", "diff3", "zdiff3"]
# What the styles differ in is read in the same way whatever is merged.
OTHERS = [pytest.param(style, marks=pytest.mark.thorough) for style in STYLES[1:]]
TEXT = "# Bakery\n\nBread is counted in dozens.\n"
Change = Callable[[Path], object]


def mapped(root: Path) -> None:
    """On this branch there is a map, so that every section refers to it."""
    write(root, ".cub/map.md", "# Map\n")
    update(root)


def other_words(root: Path) -> None:
    """On this branch, a cub with other templates wrote the section."""
    agents = root / "AGENTS.md"
    words = body(root, "AGENTS.md").replace("\r\n", "\n").replace("- Claim:", "- Take:")
    document = Document(agents.read_bytes(), "AGENTS.md")
    agents.write_bytes(put_section(document, words, 1).document.data)


def line(text: str, old: str) -> Change:
    """Somebody writes `text` in place of `old`."""

    def write_it(root: Path) -> None:
        agents = root / "AGENTS.md"
        before = agents.read_text()
        assert old in before
        agents.write_text(before.replace(old, text))

    return write_it


def both(*changes: Change) -> Change:
    return lambda root: [change(root) for change in changes]


def merge(root: Path, style: str, start: Change, ours: Change, theirs: Change) -> Path:
    """The project in the middle of a merge with a conflict in AGENTS.md."""
    write(root, "AGENTS.md", TEXT)
    _commit(root, start)
    git(root, "checkout", "-q", "-b", "theirs")
    _commit(root, theirs)
    git(root, "checkout", "-q", "-b", "ours", "HEAD~1")
    _commit(root, ours)
    command = ["git", "-c", f"merge.conflictStyle={style}", "merge", "-q", "theirs"]
    assert subprocess.run(command, cwd=root, capture_output=True, check=False).returncode == 1
    assert "AGENTS.md" in git(root, "diff", "--name-only", "--diff-filter=U")
    return root / "AGENTS.md"


def _commit(root: Path, change: Change) -> None:
    change(root)
    commit(root)


def titles(root: Path) -> list[str]:
    return [choice.edit.reason for choice in look(root).choices]


def nothing(_: Path) -> None:
    """As it is."""


@pytest.mark.parametrize("style", STYLES)
def test_sections_of_two_cubs_become_one(project: Path, style: str) -> None:
    merge(project, style, init, mapped, other_words)
    assert titles(project) == ["keep one section"]
    repair(project)
    assert settled(project)
    assert "@.cub/map.md" in body(project, "AGENTS.md")
    assert "- Take:" not in (project / "AGENTS.md").read_text()


@pytest.mark.parametrize("style", ["merge", *OTHERS])
def test_both_branches_began_with_cub(project: Path, style: str) -> None:
    ours = both(lambda root: write(root, ".cub/map.md", "# Map\n"), init)
    agents = merge(project, style, nothing, ours, init)
    assert titles(project) == ["keep one section"]
    repair(project)
    assert agents.read_text().startswith(TEXT + "\n<!-- BEGIN")
    assert "@.cub/map.md" in body(project, "AGENTS.md")


@pytest.mark.parametrize("style", ["merge", *OTHERS])
def test_lines_that_both_wrote_beside_the_section_stay(project: Path, style: str) -> None:
    said = "Bread is counted in dozens.\n"
    agents = merge(
        project,
        style,
        nothing,
        both(line(f"{said}Rye too.\n", said), lambda root: write(root, ".cub/map.md", "#\n"), init),
        both(line(f"{said}Not rye.\n", said), init),
    )
    repair(project)
    assert body(project, "AGENTS.md")
    assert look(project).broken_files == ()
    text = agents.read_text()
    assert text.index("<<<<<<< HEAD\nRye too.\n") < text.index(
        "=======\nNot rye.\n>>>>>>> theirs\n"
    )
    assert text.count("<<<<<<<") == 1


@pytest.mark.parametrize("style", STYLES)
def test_an_edit_inside_on_one_branch_goes_below(project: Path, style: str) -> None:
    edit = line("- Ask Ada first.\n- Operating", "- Operating")
    agents = merge(project, style, init, mapped, edit)
    assert titles(project) == ["keep one section, the edits in it go below"]
    repair(project)
    assert settled(project)
    assert agents.read_text().endswith("SECTION -->\n\n- Ask Ada first.\n")


@pytest.mark.parametrize("style", ["merge", *OTHERS])
def test_one_branch_took_cub_out(project: Path, style: str) -> None:
    agents = merge(project, style, init, mapped, remove)
    merged = agents.read_text()
    assert titles(project) == ["keep one section", "leave the section out"]
    repair(project)
    assert "@.cub/map.md" in body(project, "AGENTS.md")
    agents.write_text(merged)
    repair(project, 2)
    assert agents.read_text().rstrip("\n") + "\n" == TEXT


def test_windows_line_ends_survive_a_merge(project: Path) -> None:
    def windows(root: Path) -> None:
        write(root, ".gitattributes", "* -text\n")
        write(root, "AGENTS.md", TEXT.replace("\n", "\r\n"))
        init(root)

    agents = merge(project, "diff3", windows, mapped, other_words)
    repair(project)
    assert settled(project)
    assert agents.read_bytes().replace(b"\r\n", b"").count(b"\n") == 0


def test_a_project_below_the_top_of_the_repository_is_merged_too(project: Path) -> None:
    root = project / "shop"
    (root / ".cub").mkdir(parents=True)
    (root / ".cub" / "constitution.md").write_text("Mine.\n")
    merge(root, "merge", init, mapped, other_words)
    assert titles(root) == ["keep one section"]


def test_both_files_in_conflict_are_rendered_for_each_other(project: Path) -> None:
    """CLAUDE.md imports AGENTS.md, whether or not that one is whole yet."""
    write(project, "CLAUDE.md", "")
    merge(project, "merge", nothing, both(lambda r: write(r, ".cub/map.md", "# Map\n"), init), init)
    claude = project / "CLAUDE.md"
    section = claude.read_text()
    claude.write_text(f"<<<<<<< ours\n{section}=======\n{section}>>>>>>> theirs\n")
    assert [choice.edit.path for choice in look(project).choices] == ["AGENTS.md", "CLAUDE.md"]
    repair(project, 2)
    assert claude.read_text() == section
    repair(project, 1)
    assert settled(project)
