"""Bring an attempt's place to its base, and read what the agent has made of it."""

from __future__ import annotations

from dataclasses import astuple, replace

from cub.actions.managed_files import CONSTITUTION, MANAGED_FILES, MAP
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.new_files import (
    describe_left_out_files,
    describe_secrets,
    list_commit_secrets,
    take_out_secrets,
)
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import START_FILE
from cub.actions.tasks.current_attempt import write_attempt
from cub.edit.section_writer import cut_own_section
from cub.files.read_files import read_small_file
from cub.place.changes import drop_paths
from cub.place.commits import bring_agent_commits, list_conflicts
from cub.place.tree import TreeState
from cub.project.config import CONFIG_FILE
from cub.project.project import Project
from cub.store.store_paths import STORE_FILES

# Files of cub's own that are never part of a tree, whatever git makes of them.
LOCAL_FILES = (
    *STORE_FILES, ".cub/state.json", ".cub/journal.jsonl", ".cub/lock", ".cub/runs/",
    ".cub/cache/", ".cub/logs/", ".cub/backups/",
)  # fmt: skip
_MAX_STORE = 256 << 20  # bytes
_MAX_MANAGED = 4 << 20  # bytes


def begin_attempt(context: RunContext, attempt: AttemptResult) -> AttemptResult:
    """Bring the agent's tree to the base, with the stores, and what cub has just written.

    What recovery needs is written down.
    """
    stores, place = context.initial_stores, attempt.spec.place
    prefix = place.settings.prefix
    names = [*STORE_FILES, *list_managed_files(stores.project)]
    paths = {name: (prefix / name).as_posix() for name in names}
    old = attempt.read_files_before(paths.values())
    laid = dict[str, bytes]()
    for name, path in paths.items():
        limit = _MAX_STORE if name in STORE_FILES else _MAX_MANAGED
        data = read_small_file(stores.root, name, limit)
        if data and (name in STORE_FILES or _is_written_by_cub(name, old[path], data)):
            laid[path] = data
    place.begin(laid, [paths[name] for name in STORE_FILES if old[paths[name]]])
    write_attempt(place.folder.mailbox, attempt.spec.task_id, context.folder.id)
    _save_start(context, attempt)
    return replace(attempt, is_begun=True)


def _save_start(context: RunContext, attempt: AttemptResult) -> None:
    spec, place = attempt.spec, attempt.spec.place
    start = {
        "task": spec.task_id,
        "n": spec.number,
        "harness": spec.harness.name,
        "at": context.timestamp,
        "charged": spec.history.counted_attempts,
        "place": place.folder.path.as_posix(),
        "kind": astuple(place.settings.kind),
        "base": list(attempt.base),
        "excluded": place.list_excluded_paths(),
    }
    spec.files.write_state(START_FILE, start)


def list_managed_files(project: Project) -> list[str]:
    """Return the paths of files that cub writes whole, or has a section in."""
    whole = (CONFIG_FILE, CONSTITUTION, MAP, *(file.path for file in MANAGED_FILES))
    return [*whole, *project.config.targets]


def _is_written_by_cub(name: str, old: bytes, new: bytes) -> bool:
    """Return whether a file differs from the committed one, by what cub writes alone."""
    if old == new:
        return False
    if name.startswith(".cub/"):
        return True
    before, after = (cut_own_section(data, name) for data in (old, new))
    return after not in (None, new) and (not old or before == after)


def take_agent_files(
    context: RunContext, attempt: AttemptResult
) -> tuple[AttemptResult, TreeState, tuple[str, ...]]:
    """Take the files that the agent has left as the attempt's; return their state and conflicts.

    New files that look like secrets are left out, and kept in the attempt's folder.
    """
    spec, place = attempt.spec, attempt.spec.place
    state = place.read_state()  # first: it removes what git would wait for
    conflicts = list_conflicts(place, context.environ)
    head = bring_agent_commits(place, attempt.base, context.environ)
    tree = place.take_forced_files(head, state.tree) if head else state.tree
    attempt = replace(attempt, tree=tree, head=head)
    if paths := take_out_secrets(place, spec.files, attempt.changes):
        tree = drop_paths(place.tree, tree, paths)
        attempt = replace(attempt, tree=tree, left_out_paths=tuple(paths))
        spec.notes.add(describe_secrets(paths), *describe_left_out_files(spec.files))
    if head and not _may_be_kept(attempt):
        attempt = replace(attempt, head="")
    if attempt.head:
        spec.notes.add("there are commits that the run did not make")
    return attempt, state, conflicts


def _may_be_kept(attempt: AttemptResult) -> bool:
    """Return whether the agent's own commits have nothing that no commit may have."""
    place = attempt.spec.place
    if secrets := list_commit_secrets(place, attempt.base, attempt.head):
        what = f"{describe_secrets(secrets)}: the run commits the work in a commit of its own"
        attempt.spec.notes.add(what)
        return False
    return not place.has_excluded_path(attempt.head)  # such as a section that is not committed yet
