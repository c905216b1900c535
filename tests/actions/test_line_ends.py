"""Work trees as Windows has them: git checks files out with CRLF, and without symbolic links."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.actions.init_update import plan_init, plan_update
from cub.edit.document import split_lines
from cub.edit.file_header import parse_file_header
from cub.project.project import Project
from cub.project.targets import TARGETS
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import init, remove, settled, states, update, write
from tests.actions.reviews import commit, since
from tests.conftest import git, tree

ALL = tuple(row.path for row in TARGETS)
OWN = {
    "AGENTS.md": "# Bakery\n\nText.\n",
    "CLAUDE.md": "# Mine\n",
    ".github/copilot-instructions.md": "---\ntitle: x\n---\n\nMine.\n",
    "packages/api/AGENTS.md": "# API",
    ".cub/config.yaml": "# Ours.\nplacement: bottom  # as agreed\ninline: [constitution]\n",
}
OWN_FILES = (".cub/runloop.md", ".cub/.gitignore", ".cub/.gitattributes", ".cursor/rules/cub.mdc")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A committed project with every target and LF line ends; to be copied."""
    root = tmp_path_factory.mktemp("shared").resolve() / "project"
    shutil.copytree(empty_repository, root)
    for path, text in OWN.items():
        write(root, path, text)
    commit(root)
    init(root, "packages/api", targets=ALL)
    commit(root)
    return root


@pytest.fixture
def shared(project: Path, template: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copytree(template, project, dirs_exist_ok=True))


def _checkout(shared: Path, folder: Path, *settings: str) -> Path:
    """Another work tree of the same commits, with git's `settings`."""
    options = [option for setting in settings for option in ("-c", setting)]
    git(shared, "clone", "-q", *options, str(shared), str(folder))
    return folder.resolve()


@pytest.fixture
def checkout(shared: Path, tmp_path: Path) -> Path:
    """The same project as git puts it on a disk of Windows."""
    return _checkout(shared, tmp_path / "windows", "core.autocrlf=true")


def _has_only_crlf(data: bytes) -> bool:
    return data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r") > 0


def test_the_checkout_has_crlf_everywhere(checkout: Path) -> None:
    assert all(_has_only_crlf(data) for data in tree(checkout).values())


def test_a_checkout_with_crlf_is_current(checkout: Path) -> None:
    project = Project.load(checkout)
    assert plan_update(project).is_empty
    assert plan_init(project).shared_edits == ()
    found = states(checkout)
    assert set(found) > {*ALL, *OWN_FILES}
    assert set(found.values()) == {"current (v1)", "yours"}


def test_init_and_update_leave_git_nothing_to_show(checkout: Path) -> None:
    before = tree(checkout)
    init(checkout)
    update(checkout)
    assert git(checkout, "status", "--short") == ""
    assert {path: data for path, data in tree(checkout).items() if path in before} == before


def test_git_reads_cubs_own_files_with_crlf(checkout: Path) -> None:
    for path in ("state.json", "backups/x.md", "runloop.md.new", "logs/x"):
        write(checkout, f".cub/{path}", "x")
    assert git(checkout, "status", "--short") == ""
    attributes = git(checkout, "check-attr", "merge", ".cub/tasks.jsonl", ".cub/runloop.md")
    assert attributes.splitlines() == [
        ".cub/tasks.jsonl: merge: union",
        ".cub/runloop.md: merge: unspecified",
    ]


def test_a_version_step_keeps_crlf_and_changes_only_what_is_new(
    checkout: Path, next_version: TemplateSet
) -> None:
    plan = update(checkout, templates=next_version)
    changed = {edit.path for edit in plan.shared_edits}
    assert changed >= {*OWN_FILES, "AGENTS.md", "packages/api/AGENTS.md"}
    assert all(_has_only_crlf((checkout / path).read_bytes()) for path in changed)
    assert update(checkout, templates=next_version).is_empty
    # In LF, as git compares them, few lines differ.
    counts = {edit.path: edit.changed_line_counts for edit in plan.shared_edits}
    assert counts["AGENTS.md"] == (3, 3)
    assert counts[".cub/runloop.md"] == (4, 2)
    stat = git(checkout, "diff", "--numstat", "--", "AGENTS.md").split()
    assert stat[:2] == ["3", "3"]


@pytest.mark.parametrize("path", OWN_FILES)
def test_an_own_file_that_is_gone_comes_back(checkout: Path, path: str) -> None:
    (checkout / path).unlink()
    init(checkout)
    found = parse_file_header((checkout / path).read_bytes())
    assert found is not None
    assert found.is_intact
    git(checkout, "add", "-A")
    assert git(checkout, "status", "--short") == ""


