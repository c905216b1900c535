"""Migrations as part of init and update: which are due, what they leave alone, what they record."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init
from cub.actions.migration.migrate import list_due_migrations
from cub.errors import CubError
from cub.project.project import Project
from tests.actions.helpers import body, init, remove, section_of, settled, update, write
from tests.actions.migrating import (
    OLD_BODY,
    RECORD,
    old_section,
    said,
    stand_in,
    told_reasons,
    whole,
    with_stand_ins,
)
from tests.conftest import tree


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return with_stand_ins(tmp_path / "known")


def test_a_new_project_has_nothing_to_migrate(project: Path, tmp_path: Path) -> None:
    none = tmp_path / "none"
    none.mkdir()
    for name in ("PROMPT.md", "AGENT.md", "progress.txt", "fix_plan.md"):
        write(project, name, "Mine.\n")
    at = Project.load(project)
    pruning, plain = (
        plan_init(at, InitOptions(prune=True)),
        plan_init(at, InitOptions(migrations=none)),
    )
    assert pruning.edits == plain.edits
    said = [w.path for w in pruning.warnings if w not in plain.warnings]
    assert said == ["progress.txt", "fix_plan.md"]
    assert list_due_migrations(at) == ()
    init(project, prune=True)
    assert not (project / RECORD).exists()
    assert settled(project)


@pytest.mark.parametrize("prune", [False, True])
def test_files_of_the_same_names_are_left_alone_where_cub_began_with_this_layout(
    project: Path, prune: bool
) -> None:
    init(project)
    for name in ("PROMPT.md", "AGENT.md", "progress.txt", ".cub/prompt.md", ".cub.json"):
        write(project, name, "{}\n")
    before = whole(project)
    for plan in (update(project, prune=prune), init(project, prune=prune)):
        assert plan.is_empty
        assert [warning.path for warning in plan.warnings] == ["progress.txt"] * prune
    assert whole(project) == before


def test_prune_deletes_nothing_where_the_older_layout_never_was(project: Path) -> None:
    init(project)
    write(project, "progress.txt", "Mine.\n")
    write(project, ".cub/tasks.jsonl", "")
    for plan in (update(project, prune=True), init(project, prune=True)):
        assert plan.is_empty
        (warning,) = plan.warnings
        assert (warning.path, "shows the older layout" in warning.hint) == ("progress.txt", True)
        assert warning.message.startswith("kept by --prune: no sign")
    assert update(project).warnings == ()


def test_what_remove_leaves_is_no_trace_of_the_older_layout(project: Path) -> None:
    write(project, "packages/api/x.py", "")
    init(project, "packages/api")
    write(project, ".cub/tasks.jsonl", "")
    remove(project)
    write(project, "PROMPT.md", "Mine.\n")
    assert list_due_migrations(Project.load(project)) == ()
    init(project)
    assert (project / "PROMPT.md").read_text() == "Mine.\n"


@pytest.mark.parametrize("trace", [".cub.json", ".cub/config.json", ".cub/agent.md"])
def test_a_trace_makes_the_migration_due_and_counts_as_cub(project: Path, trace: str) -> None:
    write(project, trace, "{}\n")
    write(project, "PROMPT.md", "Mine.\n")
    assert [migration.number for migration in list_due_migrations(Project.load(project))] == [1]
    plan = update(project)
    assert (project / ".cub/runloop.md.old").read_text() == "Mine.\n"
    assert not (project / "PROMPT.md").exists()
    assert told_reasons(plan)["PROMPT.md"] == "migrate to schema 1: kept as .cub/runloop.md.old"
    assert (project / RECORD).read_text() == "schema: 1\n"
    assert list_due_migrations(Project.load(project)) == ()
    assert update(project).is_empty


@pytest.mark.parametrize("ours", ["constitution.md", "config.yaml"])
def test_names_that_both_layouts_have_tell_only_without_those_of_this_one(
    project: Path, ours: str
) -> None:
    write(project, ".cub/tasks.jsonl", "")
    assert list_due_migrations(Project.load(project))
    write(project, f".cub/{ours}", "")
    assert not list_due_migrations(Project.load(project))


@pytest.mark.parametrize("name", ["config.schema.json", "notes.txt"])
def test_what_cub_does_not_know_is_no_trace(project: Path, name: str) -> None:
    write(project, f".cub/{name}", "")
    write(project, "PROMPT.md", "Mine.\n")
    init(project)
    assert (project / "PROMPT.md").read_text() == "Mine.\n"


def test_a_run_loop_alone_is_no_trace(project: Path) -> None:
    write(project, ".cub/runloop.md", "Mine.\n")
    write(project, "PROMPT.md", "Mine.\n")
    init(project)
    assert (project / ".cub/runloop.md").read_text() == "Mine.\n"
    assert (project / "PROMPT.md").read_text() == "Mine.\n"


def test_update_adds_no_section_but_brings_old_ones_up_to_date(project: Path) -> None:
    write(project, ".cub/config.json", "{}\n")
    write(project, "CLAUDE.md", f"Mine.\n\n{old_section()}")
    update(project)
    assert not (project / "AGENTS.md").exists()
    assert "Old text" not in body(project, "CLAUDE.md")
    init(project)
    assert settled(project)


def test_a_migration_that_finds_nothing_to_do_is_not_recorded(project: Path) -> None:
    write(project, ".cub/hooks/README.md", "Mine.\n")
    init(project)
    assert not (project / RECORD).exists()
    assert settled(project)


def test_the_record_names_the_migration_and_is_local_to_nobody(project: Path) -> None:
    write(project, ".cub/config.json", "{}\n")
    plan = init(project)
    edit = next(edit for edit in plan.edits if edit.path == RECORD)
    assert (edit.reason, edit.is_local) == ("migrate to schema 1: record the schema number", False)
    assert edit.changelog == ("schema 1: adopt the layout before 0.1",)


def test_only_targets_get_today_s_digest_line(project: Path) -> None:
    write(project, ".cub/config.json", "{}\n")
    write(project, RECORD, "targets: [AGENTS.md]\n")
    for name in ("AGENTS.md", "CLAUDE.md"):
        write(project, name, f"Mine.\n\n{old_section()}")
    plan = init(project)
    assert told_reasons(plan)["AGENTS.md"] == (
        "migrate to schema 1: current digest line; refresh the managed section v1"
    )
    assert (project / "CLAUDE.md").read_text() == f"Mine.\n\n{old_section()}"
    assert settled(project)


@pytest.mark.parametrize("section", ["edited", "broken"])
def test_what_stops_init_stops_the_migration_too(project: Path, section: str) -> None:
    write(project, ".cub/prompt.md", "Mine.\n")
    write(project, ".cub/config.json", '{"harness": "codex"}\n')
    text = old_section("Mine.\n" + OLD_BODY)
    write(project, "AGENTS.md", text if section == "edited" else text.replace("END", "end"))
    before = whole(project)
    for command in (init, update):
        with pytest.raises(CubError):
            command(project, prune=True)
        assert whole(project) == before


def test_lines_from_inside_an_old_section_move_while_the_rest_migrates(project: Path) -> None:
    write(project, ".cub/prompt.md", "Mine.\n")
    write(project, "AGENTS.md", old_section(OLD_BODY + "\n\nAsk Ada."))
    init(project, edited="move")
    section = section_of(project, "AGENTS.md")
    text = (project / "AGENTS.md").read_bytes()
    assert text.endswith(b"Ask Ada.\n")
    assert section.author == "cub"
    assert (project / ".cub/runloop.md.old").exists()
    assert settled(project)


def test_known_files_are_known_with_windows_line_ends(project: Path, known: Path) -> None:
    for name, text in ((".cub/prompt.md", "prompt.md"), (".cub/agent.md", "agent.md")):
        write(project, name, stand_in(text).replace("\n", "\r\n"))
    init(project, migrations=known)
    assert not {".cub/prompt.md", ".cub/agent.md", ".cub/runloop.md.old"} & tree(project).keys()


def test_links_that_a_checkout_made_flat_go_too(project: Path) -> None:
    write(project, ".cub.json", "{}\n")
    write(project, "PROMPT.md", ".cub/prompt.md")
    write(project, "AGENT.md", ".cub/agent.md")
    init(project)
    assert not {"PROMPT.md", "AGENT.md", ".cub/runloop.md.old"} & tree(project).keys()


def test_an_edited_placeholder_stays(project: Path) -> None:
    write(project, ".cub.json", "{}\n")
    write(project, "AGENT.md", stand_in("agent.md") + "Mine.\n")
    plan = init(project)
    assert (project / "AGENT.md").exists()
    assert said(plan)["AGENT.md"] == "kept, because it was edited"


def test_an_own_file_of_this_cub_is_never_moved_away(project: Path) -> None:
    init(project)
    runloop = (project / ".cub/runloop.md").read_bytes()
    write(project, RECORD, "schema: 0\n")
    write(project, ".cub.json", "{}\n")
    init(project)
    assert (project / ".cub/runloop.md").read_bytes() == runloop
    assert not (project / ".cub/runloop.md.old").exists()
    assert (project / RECORD).read_text() == "schema: 1\n"
