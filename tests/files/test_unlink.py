"""A symbolic link goes by itself: what it leads to is another edit, or stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, InternalError
from cub.files import read_link_text
from cub.files.disk import Disk
from cub.files.journal import JournalStep, begin_journal, hash_content
from tests.files.crashing import Choose, World, calm, crashes, points
from tests.files.disks import refuse
from tests.files.worlds import change, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and links")
OLD, TEXT = b"old\n", b".cub/prompt.md"
LINK = FileEdit("PROMPT.md", TEXT, None, is_link=True)


def build(root: Path) -> Path:
    """A link to a file that goes too, one to a file that stays, one in a folder of links."""
    (root / ".cub/old").mkdir(parents=True)
    for name in (".cub/prompt.md", "stays.md", "hard.md"):
        (root / name).write_bytes(OLD)
    os.link(root / "hard.md", root / "twin.md")
    (root / "PROMPT.md").symlink_to(TEXT.decode())
    (root / "other.md").symlink_to("stays.md")
    (root / ".cub/old/link").symlink_to("../../stays.md")
    return root.resolve()


WORLD = World(
    build,
    Plan(
        (
            LINK,
            FileEdit(".cub/prompt.md", OLD, None),
            FileEdit(".cub/runloop.md.old", None, OLD),
            FileEdit("other.md", b"stays.md", None, is_link=True),
            FileEdit(".cub/old/link", b"../../stays.md", None, is_link=True),
            FileEdit("hard.md", OLD, b"new\n"),
        )
    ),
)


@points
@pytest.mark.parametrize("chunk", [1 << 20, 3], ids=["whole writes", "torn writes"])
def test_a_crash_at_any_step_ends_all_old_or_all_new(
    scratch: Path, chunk: int, choose: Choose
) -> None:
    old, new, steps = calm(scratch / "o", WORLD, chunk)
    assert {"stays.md", "hard.md", "twin.md", ".cub", ".cub/runloop.md.old"} == new.keys()
    assert steps.index("set aside PROMPT.md") < steps.index("set aside .cub/prompt.md")
    ends = []
    for step, root in crashes(scratch, WORLD, choose, chunk):
        mend(root)
        assert whole(root) in (old, new), step
        assert mend(root) == [], step
        ends.append(whole(root) == new)
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (False, True)


def test_a_disk_that_refuses_at_any_step_ends_all_old_or_all_new(scratch: Path) -> None:
    old, new, steps = calm(scratch / "o", WORLD)
    for number, step in enumerate(steps, 1):
        root = build(scratch / str(number))
        numbers = iter(range(1, 1000))

        def before(_: str, path: Path, stop: int = number, at: object = numbers) -> None:
            if next(at) == stop:  # type: ignore[call-overload]
                refuse(path)

        with pytest.raises(CubError):
            change(root, WORLD.plan, Disk(before=before))
        mend(root)
        assert whole(root) in (old, new), step


def test_a_file_comes_back_before_the_link_to_it(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
    names: list[str] = []

    def before(step: str, path: Path) -> None:
        if step == "rename":
            names.append(path.name)
        elif step == "fsync" and path == root and not os.path.lexists(root / "PROMPT.md"):
            refuse(path)

    plan = Plan((LINK, FileEdit(".cub/prompt.md", OLD, None)))
    with pytest.raises(CubError, match="cannot be written"):
        change(root, plan, Disk(before=before))
    assert names == ["prompt.md", "PROMPT.md"]
    assert (root / "PROMPT.md").read_bytes() == OLD


@pytest.mark.parametrize("other", ["stays.md", None], ids=["led elsewhere", "made a file"])
def test_a_link_that_has_changed_stops_the_plan(tmp_path: Path, other: str | None) -> None:
    root = build(tmp_path / "project")
    (root / "PROMPT.md").unlink()
    if other is None:
        (root / "PROMPT.md").write_bytes(OLD)
    else:
        (root / "PROMPT.md").symlink_to(other)
    before = whole(root)
    with pytest.raises(CubError, match="changed since cub read it"):
        change(root, WORLD.plan)
    assert whole(root) == before


@pytest.mark.parametrize("other", ["stays.md", None], ids=["led elsewhere", "made a file"])
def test_recovery_leaves_a_link_that_was_changed_meanwhile(
    scratch: Path, other: str | None
) -> None:
    ((_, root),) = crashes(scratch, WORLD, lambda names: [names.index("set aside PROMPT.md") + 1])
    (root / "PROMPT.md").unlink()
    if other is None:
        (root / "PROMPT.md").write_bytes(b"mine\n")
    else:
        (root / "PROMPT.md").symlink_to(other)
    said = mend(root)
    assert ("PROMPT.md", "changed since cub was interrupted: left as it is") in said
    assert os.path.lexists(root / "PROMPT.md")


def test_a_dangling_link_can_go_and_a_link_can_only_go(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
    (root / ".cub/prompt.md").unlink()
    assert read_link_text(root, "PROMPT.md") == TEXT
    assert read_link_text(root, "stays.md") is None
    change(root, Plan((LINK,)))
    assert not os.path.lexists(root / "PROMPT.md")
    with pytest.raises(InternalError):
        change(root, Plan((FileEdit("other.md", b"stays.md", b"x", is_link=True),)))


def test_a_link_behind_a_linked_folder_is_found_only_inside_the_project(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
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
    root = build(tmp_path / "project")
    step = JournalStep("unlink", "stays.md", "stays.md", "", before, "")
    begin_journal(root, [step], [], Disk()).commit()
    mend(root)
    assert (root / "stays.md").read_bytes() == OLD
