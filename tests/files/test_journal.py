from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cub.files.disk import Disk
from cub.files.journal import JournalStep, begin_journal, hash_content, warn_pending_change
from cub.files.signed_state import KEY_FILE, find_state_folder
from tests.files.worlds import Tree, build, change, mend, whole

# A repository can hold a journal, also one that names files that it only guesses.
SECRET = b"DEBUG=1\n"
STEPS = {
    "delete": JournalStep("delete", ".env", ".env", "", hash_content(SECRET), "", keep=".env.x"),
    "clean up": JournalStep("rename", "x", "x", ".env", "", ""),
    "replace": JournalStep(
        "rename", ".env", ".env", "evil", hash_content(SECRET), hash_content(b"e")
    ),
    "hook": JournalStep("rename", ".git/hooks/x", ".git/hooks/x", "evil", "", hash_content(b"e")),
    "outside": JournalStep("rename", "../x", "../x", "evil", "", hash_content(b"e")),
}
COMMITTED = b'{"committed":true}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project as it was cloned, with a private file."""
    root = tmp_path.resolve() / "project"
    for folder in (".cub", ".git/hooks", "empty"):
        (root / folder).mkdir(parents=True)
    (root / ".env").write_bytes(SECRET)
    (root / "evil").write_bytes(b"e")
    return root


def pack(step: JournalStep, end: bytes) -> bytes:
    record = {"v": 1, "steps": [asdict(step)], "folders": ["empty"]}
    return json.dumps(record).encode() + end + b"\n"


def without_journal(root: Path) -> Tree:
    return {name: entry for name, entry in whole(root).items() if "journal.jsonl" not in name}


def require_set_aside(root: Path, data: bytes) -> None:
    """The next commands say where the journal is, and change nothing that it names."""
    before = without_journal(root)
    [warning] = warn_pending_change(root)
    assert warning.message == "cub did not write this journal here"
    [(where, message)] = mend(root)
    assert where == ".cub/journal.jsonl"
    assert (root / message.split()[-1]).read_bytes() == data
    assert without_journal(root) == before
    assert mend(root) == []


@pytest.mark.parametrize("end", [b"", b"\t", b"\tabc", b"\t" + b"0" * 64])
@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("attack", STEPS)
def test_a_journal_that_came_with_a_repository_changes_nothing(
    root: Path, attack: str, is_committed: bool, end: bytes
) -> None:
    data = pack(STEPS[attack], end) + COMMITTED * is_committed
    (root / ".cub/journal.jsonl").write_bytes(data)
    require_set_aside(root, data)


def leave_journal(root: Path) -> bytes:
    """Leave what cub leaves that is killed behind its commit."""
    begin_journal(root, [STEPS["delete"]], ["empty"], Disk()).commit()
    return (root / ".cub/journal.jsonl").read_bytes()


def test_one_that_cub_wrote_here_is_carried_out(root: Path) -> None:
    leave_journal(root)
    mend(root)
    assert not (root / ".env").exists()


def test_one_that_cub_wrote_elsewhere_changes_nothing(root: Path) -> None:
    data = leave_journal(root)
    moved = root.rename(root.with_name("moved"))
    require_set_aside(moved, data)


def test_a_moved_project_can_be_moved_back(root: Path) -> None:
    leave_journal(root)
    moved = root.rename(root.with_name("moved"))
    [(_, message)] = mend(moved)
    (moved / message.split()[-1]).rename(moved / ".cub/journal.jsonl")
    moved.rename(root)
    mend(root)
    assert not (root / ".env").exists()


def test_one_of_another_user_changes_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = leave_journal(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    require_set_aside(root, data)
    change(build(tmp_path / "with a key of their own"))
    (root / ".cub/journal.jsonl").write_bytes(data)
    require_set_aside(root, data)


@pytest.mark.parametrize(
    "alter",
    [
        lambda data: data.replace(b".env", b"evil"),
        lambda data: data.replace(b'"v": 1', b'"v": 2'),
        lambda data: data.replace(b"\t", b" "),
        lambda data: b"{}" + data[data.index(b"\t") :],
        lambda data: b"\n" + data,
    ],
)
def test_an_altered_one_changes_nothing(root: Path, alter: Callable[[bytes], bytes]) -> None:
    data = alter(leave_journal(root))
    (root / ".cub/journal.jsonl").write_bytes(data)
    require_set_aside(root, data)


def test_without_a_state_folder_cub_writes_and_believes_no_journal(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    change(build(tmp_path / "written"))
    assert (tmp_path / "written/made.md").exists()
    require_set_aside(root, leave_journal(root))


def test_a_damaged_key_is_made_again(root: Path) -> None:
    data = leave_journal(root)
    (find_state_folder() / KEY_FILE).write_bytes(b"short")
    require_set_aside(root, data)
    leave_journal(root)
    mend(root)
    assert not (root / ".env").exists()
