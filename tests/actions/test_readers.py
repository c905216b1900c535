"""Law 11 from the readers' side: whatever a person has, every client loads the shared text once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cub.actions.init_update import plan_init, plan_update
from cub.edit.file_imports import find_imports
from cub.files.file_tree import FileTree, PlannedTree
from cub.project.project import Project
from cub.project.targets import TARGETS
from tests.examples import hardly_any_examples
from tests.project.memory_tree import MemoryTree

AGENTS, CLAUDE, GEMINI, COPILOT, CURSOR = ALL = tuple(row.path for row in TARGETS)
SHARED = "Work in tasks:"
# What a person may have under a name: nothing, a text, or (behind `->`) a link.
_TEXTS = (None, "", "Mine.\n", "@AGENTS.md\n", "Mine.\n\n@AGENTS.md\n")
HAD = {
    AGENTS: (None, "", "Mine.\n", "->CLAUDE.md", "->GEMINI.md"),
    CLAUDE: (*_TEXTS, "@GEMINI.md\n", "Mine.\n\n@GEMINI.md\n", "->AGENTS.md", "->GEMINI.md"),
    GEMINI: (*_TEXTS, "@CLAUDE.md\n", "Mine.\n\n@CLAUDE.md\n", "->AGENTS.md", "->CLAUDE.md"),
    COPILOT: (None, "Mine.\n", "->../AGENTS.md"),
    CURSOR: (None,),
}
PROJECTS = st.fixed_dictionaries({path: st.sampled_from(had) for path, had in HAD.items()})
TARGET_SETS = st.sets(st.sampled_from(ALL), min_size=1).map(sorted)
SETTINGS = st.sampled_from([(), (), (AGENTS,), (CLAUDE,)])


def _tree(had: dict[str, str | None], targets: list[str], setting: tuple[str, ...]) -> MemoryTree:
    files = {path: text.encode() for path, text in had.items() if text and text[:2] != "->"}
    links = {path: text[2:] for path, text in had.items() if text and text[:2] == "->"}
    files |= {path: b"" for path, text in had.items() if text == ""}
    files[".cub/config.yaml"] = f"targets: [{', '.join(targets)}]\n".encode()
    if setting:
        names = ", ".join(f'"{name}"' for name in setting)
        files[".gemini/settings.json"] = f'{{"context": {{"fileName": [{names}]}}}}\n'.encode()
    return MemoryTree(files, links)


def _is_sound(tree: MemoryTree) -> bool:
    """Whether no link dangles, and none leads in a circle."""
    ends = set(tree.links)
    for _ in ALL:
        ends = {tree.links[end].removeprefix("../") for end in ends if end in tree.links}
    return not ends and all(tree.get_identity(link) for link in tree.links)


def _loaded(tree: FileTree, path: str, passed: set[object]) -> Iterator[tuple[str, str]]:
    """The files that a client loads which replaces imports, each once."""
    key = _key(tree, path)
    data = tree.read(path) if path in tree.list_names("") else None
    if data is None or key in passed:
        return
    passed.add(key)
    yield path, data.decode()
    for name in sorted(find_imports(data.decode())):
        if "/" not in name:
            yield from _loaded(tree, name, passed)


def _readers(tree: FileTree, setting: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """What the reader of each target loads: that file, and what it brings along."""
    passed: set[object] = set()
    by_gemini = (file for name in (*setting, GEMINI) for file in _loaded(tree, name, passed))
    return {
        CLAUDE: dict(_loaded(tree, CLAUDE, set())),
        GEMINI: dict(by_gemini),
        **{path: {path: _text(tree, path)} for path in (AGENTS, COPILOT, CURSOR)},
    }


def _key(tree: FileTree, path: str) -> object:
    found = tree.get_identity(path)
    return path if found is None else found


def _text(tree: FileTree, path: str) -> str:
    return (tree.read(path) or b"").decode()


def _is_a_knot(tree: FileTree, setting: tuple[str, ...]) -> bool:
    """Whether the person makes Gemini CLI load two files that both have readers of their own, or
    lets a file import one that is to import it: no text can then be in each of them and arrive
    once.
    """
    files = _readers(tree, setting)[GEMINI]
    named = {*setting, *files, *(name for text in files.values() for name in find_imports(text))}
    loaded = {_key(tree, name) for name in named}
    ends = [_key(tree, path) for path in (AGENTS, CLAUDE)]
    return len({*ends} & loaded) == 2 or (
        ends[0] == ends[1] and GEMINI in find_imports(_text(tree, CLAUDE))
    )


@hardly_any_examples
@given(PROJECTS, TARGET_SETS, SETTINGS)
def test_every_reader_of_a_target_gets_the_shared_text_once(
    had: dict[str, str | None], targets: list[str], setting: tuple[str, ...]
) -> None:
    tree = _tree(had, targets, setting)
    assume(_is_sound(tree) and not _is_a_knot(tree, setting))
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    planned = PlannedTree(tree, {edit.path: edit.after for edit in plan_init(project).edits})
    readers = _readers(planned, setting)
    counts = {path: sum(text.count(SHARED) for text in readers[path].values()) for path in targets}
    assert counts == dict.fromkeys(targets, 1)


@hardly_any_examples
@given(PROJECTS, TARGET_SETS, SETTINGS)
def test_every_plan_settles(
    had: dict[str, str | None], targets: list[str], setting: tuple[str, ...]
) -> None:
    tree = _tree(had, targets, setting)
    assume(_is_sound(tree))
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    planned = PlannedTree(tree, {edit.path: edit.after for edit in plan_init(project).edits})
    after = replace(project, tree=planned)
    assert plan_init(after).is_empty
    assert plan_update(after).is_empty


@hardly_any_examples
@given(PROJECTS, TARGET_SETS, SETTINGS, st.data())
def test_whatever_a_person_changes_later_settles_too(
    had: dict[str, str | None], targets: list[str], setting: tuple[str, ...], data: st.DataObject
) -> None:
    tree = _tree(had, targets, setting)
    assume(_is_sound(tree))
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    written = {edit.path: edit.after for edit in plan_init(project).edits}
    path = data.draw(st.sampled_from([AGENTS, CLAUDE, GEMINI]))
    text = data.draw(st.sampled_from(["More.\n\n", "@AGENTS.md\n\n", "@CLAUDE.md\n\n"]))
    before = written.get(path) or tree.files.get(path)
    assume(before is not None)
    changed = replace(
        project, tree=PlannedTree(tree, {**written, path: text.encode() + (before or b"")})
    )
    followed = {edit.path: edit.after for edit in plan_update(changed).edits}
    after = replace(project, tree=PlannedTree(changed.tree, followed))
    assert plan_update(after).is_empty
    added = {edit.path: edit.after for edit in plan_init(after).edits}
    again = replace(project, tree=PlannedTree(after.tree, added))
    assert plan_init(again).is_empty
    assert plan_update(again).is_empty


@pytest.mark.parametrize("made", [(), (AGENTS,), (CLAUDE, GEMINI)])
def test_the_model_itself_sees_what_clients_see(made: tuple[str, ...]) -> None:
    tree = MemoryTree({path: b"@AGENTS.md\n" + SHARED.encode() for path in made})
    counts = {p: sum(t.count(SHARED) for t in r.values()) for p, r in _readers(tree, ()).items()}
    assert counts == {**dict.fromkeys(ALL, 0), **dict.fromkeys(made, 1)}
