"""A symbolic link goes by itself: what it leads to is another edit, or stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, InternalError
from cub.files.disk import Disk
from cub.files.journal import JournalStep, begin_journal, hash_content
from cub.files.read_files import read_link_text
from tests.files.crashing import LINKS, calm, crashes
from tests.files.disks import refuse
from tests.files.worlds import LINK_EDIT, OLD, build_links, change, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and links")


def test_links_go_before_what_they_lead_to(scratch: Path) -> None:
    _, new, steps = calm(scratch, LINKS)
    assert {"stays.md", "hard.md", "twin.md", ".cub", ".cub/runloop.md.old"} == new.keys()
    assert steps.index("set aside PROMPT.md") < steps.index("set aside .cub/prompt.md")


def test_a_file_comes_back_before_the_link_to_it(tmp_path: Path) -> None:
    root = build_links(tmp_path / "project")
    names: list[str] = []

    def before(step: str, path: Path) -> None:
        if step == "rename":
            names.append(path.name)
        elif step == "fsync" and path == root and not os.path.lexists(root / "PROMPT.md"):
            refuse(path)

    plan = Plan((LINK_EDIT, FileEdit(".cub/prompt.md", OLD, None)))
    with pytest.raises(CubError, match="cannot be written"):
        change(root, plan, Disk(before=before))
    assert names == ["prompt.md", "PROMPT.md"]
    assert (root / "PROMPT.md").read_bytes() == OLD


@pytest.mark.parametrize("other", ["stays.md", None], ids=["led elsewhere", "made a file"])
def test_a_link_that_has_changed_stops_the_plan(tmp_path: Path, other: str | None) -> None:
    root = build_links(tmp_path / "project")
    (root / "PROMPT.md").unlink()
    if other is None:
        (root / "PROMPT.md").write_bytes(OLD)
    else:
        (root / "PROMPT.md").symlink_to(other)
    before = whole(root)
    with pytest.raises(CubError, match="changed since cub read it"):
        change(root, LINKS.plan)
    assert whole(root) == before


@pytest.mark.parametrize("other", ["stays.md", None], ids=["led elsewhere", "made a file"])
def test_recovery_leaves_a_link_that_was_changed_meanwhile(
    scratch: Path, other: str | None
) -> None:
    ((_, root),) = crashes(scratch, LINKS, lambda names: [names.index("set aside PROMPT.md") + 1])
    (root / "PROMPT.md").unlink()
    if other is None:
        (root / "PROMPT.md").write_bytes(b"mine\n")
    else:
        (root / "PROMPT.md").symlink_to(other)
    said = mend(root)
    assert ("PROMPT.md", "changed since cub was interrupted: left as it is") in said
    assert os.path.lexists(root / "PROMPT.md")


def test_a_dangling_link_can_go_and_a_link_can_only_go(tmp_path: Path) -> None:
    root = build_links(tmp_path / "project")
    (root / ".cub/prompt.md").unlink()
    assert read_link_text(root, "PROMPT.md") == LINK_EDIT.before
    assert read_link_text(root, "stays.md") is None
    change(root, Plan((LINK_EDIT,)))
    assert not os.path.lexists(root / "PROMPT.md")
    with pytest.raises(InternalError):
        change(root, Plan((FileEdit("other.md", b"stays.md", b"x", is_link=True),)))


def test_a_link_behind_a_linked_folder_is_found_only_inside_the_project(tmp_path: Path) -> None:
    root = build_links(tmp_path / "project")
    (root / "inside").symlink_to(".cub")
    (root / "outside").symlink_to("..")
    (tmp_path / "far").symlink_to("project")
    change(root, Plan((FileEdit("inside/old/link", b"../../stays.md", None, is_link=True),)))
    assert not os.path.lexists(root / ".cub/old/link")
    with pytest.raises(CubError, match="leads out of the project"):
        change(root, Plan((FileEdit("outside/far", b"project", None, is_link=True),)))
    assert (tmp_path / "far").is_symlink()


@pytest.mark.parametrize("before", ["", hash_content(OLD)])
def test_a_journal_can_not_unlink_a_regular_file(tmp_path: Path, before: str) -> None:
    root = build_links(tmp_path / "project")
    step = JournalStep("unlink", "stays.md", "stays.md", "", before, "")
    begin_journal(root, [step], [], Disk()).commit()
    mend(root)
    assert (root / "stays.md").read_bytes() == OLD
