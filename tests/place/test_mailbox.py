"""The mailbox and the copy of the tasks, from within a place and from without."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.actions.tasks.attempt_edits import read_attempt_edits
from cub.actions.tasks.current_attempt import read_request, write_attempt
from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_kind import try_kind
from cub.place.place_settings import PlaceSettings
from cub.place.walls import PlaceKind
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture
from cub.store.store_paths import TASKS_FILE
from tests.conftest import environment, git
from tests.place.places import read_base

# An orphan of a session of its own that has lost all of its environment but where it finds cub.
_ORPHAN = """
import os, sys
r, w = os.pipe()
if os.fork():
    os.close(w)
    print(os.read(r, 1 << 16).decode(), end="")
    sys.exit()
os.setsid()
if os.fork():
    os._exit(0)
os.dup2(w, 1)
os.dup2(w, 2)
kept = {name: os.environ[name] for name in ("HOME", "PATH")}
os.environ.clear()
os.environ.update(kept)
from pathlib import Path
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.actions.tasks.stores import open_stores
from cub.actions.tasks.task_edits import add_task
from cub.actions.tasks.task_fields import TaskFields
from cub.project.project import Project
root = Path.cwd()
attempt = find_current_attempt(root)
stores = open_stores(Project.load(root), "agent")
added = add_task(stores, TaskFields("Found on the way")).tasks[0]["id"]
print(attempt.task_id, attempt.request_close("done", ""), added, flush=True)
"""
_TASK = b'{"id":"s-1","rev":1,"title":"Bake","status":"in_progress","priority":2}\n'


@pytest.mark.parametrize(
    "kind",
    [
        PlaceKind("bound", "launcher", ""),
        PlaceKind("aside", "landlock", ""),
        pytest.param(PlaceKind("aside", "none", ""), marks=pytest.mark.thorough),
    ],
    ids=["bound", "landlock", "none"],
)
def test_an_orphan_without_an_environment_is_in_the_attempt(
    project: Path, tmp_path: Path, home: Path, kind: PlaceKind
) -> None:
    (project / ".cub").mkdir()
    (project / TASKS_FILE).write_bytes(_TASK)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    if kind.means != "none" and (failure := try_kind(kind, tmp_path)):
        pytest.skip(failure)
    folder = PlaceFolder(home / ".local/state/cub/projects/x/places/1")
    readable = (Path(sys.prefix), Path(__file__).parents[2])
    place = Place(folder, PlaceSettings(find_checkout(project), project, kind, readable=readable))
    place.open()
    place.set_base(read_base(project))
    place.begin({TASKS_FILE: _TASK})
    write_attempt(folder.mailbox, "s-1", "r-1")
    inside = place.get_inner_root(place.tree)
    command = CommandSpec((sys.executable, "-c", _ORPHAN), inside, environment(home))
    done = run_and_capture(place.confine(command, place.tree), TimeLimits(30, None))
    task, sent, added = done.out.decode().split()
    assert (task, sent) == ("s-1", "True"), done.out
    assert read_request(folder.mailbox)["task"] == "s-1"
    edits = read_attempt_edits(place.root, _TASK, "s-1")
    assert [new["id"] for new in edits.added] == [added]
    assert (project / TASKS_FILE).read_bytes() == _TASK
    place.close()
    assert not os.path.lexists(folder.path)
