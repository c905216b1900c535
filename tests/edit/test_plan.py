from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import InternalError
from tests.conftest import git


@pytest.mark.parametrize(
    ("before", "after", "kind", "counts"),
    [
        (None, b"a\nb\n", "create", (2, 0)),
        (b"a\nb\n", None, "delete", (0, 2)),
        (b"a\nb\nc\n", b"a\nB\nc\nd\n", "update", (2, 1)),
        (b"a\r\n", b"a\n", "update", (1, 1)),
        (b"a", b"a\n", "update", (1, 1)),
        (None, b"", "create", (0, 0)),
    ],
)
def test_an_edit_knows_its_kind_and_its_lines(
    before: bytes | None, after: bytes | None, kind: str, counts: tuple[int, int]
) -> None:
    edit = FileEdit("x", before, after)
    assert (edit.kind, edit.changed_line_counts) == (kind, counts)


def apply_diff(folder: Path, plan: Plan) -> None:
    diff = "".join(f"{line}\n" for line in plan.format_diff())
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")
@pytest.mark.parametrize("is_executable", [True, False])
@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\n", b"b\n"), (b"a\n", b"a\n"), (None, b"a\n"), (None, b""), (b"", b"")],
)
def test_git_apply_reads_modes(
    tmp_path: Path, before: bytes | None, after: bytes, is_executable: bool
) -> None:
    git(tmp_path, "init", "-q")
    file = tmp_path / "x.sh"
    if before is not None:
        file.write_bytes(before)
        file.chmod(0o644 if is_executable else 0o755)
    apply_diff(tmp_path, Plan((FileEdit("x.sh", before, after, is_executable=is_executable),)))
    assert file.read_bytes() == after
    assert bool(file.stat().st_mode & 0o100) is is_executable


def test_local_edits_are_not_shared() -> None:
    mine, ours = FileEdit("a", None, b"x\n", is_local=True), FileEdit("b", None, b"y\n")
    plan = Plan((mine, ours))
    assert plan.shared_edits == (ours,)
    assert not plan.is_empty
    assert not any("a/a" in line or "b/a" in line for line in plan.format_diff())


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_git_apply_deletes_a_link_and_what_it_leads_to(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.md").write_bytes(b"a\n")
    (tmp_path / "real.md").write_bytes(b"r\n")
    (tmp_path / "link.md").symlink_to("real.md")
    link = FileEdit("link.md", b"real.md", None, is_link=True)
    assert (link.kind, link.changed_line_counts) == ("delete", (0, 1))
    plan = Plan((FileEdit("a.md", b"a\n", b"b\n"), link, FileEdit("real.md", b"r\n", None)))
    apply_diff(tmp_path, plan)
    assert [path.name for path in tmp_path.iterdir() if path.name != ".git"] == ["a.md"]
    assert (tmp_path / "a.md").read_bytes() == b"b\n"


def test_a_plan_that_follows_another_counts_from_what_was_there_first() -> None:
    first = Plan(
        (
            FileEdit("both", b"1", b"2", "first", changelog=("x",)),
            FileEdit("back", None, b"made"),
            FileEdit("gone", b"old", None, "delete"),
        )
    )
    then = Plan(
        (
            FileEdit("both", b"2", b"3", "then", changelog=("x", "y")),
            FileEdit("back", b"made", None),
            FileEdit("gone", None, b"new", "create"),
            FileEdit("late", None, b"late"),
        )
    )
    assert first.append_plan(then).edits == (
        FileEdit("both", b"1", b"3", "first", changelog=("x", "y")),
        FileEdit("gone", b"old", b"new", "delete"),
        FileEdit("late", None, b"late"),
    )
    reasons = [edit.reason for edit in first.append_plan(then, both_reasons=True).edits]
    assert reasons == ["first; then", "delete; create", ""]


def test_a_plan_with_two_edits_of_one_file_is_a_bug() -> None:
    twice = Plan((FileEdit("a", b"1", b"2"), FileEdit("a", b"1", None)))
    with pytest.raises(InternalError, match="two edits of one file"):
        Plan().append_plan(twice)
