from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cub.errors import CubError
from cub.files.journal import hash_content
from tests.files.worlds import mend, whole

# A journal is ignored by git, but a repository can hold one all the same: whoever clones it and
# runs cub must not have files changed that are not the project's.
VICTIM = b"precious"
# Names as cub makes them, so that the place alone is what is wrong.
THEIRS, PAYLOAD = ".victim.cub-01234567.tmp", ".payload.cub-01234567.tmp"
COMMITTED = b'{"committed":true}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project as it was cloned; beside it, a folder of the user's."""
    for name in ("project/.cub", "project/pkg", "home"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / THEIRS).write_bytes(VICTIM)
    (tmp_path / "home" / "empty").mkdir()
    (tmp_path / "project" / PAYLOAD).write_bytes(b"evil")
    return (tmp_path / "project").resolve()


def write(
    root: Path,
    step: dict[str, str] | None = None,
    *,
    committed: bool,
    folders: tuple[str, ...] = (),
) -> None:
    blank = {"action": "rename", "path": "x", "target": "x", "temp": "", "before": "", "after": ""}
    record: dict[str, Any] = {"v": 1, "steps": [{**blank, **step}] if step else []}
    data = json.dumps({**record, "folders": folders}).encode() + b"\n"
    (root / ".cub" / "journal.jsonl").write_bytes(data + (COMMITTED if committed else b""))


ATTACKS: dict[str, dict[str, str]] = {
    "delete by undoing": {"temp": f"../home/{THEIRS}"},
    "delete by finishing": {
        "action": "delete",
        "target": f"../home/{THEIRS}",
        "before": hash_content(VICTIM),
    },
    "create": {"target": "../home/new", "temp": PAYLOAD, "after": hash_content(b"evil")},
    "replace": {
        "target": f"../home/{THEIRS}",
        "temp": PAYLOAD,
        "before": hash_content(VICTIM),
        "after": hash_content(b"evil"),
    },
    "take away": {
        "target": "taken",
        "temp": f"../home/{THEIRS}",
        "after": hash_content(VICTIM),
    },
    "delete what was kept": {"keep": f"../home/{THEIRS}"},
    "drop": {"temp": f"../home/{THEIRS}", "before": "x", "after": "y"},
}


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_journal_that_leads_out_of_the_project_is_refused(
    root: Path, attack: str, absolute: bool, committed: bool
) -> None:
    step = ATTACKS[attack]
    if absolute:
        step = {key: value.replace("..", str(root.parent)) for key, value in step.items()}
    write(root, step, committed=committed)
    before = whole(root.parent)
    with pytest.raises(CubError) as error:
        mend(root)
    assert error.value.where == ".cub/journal.jsonl"
    assert error.value.hint
    assert whole(root.parent) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
@pytest.mark.parametrize("attack", ATTACKS)
def test_nor_does_it_get_out_by_a_link(root: Path, attack: str) -> None:
    (root / "link").symlink_to("../home")
    step = {key: value.replace("../home", "link") for key, value in ATTACKS[attack].items()}
    write(root, step, committed=True)
    before = whole(root.parent / "home")
    with pytest.raises(CubError):
        mend(root)
    assert whole(root.parent / "home") == before


@pytest.mark.parametrize("folder", ["../home/empty", "..", ".", "", "pkg/../../home/empty"])
def test_no_folder_outside_is_removed(root: Path, folder: str) -> None:
    write(root, committed=False, folders=(folder,))
    with pytest.raises(CubError):
        mend(root)
    assert (root.parent / "home" / "empty").is_dir()


@pytest.mark.parametrize("role", ["temp", "keep"])
@pytest.mark.parametrize("name", ["payload", "pkg/AGENTS.md", ".cub/constitution.md", ".git/HEAD"])
def test_only_temporary_files_of_cub_s_own_are_cleaned_up(root: Path, name: str, role: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(b"theirs")
    write(root, {role: name}, committed=False)
    with pytest.raises(CubError):
        mend(root)
    assert (root / name).read_bytes() == b"theirs"


@pytest.mark.parametrize("target", [".git/hooks/post-checkout", ".GIT/hooks/x", ".git", "pkg/.git"])
def test_nothing_is_put_where_git_would_run_it(root: Path, target: str) -> None:
    temp = ".x.cub-01234567.tmp"
    (root / temp).write_bytes(b"evil")
    (root / target).parent.mkdir(parents=True, exist_ok=True)
    write(root, {"target": target, "temp": temp, "after": hash_content(b"evil")}, committed=True)
    with pytest.raises(CubError):
        mend(root)
    assert not (root / target).exists()
