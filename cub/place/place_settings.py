"""Say what all places of a run have in common, and what commands in them see."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.files.signed_state import find_project_state, find_state_folder
from cub.place.checkout import Checkout
from cub.place.folder import PlaceFolder
from cub.place.linked_dependencies import CheckoutLink
from cub.place.shared_links import list_mount_points
from cub.place.walls import Bind, PlaceKind, View

MAILBOX = "attempt"  # the name of the mailbox in the state folder of the project, as seen inside


class Base(NamedTuple):
    """Hold the commit that an attempt begins from, its tree, the branch, and what that is at.

    `branch` is a full name, "" for none. `tip` differs from `commit` if the attempt begins from
    changes that the branch does not have.
    """

    commit: str
    tree: str
    branch: str
    tip: str


@dataclass(frozen=True, slots=True)
class PlaceSettings:
    """Hold what all places of a run have in common.

    `root` is the project's, in the checkout. Of the files that git ignores, `shared` folders are
    the person's own, and `included` files are copied. `private` paths (folders with "/" at their
    end) are no part of any tree. `writable` folders of the host stay so, but for what in them is
    `read_only`, and `readable` ones are seen even below a private folder such as `/tmp`. `links`
    lead to the checkout: in a tree elsewhere, variables lead programs to the tree. What
    `setup_commands` make in a tree stays there while it may.
    """

    checkout: Checkout
    root: Path
    kind: PlaceKind
    shared: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    max_file_size: int = 1 << 30
    links: tuple[CheckoutLink, ...] = ()
    setup_commands: tuple[str, ...] = ()

    @property
    def prefix(self) -> PurePosixPath:
        """Return the project's folder, relative to the top of the checkout."""
        return PurePosixPath(self.root.relative_to(self.checkout.toplevel).as_posix())

    @property
    def is_bound(self) -> bool:
        """Return whether a tree is at the path of the checkout for commands in it."""
        return self.kind.name == "bound"

    def make_view(self, folder: PlaceFolder, tree: Path, hooks: Path) -> View:
        """Return what a command in one of the trees of a place sees; `hooks` are the person's."""
        checkout = self.checkout
        mailbox = find_project_state(self.root) / MAILBOX
        links = sorted((folder.path / "persons").iterdir())
        visible = [(Path(os.path.realpath(link)), link) for link in links]
        own = [folder.objects, self.root / ".cub" / "runs", *self.read_only]
        visible += [(path, path) for path in own if path.exists()]
        visible += _bind_hooks(checkout, hooks, is_committing=tree == folder.checks)
        binds = [Bind(os.fspath(source), os.fspath(target)) for source, target in visible]
        binds.append(Bind(os.fspath(folder.mailbox), os.fspath(mailbox), is_writable=True))
        for path in list_mount_points(checkout.toplevel, tree, self.shared):
            name = os.fspath(checkout.toplevel / path)
            binds.append(Bind(name, name, is_layered=True))
        state = (find_state_folder(),)
        return View(tree, checkout.toplevel, state, tuple(binds), self.writable, self.readable)


def _bind_hooks(
    checkout: Checkout, folder: Path, *, is_committing: bool
) -> Iterator[tuple[Path, Path]]:
    """Yield what makes the person's hooks visible in a tree, unchanged by an attempt.

    Hooks among the project's files are the attempt's to edit, except where the commit is made.
    """
    if not folder.is_dir():
        return
    if folder == checkout.common_dir / "hooks":
        yield folder, checkout.toplevel / ".git" / "hooks"
    elif is_committing and folder.is_relative_to(checkout.toplevel):
        folder = folder.parent if folder.name == "_" else folder  # husky calls scripts above it
        yield folder, folder
