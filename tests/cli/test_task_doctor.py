"""`cub task doctor`: each finding as text and as JSON, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from tests.cli.tasks import put
from tests.conftest import Cub, tree

LEASE = {"status": "in_progress", "assignee": "bob", "lease": {"expires": "2026-01-01"}}
SICK = (
    {"id": "a", "depends_on": ["b"], "parent": "zz"}, {"id": "b", "depends_on": ["a"]},
    {"id": "c", "depends_on": ["zz"]}, {"id": "d", **LEASE}, {"id": "d", **LEASE}, "junk",
)  # fmt: skip
MOVES = f"the next change moves this line to {REJECTED_FILE}"
LEFT = """\
cycle: dependency cycle: a → b → a
  run `cub task dep remove a b` to break it
dangling: c waits for zz, which does not exist
  run `cub task dep remove c zz`
dangling: a is part of zz, which does not exist
  run `cub task edit a --parent ""`
"""
FOUND = f"""\
rejected:6: this is not JSON: expecting value, column 1; {MOVES}
duplicate: d has several lines after a merge; cub reads them as one task
  run `cub task doctor --fix` to merge them; the next change also does
{LEFT}lease: the claim on d has expired; the task is ready
  claim it, or run `cub task doctor --fix` to release it
"""
KEPT = f"""\
rejected: 1 rejected line in {REJECTED_FILE}
  move the lines that you need to {TASKS_FILE}, then delete the file
"""


def test_what_is_wrong_is_told_and_nothing_is_changed(cub: Cub, project: Path) -> None:
    put(project, *SICK)
    before = (project / TASKS_FILE).read_bytes()
    done = cub("task", "doctor")
    assert (done.code, done.out, done.err) == (1, FOUND, "")
    assert (project / TASKS_FILE).read_bytes() == before
    assert not (project / REJECTED_FILE).exists()


def test_programs_get_the_same(cub: Cub, project: Path) -> None:
    put(project, *SICK)
    done = cub("task", "doctor", "--json")
    found = json.loads(done.out)
    assert (done.code, done.err, found["v"], found["root"]) == (1, "", 1, project.as_posix())
    assert [(one["kind"], one["task"], one["line"]) for one in found["findings"]] == [
        ("rejected", "", 6), ("duplicate", "d", None), ("cycle", "a", None),
        ("dangling", "c", None), ("dangling", "a", None), ("lease", "d", None),
    ]  # fmt: skip
    assert [*found["findings"][0]] == ["kind", "task", "message", "hint", "line"]
    put(project, {"id": "a"})
    well = cub("task", "doctor", "--json")
    assert (well.code, json.loads(well.out)["findings"]) == (0, [])


def test_what_is_mended_is_told_and_the_hints_mend_the_rest(cub: Cub, project: Path) -> None:
    put(project, *SICK)
    done = cub("task", "doctor", "--fix")
    assert (done.code, done.out) == (1, LEFT + KEPT)
    assert done.err.startswith(f"warning: {TASKS_FILE}:6: this is not JSON")
    assert done.err.endswith("Gave d back.\n")
    again = tree(project)
    assert cub("task", "doctor", "--fix").out == LEFT + KEPT
    assert tree(project) == again
    for command in ("dep remove a b", "dep remove c zz"):
        assert cub("task", *command.split()).code == 0
    assert cub("task", "edit", "a", "--parent", "").code == 0
    (project / REJECTED_FILE).unlink()
    well = cub("task", "doctor")
    assert (well.code, well.out, well.err) == (0, "", "Nothing is wrong.\n")
