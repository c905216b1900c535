"""`inline`: texts stand in the sections themselves, and are kept up to date there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import plan_update
from cub.edit.file_imports import find_imports
from cub.errors import CombinedError, CubError
from cub.project.project import Project
from tests.actions.helpers import body, init, remove, rows, settled, states, update, write
from tests.conftest import tree

CONSTITUTION, MAP = ".cub/constitution.md", ".cub/map.md"
ALL = "AGENTS.md, CLAUDE.md, GEMINI.md, .github/copilot-instructions.md, .cursor/rules/cub.mdc"


def _inline(root: Path, *names: str, targets: str = "AGENTS.md, CLAUDE.md") -> None:
    text = f"targets: [{targets}]\ninline: [{', '.join(names)}]\n"
    write(root, ".cub/config.yaml", text)


def _section(root: Path, path: str = "AGENTS.md") -> str:
    return (root / path).read_text(encoding="utf-8")


def test_the_constitution_that_init_installs_is_inlined_at_once(project: Path) -> None:
    _inline(project, "constitution")
    init(project)
    text = body(project, "AGENTS.md")
    assert "\n### Constitution\n" in text
    assert "\n#### Principles\n" in text
    assert find_imports(text) == frozenset()
    assert settled(project)


def test_only_what_is_asked_for_is_inlined(project: Path) -> None:
    write(project, MAP, "# Map\n\n- bake.py\n")
    _inline(project, "map")
    init(project)
    text = body(project, "AGENTS.md")
    assert text.rstrip("\n").endswith("\n### Map\n\n- bake.py")
    assert find_imports(text) == {CONSTITUTION}
    assert settled(project)


def test_an_own_map_is_inlined_without_its_header(project: Path) -> None:
    write(project, "src/oven.py", "def heat() -> None: ...\n")
    _inline(project, "map", "constitution")
    init(project)
    text = body(project, "AGENTS.md")
    assert "cub file" not in text
    assert text.index("### Project map") < text.index("heat") < text.index("### Constitution")
    assert find_imports(text) == frozenset()
    assert settled(project)


def test_every_reader_gets_the_texts_once(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, "GEMINI.md", "G.\n")
    _inline(project, "constitution", targets=ALL)
    init(project)
    title = "### Constitution"
    with_text = [path for path in ALL.split(", ") if _section(project, path).count(title) == 1]
    assert with_text == [path for path in ALL.split(", ") if path != "CLAUDE.md"]
    assert title not in _section(project, "CLAUDE.md")
    assert "@AGENTS.md" in body(project, "CLAUDE.md")
    assert settled(project)


@pytest.mark.parametrize("name", ["constitution", "map"])
def test_a_changed_text_is_work_for_update(project: Path, name: str) -> None:
    write(project, MAP, "# Map\n\n- bake.py\n")
    write(project, "GEMINI.md", "G.\n")
    _inline(project, name, targets=ALL)
    init(project)
    file = project / f".cub/{name}.md"
    file.write_bytes(file.read_bytes() + b"\n- One more.\n")
    changed = [edit.path for edit in plan_update(Project.load(project)).shared_edits]
    assert changed == [path for path in ALL.split(", ") if path != "CLAUDE.md"]
    found = states(project)
    assert {found[path] for path in changed} == {"stale"}
    update(project)
    assert all("\n- One more.\n" in _section(project, path) for path in changed)
    assert settled(project)


def test_a_formatters_pass_over_the_text_is_no_work(project: Path) -> None:
    _inline(project, "constitution")
    init(project)
    file = project / CONSTITUTION
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"  \r\n") + b"\r\n")
    assert settled(project)


@pytest.mark.parametrize("inline", ["", "inline: [constitution]\n"])
def test_switching_is_an_ordinary_update(project: Path, inline: str) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, ".cub/config.yaml", "inline: [constitution]\n" if not inline else "")
    init(project)
    write(project, ".cub/config.yaml", inline)
    update(project)
    assert ("### Constitution" in body(project, "AGENTS.md")) == bool(inline)
    assert settled(project)
    remove(project)
    assert (project / "AGENTS.md").read_bytes() == b"A.\n"


def test_names_of_instruction_files_in_a_text_are_not_taken_for_cubs_own_words(
    project: Path,
) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, "CLAUDE.md", "C.\n")
    write(project, "GEMINI.md", "G.\n")
    write(project, MAP, "# Map\n\n- CLAUDE.md, and @AGENTS.md with a note\n")
    _inline(project, "map", targets="AGENTS.md, CLAUDE.md, GEMINI.md")
    init(project)
    assert settled(project)
    assert "Read CLAUDE.md in this directory first" not in body(project, "AGENTS.md")
    assert "Shared instructions: @AGENTS.md" not in body(project, "CLAUDE.md")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---\ntitle: x\n---\n",
        "Text without a heading.\n",
        "Setext\r\n======\r\n\r\n- a\r\n",
        "# T\n\n```sh\n# comment\n<!-- END CUB MANAGED SECTION -->\n```\n",
        "# T\n\n    <!-- BEGIN CUB MANAGED SECTION v1 -->\n",
        "<div>\n\n# In HTML\n\n</div>\n",
        "{{ 7 * 7 }} {% raw %} {# x #}\n",
        "- a list\n- at the end",
        "# T\n\n| a | b |\n|---|---|\n",
        "###### Six\n\n# One\n",
        "a\u2028b\u0085c\x0cd\n",
        "\0\n",
    ],
)
def test_any_text_of_a_person_s_can_be_inlined_and_taken_out(project: Path, text: str) -> None:
    before = {"AGENTS.md": b"A.\n\n- a", "CLAUDE.md": b"C.\r\n", CONSTITUTION: text.encode()}
    (project / ".cub").mkdir()
    for path, data in before.items():
        (project / path).write_bytes(data)
    _inline(project, "constitution", "map")
    init(project)
    assert settled(project)
    assert states(project)["AGENTS.md"] == states(project)["CLAUDE.md"] == "current (v1)"
    remove(project)
    assert {path: (project / path).read_bytes() for path in before} == before


def test_what_is_no_utf_8_is_inlined_as_far_as_it_can_be_read(project: Path) -> None:
    write(project, CONSTITUTION, "")
    (project / CONSTITUTION).write_bytes(b"# Caf\xe9\n")
    _inline(project, "constitution")
    init(project)
    assert "### Caf\ufffd" in body(project, "AGENTS.md")
    assert settled(project)


UNFIT = {
    "an open fence": (b"# T\n\n```\n", ".cub/constitution.md", "line 3 is never closed"),
    "a section": (
        b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nx\n\n<!-- END CUB MANAGED SECTION -->\n",
        ".cub/constitution.md:1",
        "with a managed section",
    ),
    "a conflict": (
        b"# T\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n",
        ".cub/constitution.md:3",
        "conflict markers",
    ),
    "UTF-16": ("# T\n\nText.\n".encode("utf-16"), ".cub/constitution.md", "UTF-16"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_text_that_would_break_the_section_stops_init_and_update(
    project: Path, name: str
) -> None:
    data, where, message = UNFIT[name]
    _inline(project, "constitution")
    init(project)
    (project / CONSTITUTION).write_bytes(data)
    before = tree(project)
    for command in (init, update):
        with pytest.raises(CubError, match=message) as caught:
            command(project)
        assert caught.value.where == where
    assert tree(project) == before


@pytest.mark.parametrize("name", UNFIT)
def test_such_a_text_stops_neither_status_nor_remove(project: Path, name: str) -> None:
    data, where, message = UNFIT[name]
    write(project, "AGENTS.md", "A.\n")
    _inline(project, "constitution")
    init(project)
    (project / CONSTITUTION).write_bytes(data)
    row = rows(project)[CONSTITUTION]
    assert message in row.state
    assert row.line == (int(where.split(":")[1]) if ":" in where else None)
    remove(project)
    assert (project / "AGENTS.md").read_bytes() == b"A.\n"
    assert (project / CONSTITUTION).read_bytes() == data


def test_an_unfit_text_is_told_beside_the_other_faults(project: Path) -> None:
    _inline(project, "constitution")
    init(project)
    write(project, CONSTITUTION, "```\n")
    write(project, "CLAUDE.md", "<!-- END CUB MANAGED SECTION -->\n")
    with pytest.raises(CombinedError) as caught:
        update(project)
    assert [error.where for error in caught.value.errors] == ["CLAUDE.md:1", CONSTITUTION]


def test_an_edit_inside_an_inlined_text_is_never_lost(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    _inline(project, "constitution")
    init(project)
    file = project / "AGENTS.md"
    file.write_bytes(
        file.read_bytes().replace(b"### Constitution\n", b"### Constitution\n\nMine.\n")
    )
    with pytest.raises(CubError, match="edited manually") as caught:
        update(project)
    assert "as cub wrote it" in caught.value.details[0]
    assert [line for line in caught.value.details[2:] if line[:1] in "+-"] == ["+Mine.", "+"]
    update(project, edited="move")
    assert file.read_bytes().endswith(b"SECTION -->\n\nMine.\n")
    assert settled(project)
