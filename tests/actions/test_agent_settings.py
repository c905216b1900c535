from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.agent_settings import plan_agent_settings
from cub.actions.project_state import load_project_state
from cub.errors import CombinedError, CubError
from cub.project.project import Project
from tests.actions.helpers import body, init, remove, settled, write

GEMINI, AIDER, OPENCODE = ".gemini/settings.json", ".aider.conf.yml", "opencode.json"
ALL = ("gemini", "aider", "opencode")
CONFIG, PRINCIPLES = ".cub/config.yaml", ".cub/constitution.md"


def lists(root: Path) -> dict[str, str]:
    """The settings files that are there, each as one line without blanks."""
    paths = (GEMINI, AIDER, OPENCODE, "opencode.jsonc")
    return {p: "".join((root / p).read_text().split()) for p in paths if (root / p).exists()}


def test_each_client_gets_what_it_lacks(project: Path) -> None:
    init(project, agents=ALL)
    assert lists(project) == {
        GEMINI: '{"context":{"fileName":["GEMINI.md","AGENTS.md"]}}',
        AIDER: "read:-AGENTS.md-.cub/constitution.md",
        OPENCODE: '{"$schema":"https://opencode.ai/config.json",'
        '"instructions":[".cub/constitution.md"]}',
    }
    assert init(project, agents=ALL).is_empty
    assert settled(project)


def test_without_a_client_no_settings_are_touched(project: Path) -> None:
    write(project, GEMINI, "{broken")
    write(project, AIDER, "{broken")
    init(project)
    assert lists(project) == {GEMINI: "{broken", AIDER: "{broken"}


def test_the_edits_stand_in_one_plan_with_reasons(project: Path) -> None:
    plan = init(project, agents=[*ALL, "aider"])
    reasons = {edit.path: (edit.kind, edit.reason) for edit in plan.edits}
    assert reasons["AGENTS.md"][0] == "create"
    assert reasons[GEMINI] == ("create", "let Gemini CLI read AGENTS.md")
    assert reasons[AIDER] == ("create", "let aider read AGENTS.md, .cub/constitution.md")
    assert reasons[OPENCODE] == ("create", "let opencode read .cub/constitution.md")
    assert [edit.path for edit in plan.edits].count(AIDER) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  // mine\n  "context": {"fileName": "RULES.md"}\n}', '["RULES.md", "AGENTS.md"]'),
        ('{"context": {"fileName": ["./AGENTS.md"]}}', '["./AGENTS.md"]'),
        ('{"context": {"fileName": []}}', '["AGENTS.md"]'),
        ('{"context": {"importFormat": "tree"}}', '["GEMINI.md", "AGENTS.md"]'),
    ],
)
def test_what_gemini_read_until_then_stays(project: Path, before: str, after: str) -> None:
    write(project, GEMINI, before)
    init(project, agents=["gemini"])
    assert f'"fileName": {after}' in (project / GEMINI).read_text()


def test_only_what_is_missing_is_named_in_the_reason(project: Path) -> None:
    write(project, AIDER, "read: [AGENTS.md] # mine\n")
    plan = init(project, agents=["aider"])
    assert {e.path: e.reason for e in plan.edits}[AIDER] == f"let aider read {PRINCIPLES}"
    assert (project / AIDER).read_text() == f"read: [AGENTS.md, {PRINCIPLES}] # mine\n"


def test_the_map_is_read_where_there_is_one(project: Path) -> None:
    write(project, ".cub/map.md", "# Map\n")
    init(project, agents=["aider", "opencode"])
    assert lists(project)[AIDER] == f"read:-AGENTS.md-{PRINCIPLES}-.cub/map.md"
    assert lists(project)[OPENCODE].endswith('[".cub/constitution.md",".cub/map.md"]}')


def test_what_is_inlined_is_not_read_twice(project: Path) -> None:
    write(project, ".cub/config.yaml", "inline: [constitution]\n")
    init(project, agents=ALL)
    assert list(lists(project)) == [GEMINI, AIDER]
    assert lists(project)[AIDER] == "read:-AGENTS.md"


