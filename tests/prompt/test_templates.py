"""What a model is given to read: its size, its form, and that what it refers to is there."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from cub.edit.digests import compute_digest
from cub.edit.file_imports import find_imports
from cub.prompt.section_text import SectionSpec, recognize_section, render_section
from cub.prompt.templates import TemplateSet, load_shipped_templates
from cub.tokens import estimate_tokens

TEMPLATES = ("agents", "claude", "gemini", "rule")
FLAGS = ("shared", "claude", "imports", "read_first", "constitution", "map", "skills")
MAP = "### Project map\n\n- `bake.py`: bakes"
PRINCIPLES = "### Constitution\n\n#### Principles\n\n```sh\n# as it is\n```"
NEEDS = {
    "agents": SectionSpec("agents", constitution=True),
    "agents-everything": SectionSpec("agents", True, True, False, True, True, True, True),
    "claude-full": SectionSpec("claude", claude=True, constitution=True),
    "claude-import": SectionSpec("claude", shared=False, claude=True, imports=True),
    "claude-additions": SectionSpec("claude", shared=False, claude=True, skills=True),
    "gemini": SectionSpec("gemini", constitution=True),
    "gemini-import": SectionSpec("gemini", shared=False, imports=True, constitution=True),
    "gemini-loaded": SectionSpec("gemini", shared=False, constitution=True),
    "rule": SectionSpec("rule", constitution=True, map=True),
    "inlined": SectionSpec("agents", claude=True, map_text=MAP, constitution_text=PRINCIPLES),
    "inlined-one": SectionSpec("claude", claude=True, constitution=True, map_text=MAP),
    "inlined-rule": SectionSpec("rule", map_text=MAP, constitution_text=PRINCIPLES),
    "inlined-elsewhere": SectionSpec(
        "claude", shared=False, claude=True, imports=True, map_text=MAP
    ),
    "nested": SectionSpec("nested", root="../../AGENTS.md"),
}


def _body(need: SectionSpec) -> str:
    templates = load_shipped_templates()
    return render_section(templates, templates.version, need)


def _all_needs() -> list[SectionSpec]:
    return [
        SectionSpec(template, **dict(zip(FLAGS, flags, strict=True)))  # type: ignore[arg-type]
        for template, *flags in product(TEMPLATES, *[(True, False)] * len(FLAGS))
    ]


def _has_shared(need: SectionSpec) -> bool:
    """Whether the shared text is in the body."""
    if need.template == "gemini":
        return need.shared and not need.imports
    return need.shared or need.template in ("agents", "rule")


@pytest.mark.parametrize("name", NEEDS)
def test_section_bodies(name: str, file_regression: object) -> None:
    file_regression.check(_body(NEEDS[name]), extension=".md", basename=name)  # type: ignore[attr-defined]


def test_no_body_names_a_package_to_install() -> None:
    for need in [*_all_needs(), NEEDS["nested"]]:
        assert not re.search(r"cub-agents|\b(uv|uvx|pip|pipx|npm|npx|brew)\b", _body(need)), need


def test_every_body_keeps_the_form_that_formatters_leave_alone() -> None:
    for need in [*_all_needs(), NEEDS["nested"]]:
        body = _body(need)
        lines = body.splitlines()
        assert lines[0] == "## Cub Integration"
        assert estimate_tokens(body) <= 365, need
        assert max(map(len, lines)) < 80, need
        assert not re.search(r"(?m)^\s*(\d+[.)]|[*+]) |\*\w|\b_\w|[ \t]$", body), need
        assert "\n\n\n" not in body, need
        assert body.endswith("\n")
        assert not body.endswith("\n\n")


def test_references_are_written_only_to_what_exists_and_in_the_form_that_resolves() -> None:
    for need in _all_needs():
        body, shared = _body(need), _has_shared(need)
        assert ("Work in tasks:" in body) == shared
        assert (".cub/map.md" in find_imports(body)) == (need.map and shared)
        assert (".cub/constitution.md" in find_imports(body)) == (need.constitution and shared)
        importer = need.template in ("claude", "gemini")
        assert ("AGENTS.md" in find_imports(body)) == (need.imports and importer)
        claude = need.template == "claude" or (need.claude and need.template == "agents")
        assert (".claude/skills" in body) == (need.skills and claude)
        assert ("For Claude Code:" in body) == claude
    assert "@" not in _body(NEEDS["nested"])
    assert "`../../AGENTS.md`" in _body(NEEDS["nested"])


def test_inlined_texts_stand_once_at_the_end_and_only_beside_the_shared_text() -> None:
    for need in _all_needs():
        body = _body(replace(need, map_text=MAP, constitution_text=PRINCIPLES))
        if _has_shared(need):
            assert body.endswith(f"\n\n{MAP}\n\n{PRINCIPLES}\n")
            assert body.removesuffix(f"\n{MAP}\n\n{PRINCIPLES}\n") == _body(need)
        else:
            assert body == _body(need)


def test_only_inlined_texts_have_headings_below_the_section_s_own() -> None:
    for need in [*_all_needs(), NEEDS["nested"]]:
        assert not re.search(r"(?m)^###", _body(need))


def test_a_body_is_recognized_by_its_digest_whatever_it_was_rendered_for() -> None:
    templates = load_shipped_templates()
    for need in (need for need in _all_needs()[::7] if need.template != "rule"):
        body = _body(need)
        found = recognize_section(
            templates, 1, compute_digest(body.encode()), SectionSpec("agents")
        )
        assert found == body
    assert recognize_section(templates, 1, "sha256-0000000000000000", SectionSpec("agents")) is None
    assert recognize_section(templates, 99, compute_digest(b""), SectionSpec("agents")) is None


@pytest.mark.parametrize(("name", "limit"), [("constitution.md", 500), ("runloop.md", 600)])
def test_whole_files_stay_small(name: str, limit: int) -> None:
    assert estimate_tokens(load_shipped_templates().read_file(name)) < limit


def test_the_run_loop_names_its_signals_and_its_trailer() -> None:
    text = load_shipped_templates().read_file("runloop.md")
    for needed in (
        "<stuck>",
        "<promise>COMPLETE</promise>",
        "Status:",
        "Summary:",
        "Tried:",
        "Next:",
    ):
        assert needed in text
    assert "@" not in text


def test_references_and_anchors_hold_together() -> None:
    anchors, references = set(), set()
    for file in sorted((load_shipped_templates().folder).rglob("*.md*")):
        text = file.read_text(encoding="utf-8")
        headings = re.findall(r"(?m)^#+ (.+?) <!-- anchor: ([\w-]+) -->$", text)
        for title, token in headings:
            assert token == title.lower().replace(" ", "-")
        anchors |= {(file.name, token) for _, token in headings}
        for path, token in re.findall(r"\]\(([\w./]*)#([\w-]+)\)", text):
            references.add((Path(path).name or file.name, token))
    assert anchors == references


def test_changes_are_the_lines_of_the_versions_in_between(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        folder = tmp_path / "sections" / f"v{number}"
        folder.mkdir(parents=True)
        (folder / "changes.txt").write_text(f"change {number}\n\n")
    templates = TemplateSet(tmp_path)
    assert templates.version == 3
    assert templates.list_changes(1, 3) == ("v2: change 2", "v3: change 3")
    assert templates.list_changes(3, 3) == ()
