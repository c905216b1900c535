from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.crashing import EVERY_KIND, Choose, calm, crashes, each_kind, points
from tests.files.worlds import Tree, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# Each of these is changed by the plan; the second name is where its bytes are.
FILES = [
    ("plain.md", "plain.md"),
    ("hard.md", "twin.md"),
    ("link.md", "real/target.md"),
    ("gone.md", "gone.md"),
    ("made.md", "made.md"),
]


def without(tree: Tree, name: str) -> Tree:
    return {path: entry for path, entry in tree.items() if path != name}


@points
@pytest.mark.parametrize("file", range(len(FILES)), ids=[path for path, _ in FILES])
@pytest.mark.parametrize(
    "theirs",
    [b"a person's words\n", pytest.param(b"", marks=pytest.mark.thorough)],
    ids=["words", "nothing"],
)
def test_what_a_person_wrote_after_a_crash_stays(
    scratch: Path, file: int, theirs: bytes, choose: Choose
) -> None:
    path, place = FILES[file]

    def share(names: list[str]) -> list[int]:
        # Each step is tried with one or two of the files.
        return choose(names) if choose is each_kind else choose(names)[file % 3 :: 3]

    for step, root in crashes(scratch, EVERY_KIND, share, chunk=5):
        (root / place).write_bytes(theirs)
        said = mend(root)
        assert (root / place).read_bytes() == theirs, step
        if any("finished" in message for _, message in said):
            assert (path, "changed since cub was interrupted: left as it is") in said, step


@points
def test_the_other_files_are_all_old_or_all_new_then(scratch: Path, choose: Choose) -> None:
    old, new, _ = calm(scratch / "o", EVERY_KIND)
    for step, root in crashes(scratch, EVERY_KIND, choose, chunk=5):
        (root / "plain.md").unlink()
        mend(root)
        assert whole(root) in (without(old, "plain.md"), without(new, "plain.md")), step


@points
def test_a_folder_in_the_place_of_a_file_is_left(scratch: Path, choose: Choose) -> None:
    for step, root in crashes(scratch, EVERY_KIND, choose):
        (root / "plain.md").unlink()
        (root / "plain.md").mkdir()
        mend(root)
        assert (root / "plain.md").is_dir(), step
        assert not list(root.rglob("*.tmp")), step
