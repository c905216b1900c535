"""Prepare the place of a run, and the branch that its commits go to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath

from cub.actions.doctor.git_problems import (
    IDENTITY_FIX,
    explain_missing_identity,
    list_uncommitted_paths,
)
from cub.actions.managed_files import map_local_files
from cub.actions.run.attempt_files import LOCAL_FILES
from cub.actions.run.place_choice import choose_place
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import PLACES_FOLDER, RunFolder
from cub.actions.run.run_options import RunSettings, render_branch_name
from cub.actions.tasks.stores import Stores
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.agent_profiles.user_folders import (
    TOOL_CACHES,
    WritableFolders,
    prepare_user_folders,
)
from cub.errors import CubError
from cub.files.signed_state import find_state_folder
from cub.git.process import run_git, try_git
from cub.git.worktree import list_ignored_paths, read_head
from cub.harness.base import Harness
from cub.place.checkout import Checkout
from cub.place.commits import make_commit, make_internal_commit
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_settings import Base, PlaceSettings
from cub.store.store_paths import STORE_FILES
from cub.text import join_first

_MAX_NAMED = 5  # files
_CHANGES_MESSAGE = "Commit uncommitted changes before an attempt"


def open_place(
    stores: Stores,
    settings: RunSettings,
    folder: RunFolder,
    environ: Mapping[str, str],
    harnesses: Sequence[Harness],
) -> Place:
    """Open a place for the attempts of a run, one after another.

    Raises CubError, as `choose_place` does.
    """
    root = stores.project.root
    checkout, kind, (shared, included), links = choose_place(stores, settings, environ)
    place_folder = PlaceFolder(folder.state / PLACES_FOLDER / "1")
    users = _prepare_user_folders(checkout, harnesses, environ)
    extra = [_expand(path, root, environ) for path in settings.writable]
    prefix = PurePosixPath(root.relative_to(checkout.toplevel).as_posix())
    place_settings = PlaceSettings(
        checkout,
        root,
        kind,
        shared,
        included,
        tuple((prefix / name).as_posix() + "/" * name.endswith("/") for name in LOCAL_FILES),
        (*users.folders, *extra),
        users.read_only,
        _list_programs(harnesses, environ),
        settings.max_file_size,
        links,
        settings.setup_commands,
    )
    place = Place(place_folder, place_settings)
    place.open()
    return place


def _prepare_user_folders(
    checkout: Checkout, harnesses: Sequence[Harness], environ: Mapping[str, str]
) -> WritableFolders:
    """Return what tools and agents write; the variables of an agent may name other directories."""
    outside = (checkout.toplevel, checkout.git_dir, checkout.common_dir, find_state_folder())
    wanted = [(TOOL_CACHES, environ)]
    wanted += [(one.facts.own_folders, {**environ, **one.environ}) for one in harnesses]
    found = [prepare_user_folders(*one, outside) for one in wanted]
    return WritableFolders(*(tuple(chain(*paths)) for paths in zip(*found, strict=True)))


def _expand(path: str, root: Path, environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME", "")
    return root / (path.replace("~", home, 1) if path.startswith("~/") and home else path)


def _list_programs(harnesses: Sequence[Harness], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the programs of the agents: they may be installed below a folder such as `/tmp`."""
    found = [shutil.which(harness.facts.program, path=environ.get("PATH")) for harness in harnesses]
    return tuple(Path(os.path.realpath(program)) for program in found if program)