@pytest.mark.parametrize(
    ("files", "targets", "read"),
    [
        ({}, None, ["AGENTS.md"]),
        ({"AGENTS.md": "# A\n"}, ["AGENTS.md"], ["AGENTS.md"]),
        ({"AGENTS.md": "# A\n", "CLAUDE.md": "# C\n"}, None, ["AGENTS.md"]),
        ({"CLAUDE.md": "# C\n"}, None, ["CLAUDE.md"]),
        ({"CLAUDE.md": "# C\n"}, ["CLAUDE.md"], ["CLAUDE.md"]),
        ({"AGENTS.md": "CLAUDE.md\n", "CLAUDE.md": "# C\n"}, None, ["CLAUDE.md"]),
    ],
)
def test_aider_reads_the_shared_text_once(
    project: Path, files: dict[str, str], targets: list[str] | None, read: list[str]
) -> None:
    for path, text in files.items():
        write(project, path, text)
    init(project, agents=["aider"], targets=targets)
    assert lists(project)[AIDER] == "".join(["read:", *(f"-{p}" for p in [*read, PRINCIPLES])])
    assert "Work in tasks" in body(project, read[0])


def test_aider_also_reads_what_a_person_wrote_beside_the_pointer(project: Path) -> None:
    write(project, "CLAUDE.md", "# Theirs\n")
    init(project)
    agents = project / "AGENTS.md"
    agents.write_text(f"# Ours\n\n{agents.read_text()}")
    init(project, agents=["aider"])
    assert lists(project)[AIDER] == f"read:-AGENTS.md-CLAUDE.md-{PRINCIPLES}"


def test_aider_follows_a_file_that_was_renamed(project: Path) -> None:
    write(project, "CLAUDE.md", "# Theirs\n")
    init(project, agents=["aider"])
    assert lists(project)[AIDER] == f"read:-CLAUDE.md-{PRINCIPLES}"
    (project / "CLAUDE.md").replace(project / "AGENTS.md")
    init(project, agents=["aider"])
    assert lists(project)[AIDER] == f"read:-{PRINCIPLES}-AGENTS.md"


@pytest.mark.parametrize("text", ["@AGENTS.md\n", "# Mine\n\nSee @AGENTS.md .\n"])
def test_gemini_needs_no_setting_where_its_file_imports_the_other(project: Path, text: str) -> None:
    write(project, "GEMINI.md", text)
    init(project, agents=["gemini"])
    assert lists(project) == {}


def test_gemini_needs_no_setting_where_both_are_one_file(project: Path) -> None:
    write(project, "AGENTS.md", "# A\n")
    (project / "GEMINI.md").symlink_to("AGENTS.md")
    init(project, agents=["gemini"])
    assert lists(project) == {}


def test_gemini_gets_the_shared_text_once_from_its_own_file_or_the_setting(project: Path) -> None:
    targets = ["AGENTS.md", "GEMINI.md"]
    init(project, targets=targets)
    assert "@AGENTS.md" in body(project, "GEMINI.md")
    init(project, agents=["gemini"])
    assert "@AGENTS.md" not in body(project, "GEMINI.md")
    assert settled(project)


def test_opencode_gets_one_file_of_settings(project: Path) -> None:
    write(project, "opencode.jsonc", '{\n\t"model": "m", // mine\n}\n')
    init(project, agents=["opencode"])
    assert list(lists(project)) == ["opencode.jsonc"]
    assert (project / "opencode.jsonc").read_text() == (
        '{\n\t"model": "m", // mine\n\t"instructions": [".cub/constitution.md"],\n}\n'
    )


def test_all_faults_of_all_clients_are_told_and_nothing_is_written(project: Path) -> None:
    write(project, GEMINI, '{"context": {"fileName": 1}}')
    write(project, AIDER, "read: [\n")
    with pytest.raises(CombinedError) as caught:
        init(project, agents=ALL)
    assert [error.where for error in caught.value.errors] == [f"{GEMINI}:1:26", f"{AIDER}:2:1"]
    assert not (project / "AGENTS.md").exists()
    assert not (project / OPENCODE).exists()


def test_a_linked_file_of_settings_stays_a_link(project: Path) -> None:
    write(project, "conf/aider.yml", "# shared\n")
    (project / AIDER).symlink_to("conf/aider.yml")
    init(project, agents=["aider"])
    assert (project / AIDER).is_symlink()
    assert (project / "conf/aider.yml").read_text().startswith("# shared\nread:\n  - AGENTS.md\n")


