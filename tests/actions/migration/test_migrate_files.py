"""What migrations leave alone: names that are taken, links, imports, what nobody asked to go."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cub.actions.init_update import plan_init
from cub.project.project import Project
from tests.actions.helpers import init, settled, update, write
from tests.actions.migrating import (
    OLD_BODY,
    OPENINGS,
    RECORD,
    old_section,
    said,
    stand_in,
    whole,
    with_stand_ins,
)
from tests.actions.reviews import commit
from tests.conftest import git, tree

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="needs links")


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return with_stand_ins(tmp_path / "known")


class TestNamesThatAreTaken:
    """A file moves only onto a free name."""

    def test_the_same_bytes_are_there(self, project: Path) -> None:
        write(project, ".cub/prompt.md", "Mine.\n")
        write(project, ".cub/runloop.md.old", "Mine.\n")
        init(project)
        assert not (project / ".cub/prompt.md").exists()
        assert (project / ".cub/runloop.md.old").read_text() == "Mine.\n"

    def test_other_bytes_are_there(self, project: Path) -> None:
        write(project, ".cub/prompt.md", "Mine.\n")
        write(project, ".cub/runloop.md.old", "Older.\n")
        plan = init(project)
        assert (project / ".cub/prompt.md").read_text() == "Mine.\n"
        assert (project / ".cub/runloop.md.old").read_text() == "Older.\n"
        assert said(plan)[".cub/prompt.md"] == "kept: .cub/runloop.md.old already exists"

    def test_a_folder_is_there(self, project: Path) -> None:
        write(project, ".cub/prompt.md", "Mine.\n")
        write(project, ".cub/runloop.md.old/x", "")
        plan = init(project)
        assert (project / ".cub/prompt.md").read_text() == "Mine.\n"
        assert "this is a directory" in said(plan)[".cub/runloop.md.old"]

    @needs_links
    def test_a_link_to_the_file_itself_is_there(self, project: Path) -> None:
        write(project, ".cub/prompt.md", "Mine.\n")
        (project / ".cub/runloop.md.old").symlink_to("prompt.md")
        init(project)
        assert (project / ".cub/prompt.md").read_text() == "Mine.\n"


class TestPrune:
    """Files without a use go only if they are asked for, now or later, and leave a copy."""

    @pytest.fixture
    def older(self, project: Path) -> Path:
        for name, text in OPENINGS.items():
            write(project, name, f"{text}Mine.\n")
        return project

    def test_each_is_named_once_and_can_go_later(self, older: Path) -> None:
        plan = init(older)
        left = {w.path: w.hint for w in plan.warnings if w.path in OPENINGS}
        assert left == dict.fromkeys(OPENINGS, "run `cub update --prune` to delete it")
        assert (older / RECORD).read_text() == "schema: 1\n"
        assert settled(older)
        assert not update(older).warnings
        edits = [edit.path for edit in update(older, prune=True).edits if not edit.is_local]
        assert {*edits} == OPENINGS.keys()
        assert not OPENINGS.keys() & tree(older).keys()
        assert update(older, prune=True).is_empty

    @pytest.mark.parametrize("command", [init, update])
    def test_all_go_at_once_and_leave_a_copy(self, older: Path, command: object) -> None:
        before = whole(older)
        plan = command(older, prune=True)  # type: ignore[operator]
        assert not OPENINGS.keys() & tree(older).keys()
        assert not OPENINGS.keys() & said(plan).keys()
        copies = [path.read_bytes() for path in (older / ".cub/backups").iterdir()]
        assert sorted(copies) == sorted(before[name] for name in OPENINGS)

    @pytest.mark.parametrize("text", ["", "Mine.\n", "# Fix Plan\n\n- Mine.\n", "# Guardrails\n"])
    @pytest.mark.parametrize("name", [*OPENINGS, "progress.md"])
    def test_what_a_person_wrote_stays_and_is_named(
        self, older: Path, name: str, text: str
    ) -> None:
        write(older, name, text)
        for prune in (False, True):
            plan = init(older, prune=prune)
            message = "kept: no sign that it comes from the older layout"
            assert said(plan)[name] == message
            assert (older / name).read_text() == text
        assert settled(older)

    @needs_links
    def test_a_link_stays_unless_its_file_goes(self, older: Path) -> None:
        (older / "progress.md").symlink_to("progress.txt")
        (older / "fix_plan.md").unlink()
        (older / "fix_plan.md").symlink_to("notes.md")
        write(older, "notes.md", "Mine.\n")
        plan = update(older, prune=True)
        assert said(plan)["fix_plan.md"] == "kept: a link to notes.md"
        assert sorted(path for path in whole(older) if not path.startswith(".cub")) == [
            "fix_plan.md",
            "notes.md",
        ]


@needs_links
class TestLinks:
    """A link goes with its file, and a file stays while an instruction file is a link to it."""

    def test_it_is_deleted_itself_and_shown(self, project: Path) -> None:
        write(project, ".cub/prompt.md", "Mine.\n")
        (project / "PROMPT.md").symlink_to(".cub/prompt.md")
        commit(project)
        diff = "".join(f"{line}\n" for line in plan_init(Project.load(project)).format_diff())
        assert "deleted file mode 120000\n--- a/PROMPT.md\n+++ /dev/null" in diff
        init(project)
        made = whole(project)
        assert not os.path.lexists(project / "PROMPT.md")
        git(project, "clean", "-qfdx")
        git(project, "checkout", "-q", ".")
        subprocess.run(["git", "apply", "-"], cwd=project, input=diff.encode(), check=True)
        assert whole(project) == made

    def test_one_that_dangles_already_is_left(self, project: Path) -> None:
        write(project, ".cub.json", "{}\n")
        (project / "PROMPT.md").symlink_to(".cub/prompt.md")
        plan = init(project)
        assert (project / "PROMPT.md").is_symlink()
        assert said(plan)["PROMPT.md"] == "kept: a link to .cub/prompt.md"

    def test_one_that_stands_for_settings_goes_with_them(self, project: Path) -> None:
        write(project, ".cub/config.json", '{"harness": "codex"}\n')
        (project / ".cub.json").symlink_to(".cub/config.json")
        init(project)
        assert not os.path.lexists(project / ".cub.json")
        assert (project / RECORD).read_text() == "run:\n  harness: codex\nschema: 1\n"

    def test_one_out_of_the_project_is_left(self, project: Path) -> None:
        write(project, ".cub.json", "{}\n")
        (project / "PROMPT.md").symlink_to("../../elsewhere.md")
        plan = init(project)
        assert (project / "PROMPT.md").is_symlink()
        assert "out of the project" in said(plan)["PROMPT.md"]

    @pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md"])
    def test_a_file_that_an_instruction_file_leads_to_stays(
        self, project: Path, known: Path, name: str
    ) -> None:
        write(project, ".cub/agent.md", stand_in("agent.md"))
        (project / name).symlink_to(".cub/agent.md")
        (project / "AGENT.md").symlink_to(".cub/agent.md")
        plan = init(project, migrations=known)
        assert (project / ".cub/agent.md").is_file()
        assert (project / "AGENT.md").is_symlink()
        assert said(plan)[".cub/agent.md"] == f"kept: {name} is a link to it"

    def test_a_linked_folder_of_cub_s_loses_nothing(self, project: Path) -> None:
        write(project, "tools/cub/prompt.md", "One.\n")
        write(project, "tools/cub/runloop.md", "Two.\n")
        (project / ".cub").symlink_to("tools/cub")
        init(project)
        left = [data for path, data in tree(project).items() if path.startswith("tools")]
        assert {b"One.\n", b"Two.\n"} <= set(left)


class TestImports:
    """What an instruction file's own text imports stays where it is."""

    def test_a_prompt_and_a_placeholder_stay(self, project: Path, known: Path) -> None:
        write(project, "CLAUDE.md", "Rules: @./PROMPT.md\n\n@.cub/agent.md\n")
        write(project, "PROMPT.md", "Mine.\n")
        write(project, ".cub/agent.md", stand_in("agent.md"))
        plan = init(project, migrations=known)
        assert said(plan)["PROMPT.md"] == "kept: CLAUDE.md imports it"
        assert said(plan)[".cub/agent.md"] == "kept: CLAUDE.md imports it"
        assert {"PROMPT.md", ".cub/agent.md"} <= tree(project).keys()

    @needs_links
    def test_so_does_the_file_behind_an_imported_link(self, project: Path) -> None:
        write(project, "AGENTS.md", "@PROMPT.md\n@../elsewhere.md\n@/etc/hosts\n@a<b>\n")
        write(project, ".cub/prompt.md", "Mine.\n")
        (project / "PROMPT.md").symlink_to(".cub/prompt.md")
        plan = init(project)
        assert said(plan)[".cub/prompt.md"] == "kept: AGENTS.md imports it"
        assert (project / "PROMPT.md").read_text() == "Mine.\n"

    def test_prune_deletes_what_it_was_asked_to(self, project: Path) -> None:
        write(project, "AGENTS.md", "@progress.txt\n")
        write(project, "progress.txt", OPENINGS["progress.txt"])
        write(project, ".cub.json", "{}\n")
        init(project, prune=True)
        assert not (project / "progress.txt").exists()

    def test_an_import_in_the_old_section_holds_nothing(self, project: Path, known: Path) -> None:
        write(project, "AGENTS.md", f"@.cub/x.md\n\n{old_section()}")
        write(project, ".cub/agent.md", stand_in("agent.md"))
        file = project / "AGENTS.md"
        body_text = f"{OLD_BODY}\n\n- @.cub/agent.md"
        file.write_text(file.read_text().replace(OLD_BODY, body_text))
        digest = hashlib.sha256(OLD_BODY.encode()).hexdigest()
        fresh = hashlib.sha256(body_text.encode()).hexdigest()
        file.write_text(file.read_text().replace(digest, fresh))
        init(project, migrations=known)
        assert not (project / ".cub/agent.md").exists()


@pytest.mark.parametrize("name", ["PROMPT.md", "progress.txt", ".cub.json"])
def test_what_is_no_file_is_left_with_a_word(project: Path, name: str) -> None:
    write(project, ".cub/config.json", "{}\n")
    (project / name).mkdir()
    plan = init(project, prune=True)
    assert (project / name).is_dir()
    assert "this is a directory" in said(plan)[name]


@needs_links
def test_what_a_name_of_cubs_own_is_a_link_to_stays(project: Path) -> None:
    write(project, ".cub.json", "{}\n")
    prompt = write(project, ".cub/prompt.md", "My loop.\n")
    (project / ".cub/runloop.md").symlink_to("prompt.md")
    plan = init(project)
    assert ".cub/prompt.md: kept: .cub/runloop.md is a link to it" in {
        f"{warning.path}: {warning.message}" for warning in plan.warnings
    }
    assert prompt.read_bytes() == b"My loop.\n"
    assert (project / ".cub/runloop.md").is_symlink()
    assert settled(project)