@contextmanager
def prepare_branch(
    checkout: Checkout, settings: RunSettings, folder: RunFolder, environ: Mapping[str, str]
) -> Iterator[str]:
    """Yield the branch that the commits of a run go to, made where HEAD is if it is not there.

    A run that is refused leaves no new branch. Raises CubError if there can be none, or if git
    does not know who commits.
    """
    toplevel, options = checkout.toplevel, settings.options
    if settings.commits and (answer := explain_missing_identity(toplevel, environ)):
        what = f"git has no author name and email: {answer.splitlines()[-1]}"
        raise CubError(what, hint=IDENTITY_FIX)
    head = read_head(toplevel)
    if not settings.branch_template:
        if settings.commits and not head.branch:
            raise CubError(
                "HEAD is detached: what is committed here would be on no branch",
                hint="`git switch -c NAME`, or `cub run --branch NAME`",
            )
        yield head.branch
        return
    words = {"run": folder.id, "date": folder.id[:8], "epic": options.epic}
    name = render_branch_name(settings.branch_template, words)
    full = f"refs/heads/{name}"
    is_invalid = name.startswith("-") or name == "HEAD"
    if is_invalid or try_git(toplevel, "check-ref-format", full).exit_code:
        raise CubError("git does not take this as the name of a branch", where=name)
    is_new = try_git(toplevel, "show-ref", "--verify", "--quiet", full).exit_code != 0
    if is_new:
        run_git(toplevel, "update-ref", full, head.commit, "")
    try:
        yield full
    except CubError:
        if is_new:  # git deletes it only if no commit was added
            try_git(toplevel, "update-ref", "-d", full, head.commit)
        raise


def list_committed_stores(stores: Stores, checkout: Checkout, branch: str) -> tuple[str, ...]:
    """Return the files of tasks and ledger that belong in the commits to a branch.

    That is none if the checkout has another branch, and of the others those that git does not
    ignore.
    """
    is_here = stores.root == stores.project.root and read_head(checkout.toplevel).branch == branch
    if not is_here:
        return ()
    local = map_local_files(stores.project.config)
    prefix = PurePosixPath(stores.root.relative_to(checkout.toplevel).as_posix())
    paths = [(prefix / name).as_posix() for name in STORE_FILES if name not in local]
    ignored = list_ignored_paths(checkout.toplevel, paths)
    return tuple(path for path in paths if path not in ignored)


def commit_changes(
    place: Place, branch: str, stores: Sequence[str], *, is_merged: bool
) -> Base | None:
    """Commit the person's changes of tracked files in cub's objects alone; None if there are none.

    The commit is the person's own if it `is_merged` with an attempt's. Raises CubError if git
    can't, for example in the middle of a merge.
    """
    checkout, git = place.settings.checkout, place.tree
    head = read_head(checkout.toplevel).commit
    own = replace(git.with_index("changes.index"), tree=checkout.toplevel)
    shutil.copy2(checkout.git_dir / "index", own.index)
    own.run("add", "--update")
    known = own.list_items("ls-files", "-z", "--", *stores) if stores else []
    if known:
        own.run("reset", "--quiet", head, "--", *known)
    tree = own.read_line("write-tree")
    if tree == own.read_line("rev-parse", f"{head}^{{tree}}"):
        return None
    commit = (
        make_commit(place, tree, head, _CHANGES_MESSAGE)
        if is_merged
        else make_internal_commit(place, tree, head)
    )
    return Base(commit, tree, branch, head)


def describe_place(place: Place) -> str:
    """Say in one sentence what keeps the attempts of a run from the person's files."""
    kind = place.settings.kind
    if kind.name == "bound":
        return "attempts work in a clone and cannot change your files; cub merges accepted work"
    can = "can" if kind.means == "none" else "cannot"
    reason = f" ({kind.reason})" if kind.reason else ""
    return f"attempts work in a clone beside your checkout, and {can} change your files{reason}"


def list_path_warnings(context: RunContext) -> list[str]:
    """Name agents that may ignore the project's settings, as they trust projects by their path."""
    place, names = context.place, {harness.reads for harness in context.harnesses}
    if place.settings.is_bound:
        return []
    return [
        f"{one.title} trusts projects by path: it may ignore {one.folder} of the clone"
        for one in NAMED_PROFILES
        if one.trusts_paths and one.name in names and (place.root / one.folder).is_dir()
    ]


def describe_uncommitted(context: RunContext) -> str:
    """Name the files with uncommitted changes, which no attempt has; "" if there are none."""
    settings = context.place.settings
    paths = list_uncommitted_paths(settings.checkout.toplevel, settings.root)
    if not paths:
        return ""
    names = join_first(paths, _MAX_NAMED)
    return f"uncommitted changes in {names}: attempts do not see them without --with-changes"
