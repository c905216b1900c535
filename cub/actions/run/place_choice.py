"""Choose where the place of a run is, and what it gets of the files that git ignores."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cub.actions.doctor.git_problems import FIRST_COMMIT_FIX, NO_COMMIT
from cub.actions.run.command_trust import iter_task_checks
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.files.signed_state import find_state_folder
from cub.git.process import try_git
from cub.git.worktree import read_head
from cub.place.checkout import Checkout, find_checkout
from cub.place.linked_dependencies import (
    CheckoutLink,
    find_links_to_checkout,
    require_own_dependencies,
)
from cub.place.place_kind import find_place_kind
from cub.place.shared_files import IgnoredFiles, choose_ignored_files
from cub.place.walls import PlaceKind


class PlaceChoice(NamedTuple):
    """Hold the kind of a run's place, its ignored files, and what leads from it to the checkout."""

    checkout: Checkout
    kind: PlaceKind
    ignored_files: IgnoredFiles
    links: tuple[CheckoutLink, ...]


def choose_place(stores: Stores, settings: RunSettings, environ: Mapping[str, str]) -> PlaceChoice:
    """Choose the place of a run, without making it.

    Raises CubError if there is no repository or no commit, if the kind that is asked for does not
    work here, or if checks would use files of the checkout all the same.
    """
    root = stores.project.root
    checkout, links = find_checkout(root), list[CheckoutLink]()
    if not read_head(checkout.toplevel).commit:
        raise CubError(NO_COMMIT, hint=FIRST_COMMIT_FIX)
    ignored_files = choose_ignored_files(checkout.toplevel, "HEAD", settings.share)
    kind = find_place_kind(settings.place, find_state_folder())
    if kind.name == "aside":
        checks = [*settings.checks]
        if not settings.options.no_checks:
            own = dict(iter_task_checks(stores.backend.read_tasks()))
            checks += chain.from_iterable(own.values())
        links = find_links_to_checkout(root, checks, environ, ignored_files.shared)
        require_own_dependencies(links)
    return PlaceChoice(checkout, kind, ignored_files, tuple(links))


def is_in_place(root: Path, path: str, settings: RunSettings) -> bool:
    """Return whether an attempt that begins from HEAD has a file, by its path from the project's
    root; also if git can't tell.
    """
    top = find_checkout(root).toplevel
    name = posixpath.normpath(posixpath.join(root.relative_to(top).as_posix(), path))
    answer = try_git(top, "ls-tree", "HEAD", "--", name)
    if answer.exit_code or answer.stdout:
        return True
    shared, included = choose_ignored_files(top, "HEAD", settings.share)
    return name in included or name.startswith(tuple(f"{folder}/" for folder in shared))