def test_a_link_is_named_as_the_others_know_it(project: Path) -> None:
    write(project, "CLAUDE.md", "# C\n")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")
    init(project, agents=["aider", "gemini"])
    assert lists(project)[AIDER] == f"read:-AGENTS.md-{PRINCIPLES}"
    assert lists(project)[GEMINI] == '{"context":{"fileName":["GEMINI.md","AGENTS.md"]}}'


def test_a_fault_says_what_to_write_by_hand(project: Path) -> None:
    write(project, GEMINI, '{"context": []}')
    with pytest.raises(CubError) as caught:
        init(project, agents=["gemini"])
    assert caught.value.hint == (
        'replace `context` on line 1 with: "context": {"fileName": ["GEMINI.md", "AGENTS.md"]}'
    )


def test_without_instruction_files_there_is_nothing_for_gemini(project: Path) -> None:
    write(project, ".cub/config.yaml", "targets: []\n")
    seen = load_project_state(Project.load(project), targets=())
    assert plan_agent_settings(seen, ["gemini", "aider", "opencode"]).is_empty


def warnings(root: Path, *, purge: bool = False) -> set[tuple[str, str]]:
    plan = remove(root, purge=purge)
    return {(w.path, w.message) for w in plan.warnings if "still names" in w.message}


def test_remove_leaves_the_settings_and_says_what_they_still_name(project: Path) -> None:
    init(project, agents=ALL)
    before = lists(project)
    gone = "this still names AGENTS.md, which will be deleted"
    assert warnings(project) == {(GEMINI, gone), (AIDER, gone)}
    assert lists(project) == before


def test_purge_names_the_constitution_too(project: Path) -> None:
    write(project, "AGENTS.md", "# Mine\n")
    init(project, agents=ALL)
    gone = f"this still names {PRINCIPLES}, which will be deleted"
    assert warnings(project, purge=True) == {(AIDER, gone), (OPENCODE, gone)}


def test_remove_is_not_stopped_by_settings_that_can_not_be_read(project: Path) -> None:
    write(project, AIDER, "read: [\n")
    init(project)
    assert warnings(project) == set()


@pytest.mark.parametrize(
    ("files", "targets", "agents", "expected"),
    [
        ({"AGENTS.md": "A.\n"}, None, ["claude"], None),
        ({"AGENTS.md": "A.\n"}, "[AGENTS.md]", ["claude"], "[AGENTS.md]"),
        ({"AGENTS.md": "A.\n", "CLAUDE.md": "C.\n"}, "[AGENTS.md]", ["codex"], "[AGENTS.md]"),
        (
            {"AGENTS.md": "A.\n", "CLAUDE.md": "C.\n"},
            "[AGENTS.md]",
            ["claude"],
            "[AGENTS.md, CLAUDE.md]",
        ),
        (
            {"AGENTS.md": "A.\n", ".claude/CLAUDE.md": "C.\n"},
            "[AGENTS.md]",
            ["claude"],
            "[AGENTS.md, CLAUDE.md]",
        ),
        ({"CLAUDE.md": "C.\n"}, "[CLAUDE.md]", ["codex"], "[CLAUDE.md, AGENTS.md]"),
        ({}, "[GEMINI.md]", ["claude"], "[GEMINI.md, CLAUDE.md]"),
    ],
)
def test_agents_add_the_target_that_they_need(
    project: Path,
    files: dict[str, str],
    targets: str | None,
    agents: list[str],
    expected: str | None,
) -> None:
    for path, text in files.items():
        write(project, path, text)
    config = write(project, CONFIG, f"targets: {targets}  # ours\n" if targets else "")
    init(project, agents=agents)
    assert config.read_text().splitlines()[:1] == (
        [f"targets: {expected}  # ours"] if expected else []
    )
    assert init(project, agents=agents).is_empty
    assert settled(project)


def test_targets_that_are_named_win(project: Path) -> None:
    write(project, "CLAUDE.md", "C.\n")
    init(project, agents=["claude", "codex"], targets=["AGENTS.md"])
    assert "targets:\n  - AGENTS.md\n" in (project / CONFIG).read_text()


def test_codex_gets_all_texts_in_the_section_in_one_edit(project: Path) -> None:
    write(project, CONFIG, "targets: [CLAUDE.md]\n")
    plan = init(project, agents=["codex"])
    reasons = {edit.path: edit.reason for edit in plan.edits}
    assert reasons[CONFIG] == f"let Codex read .cub/map.md, {PRINCIPLES}; record the targets"
    assert "### Project insights\n" in body(project, "AGENTS.md")