def test_new_sections_take_the_line_ends_of_their_files(project: Path) -> None:
    write(project, "AGENTS.md", "# Bakery\r\n\r\nText.\r\n")
    write(project, "GEMINI.md", "Mine.")
    init(project, targets=("AGENTS.md", "GEMINI.md"))
    assert _has_only_crlf((project / "AGENTS.md").read_bytes())
    assert b"\r" not in (project / "GEMINI.md").read_bytes()
    assert settled(project)
    remove(project)
    assert (project / "AGENTS.md").read_bytes() == b"# Bakery\r\n\r\nText.\r\n"
    assert (project / "GEMINI.md").read_bytes() == b"Mine."


def test_the_configuration_keeps_crlf(checkout: Path) -> None:
    before = (checkout / ".cub/config.yaml").read_bytes()
    (checkout / "tools").mkdir()
    init(checkout, "tools")
    after = (checkout / ".cub/config.yaml").read_bytes()
    assert _has_only_crlf(after)
    assert {*split_lines(after)} - {*split_lines(before)} == {b"  - tools/AGENTS.md\r\n"}


def test_remove_gives_the_bytes_with_crlf_back(checkout: Path) -> None:
    remove(checkout)
    for path, text in OWN.items():
        if path != ".cub/config.yaml":
            assert (checkout / path).read_bytes() == text.replace("\n", "\r\n").encode()
    gone = git(checkout, "diff", "HEAD~1", "--stat", "--", *(p for p in OWN if ".cub" not in p))
    assert gone == ""


def test_an_edit_is_shown_and_moved_without_its_line_ends_counting(checkout: Path) -> None:
    file = checkout / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"- Claim:", b"- Mine.\r\n- Claim:"))
    update(checkout, edited="move")
    data = file.read_bytes()
    assert _has_only_crlf(data)
    assert data.endswith(b"SECTION -->\r\n\r\n- Mine.\r\n")
    assert git(checkout, "diff", "--numstat").split()[:2] == ["2", "0"]


def test_one_side_with_lf_and_one_with_crlf_agree(shared: Path, checkout: Path) -> None:
    write(checkout, ".cub/map.md", "# Map\r\n")
    write(shared, ".cub/map.md", "# Map\n")
    update(checkout)
    update(shared)
    git(checkout, "add", "-A")
    git(shared, "add", "-A")
    assert git(checkout, "write-tree") == git(shared, "write-tree")


@pytest.mark.parametrize("eol", ["crlf", "lf"])
def test_a_project_may_say_its_line_ends_itself(shared: Path, tmp_path: Path, eol: str) -> None:
    write(shared, ".gitattributes", f"* text=auto eol={eol}\n")
    commit(shared)
    checkout = _checkout(shared, tmp_path / "other", "core.autocrlf=true")
    assert _has_only_crlf((checkout / "AGENTS.md").read_bytes()) == (eol == "crlf")
    init(checkout)
    assert settled(checkout)
    assert git(checkout, "status", "--short") == ""


def test_a_checkout_without_symbolic_links_is_current(project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", "# Bakery\n")
    write(project, ".github/x", "")
    for path, text in (
        ("CLAUDE.md", "AGENTS.md"),
        ("GEMINI.md", "CLAUDE.md"),
        (".github/copilot-instructions.md", "../AGENTS.md"),
    ):
        (project / path).symlink_to(text)
    init(project, targets=ALL[:4])
    commit(project)
    windows = ("core.symlinks=false", "core.autocrlf=true")
    checkout = _checkout(project, tmp_path / "windows", *windows)
    assert (checkout / "CLAUDE.md").read_bytes() == b"AGENTS.md"
    init(checkout)
    assert settled(checkout)
    write(checkout, ".cub/map.md", "# Map\n")
    assert [edit.path for edit in update(checkout).shared_edits] == ["AGENTS.md"]
    assert git(checkout, "diff", "--name-only").split() == ["AGENTS.md"]
    remove(checkout)
    assert (checkout / "AGENTS.md").read_bytes() == b"# Bakery\r\n"
    assert (checkout / "CLAUDE.md").read_bytes() == b"AGENTS.md"


def test_a_commit_that_changes_line_ends_is_quiet_in_a_review(shared: Path) -> None:
    before = git(shared, "rev-parse", "HEAD").strip()
    for path, data in tree(shared).items():
        (shared / path).write_bytes(data.replace(b"\n", b"\r\n"))
    found = since(shared, before)
    assert set(found) >= {*ALL}
    parts = [file.section for file in found.values() if file.section]
    assert not any(part.needs_attention for part in parts)
    shown = {*(file.own_diff for file in found.values()), *(part.diff for part in parts)}
    assert shown == {(), ("only line endings changed",)}
