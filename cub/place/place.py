"""Work in a place: begin at a commit, run commands behind walls, and read what became of it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from cub.files.read_files import read_small_file
from cub.files.signed_state import find_project_state
from cub.git.process import make_config_variables, run_git
from cub.git.worktree import get_file_type
from cub.place.checkout import Checkout, TreeGit, find_checkout
from cub.place.folder import PlaceFolder, empty_folder, make_folders_usable
from cub.place.linked_dependencies import make_tree_variables
from cub.place.place_settings import MAILBOX, Base, PlaceSettings
from cub.place.repository import (
    RepositorySettings,
    confine_filters,
    read_repository_settings,
    write_repository,
)
from cub.place.shared_files import copy_included_files, list_stale_extensions, remove_files
from cub.place.shared_links import (
    READ_ONLY_VARIABLES,
    link_shared_folders,
    make_mount_points,
    remove_folder_links,
)
from cub.place.tree import (
    TreeSetup,
    TreeState,
    check_out_tree,
    list_edited_paths,
    read_submodule_commits,
    read_tree_state,
    update_tree,
)
from cub.place.walls import confine_command
from cub.processes.command import CommandSpec


@dataclass(slots=True)
class Place:
    """Hold one place of a run. One attempt at a time works in it.

    `laid` are the files that an attempt finds beside those of its base, as they were put there.
    """

    folder: PlaceFolder
    settings: PlaceSettings
    laid: dict[str, bytes] = field(default_factory=dict)
    _base: Base | None = None
    _checked_tree: str = ""
    # Trees that differ from what was checked out, and those that git can read.
    _touched: set[Path] = field(default_factory=set)
    _usable: set[Path] = field(default_factory=set)
    _person: RepositorySettings | None = None
    _modules: dict[str, Checkout] = field(default_factory=dict)
    _setups: dict[str, TreeSetup] = field(default_factory=dict)

    @property
    def person(self) -> RepositorySettings:
        """Return the settings of the person's repository, as they were before the attempt."""
        if self._person is None:
            self._person = read_repository_settings(self.settings.checkout)
        return self._person

    @property
    def tree(self) -> TreeGit:
        """Return git for the agent's tree."""
        return self._open_tree(self.settings.checkout, self.folder.tree)

    @property
    def checks(self) -> TreeGit:
        """Return git for the tree of checks."""
        return self._open_tree(self.settings.checkout, self.folder.checks)

    @property
    def root(self) -> Path:
        """Return the folder of the project in the agent's tree, as cub sees it."""
        return self.folder.tree / self.settings.prefix

    @property
    def inner_mailbox(self) -> Path:
        """Return the mailbox as the agent sees it."""
        is_bound = self.settings.is_bound
        return find_project_state(self.settings.root) / MAILBOX if is_bound else self.folder.mailbox

    def get_inner_root(self, tree: TreeGit) -> Path:
        """Return the folder of the project as a command in one of the trees sees it."""
        return self.get_inner_top(tree) / self.settings.prefix

    def get_inner_top(self, tree: TreeGit) -> Path:
        """Return the top of one of the trees as a command in it sees it."""
        is_bound = self.settings.is_bound
        return self.settings.checkout.toplevel if is_bound else tree.tree

    @property
    def base(self) -> Base:
        """Return what the attempt begins from."""
        assert self._base is not None
        return self._base

    def open(self) -> None:
        """Make the folders of the place."""
        self.folder.remove()
        self.folder.prepare()
        self.folder.add_repository(self.settings.checkout, "main")

    def set_base(self, base: Base) -> None:
        """Have the trees begin from `base` from here on."""
        self._base = base
        self._person = None
        empty_folder(self.folder.mailbox)

    def begin(self, laid: Mapping[str, bytes], records: Collection[str] = ()) -> None:
        """Bring the agent's tree to the base; lay some files over it, by their paths in it.

        `records` are those that git tracks, and that no `git commit -a` of the agent's is to have.
        Raises CubError or OSError, for example if there is no space.
        """
        self.laid = dict(laid)
        self._check_out(self.tree, self.base.tree)
        if records:
            run_git(self.folder.tree, "update-index", "--skip-worktree", "--", *records)
        self._touched.update([self.folder.tree] if laid else [])
        for path, data in laid.items():
            file = self.folder.tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_symlink():
                file.unlink()
            file.write_bytes(data)
        self._link_mailbox()

    def check_out(self, tree: str, parent: str = "") -> None:
        """Make the tree of checks hold exactly `tree`, on top of the commit `parent`."""
        self._check_out(self.checks, tree, parent)
        self._checked_tree = tree

    def list_stale_extensions(self, tree: str) -> list[str]:
        """List the compiled extensions of the checkout that may not be what `tree` builds."""
        included = self.settings.included
        if tree == self.base.tree or not included:
            return []
        words = ("diff-tree", "-r", "-z", "--name-only", self.base.tree, tree)
        return list_stale_extensions(included, self.tree.list_items(*words))

    def get_setup(self, git: TreeGit) -> TreeSetup:
        """Return what setup commands have made in one of the trees, and whether they are due."""
        return self._setups.setdefault(git.index.name, TreeSetup())

    def finish_setup(self, git: TreeGit) -> None:
        """Keep what the setup commands have made in one of the trees."""
        self.get_setup(git).finish(git, self._make_filter())

    def read_state(self) -> TreeState:
        """Return what the agent's tree holds now. Raises CubError if git can't read it."""
        self._make_usable(self.folder.tree)
        unchanged = [path for path, data in self.laid.items() if self._has_content(path, data)]
        made = self.get_setup(self.tree).made_paths
        is_excluded = self._make_filter(*unchanged, *made)
        return read_tree_state(self.tree, is_excluded, self.settings.max_file_size)

    def _make_filter(self, *paths: str) -> Callable[[str], bool]:
        """Return whether a path is among these, or among those that are no part of any tree."""
        settings = self.settings
        known = (*paths, *settings.included, *settings.private)
        files = {*known, *settings.shared}
        folders = tuple(path for path in known if path.endswith("/"))
        folders += tuple(f"{path}/" for path in settings.shared)
        # Git may ignore the whole folder of these, such as `.cub/`.
        parents = (parent for path in settings.private for parent in PurePosixPath(path).parents)
        files.update(f"{parent}/" for parent in parents)
        return lambda path: path in files or path.startswith(folders)

    def list_excluded_paths(self) -> list[str]:
        """List what is no part of the attempt's work, folders with "/" at their end."""
        shared = (f"{path}/" for path in self.settings.shared)
        return [*self.laid, *self.settings.included, *self.settings.private, *shared]

    def take_forced_files(self, head: str, tree: str) -> str:
        """Return `tree` with ignored files that a commit of the agent's has anyway."""
        words = ("diff-tree", "-r", "-z", "--name-only", "--diff-filter=D", "--no-renames")
        files, is_excluded = (stat.S_IFREG, stat.S_IFLNK), self._make_filter(*self.laid)
        forced = [
            path
            for path in self.tree.list_items(*words, head, tree)
            if get_file_type(self.folder.tree, path) in files and not is_excluded(path)
        ]
        return update_tree(self.tree, forced) if forced else tree

    def has_excluded_path(self, head: str) -> bool:
        """Return whether commits on top of the base have a file that is no part of any tree."""
        is_excluded = self._make_filter(*self.laid)
        words = ("log", "--format=", "--name-only", "-z", "--no-renames", "-m")
        listed = self.tree.list_items(*words, head, f"^{self.base.commit}", "--")
        return any(is_excluded(path.lstrip("\n")) for path in listed)

    def list_changed_submodules(self) -> tuple[str, ...]:
        """List the submodules with files that are not those of their commit: no commit has them."""
        trees = {
            path: self._open_tree(checkout, self.folder.tree, path)
            for path, checkout in self._modules.items()
            if (self.folder.tree / path).is_dir()
        }
        words = ("ls-files", "-z", "-o", "--exclude-standard")
        return tuple(
            path for path, git in trees.items() if list_edited_paths(git) or git.list_items(*words)
        )

    def holds(self, tree: str) -> bool:
        """Return whether the tree of checks was brought to `tree` last."""
        return self._checked_tree == tree

    def _make_usable(self, tree: Path) -> None:
        if tree not in self._usable:
            make_folders_usable(tree)
            self._usable.add(tree)

    def list_edits_of_checks(self) -> list[str]:
        """List the files of the tree of checks that were changed in it."""
        self._make_usable(self.folder.checks)
        return list_edited_paths(self.checks)

    def take_edits_of_checks(self, paths: Collection[str]) -> str:
        """Return the tree of checks with some files as they are in it now."""
        self._checked_tree = ""
        return update_tree(self.checks, paths)

    def confine(self, command: CommandSpec, tree: TreeGit) -> CommandSpec:
        """Return a command as one that runs behind the walls, in one of the trees."""
        self._touched.add(tree.tree)
        self._usable.discard(tree.tree)
        settings = self.settings
        environ = {**command.environ}
        if not settings.is_bound:
            toplevel = settings.checkout.toplevel
            environ |= make_tree_variables(toplevel, tree.tree, settings.links, environ)
        if settings.shared and settings.kind.means != "launcher":  # that has layers for writes
            environ = {**READ_ONLY_VARIABLES, **environ}
        command = command._replace(environ=environ)
        view = settings.make_view(self.folder, tree.tree, self.person.hooks_folder)
        return confine_command(command, view, settings.kind)

    def read_file(self, path: str, max_bytes: int) -> bytes:
        """Read a file of the agent's tree; b"" for a larger one, and for what can't be read."""
        return read_small_file(self.folder.tree, path, max_bytes)

    def _has_content(self, path: str, data: bytes) -> bool:
        return self.read_file(path, len(data)) == data and os.path.lexists(self.folder.tree / path)

    def _check_out(self, git: TreeGit, tree: str, parent: str = "") -> None:
        settings, toplevel = self.settings, self.settings.checkout.toplevel
        kept = self.get_setup(git).prepare(git, tree, settings.setup_commands)
        remove_folder_links(git.tree, settings.shared)
        self._make_usable(git.tree)
        check_out_tree(git, tree, kept, is_touched=git.tree in self._touched)
        self._touched.discard(git.tree)
        alternates = [self.folder.link_objects("main"), self.folder.objects]
        hidden = (*settings.shared, *settings.included, *settings.private, *self.laid, *kept)
        head = (parent or self.base.commit, self.base.branch)
        write_repository(git, self.person, alternates, head, hidden)
        self._fill_submodules(git)
        stale = self.list_stale_extensions(tree)
        included = [path for path in settings.included if path not in stale]
        remove_files(git.tree, stale)
        copy_included_files(toplevel, git.tree, included)
        is_bound = settings.is_bound
        place_folders = make_mount_points if is_bound else link_shared_folders
        place_folders(toplevel, git.tree, settings.shared)

    def _fill_submodules(self, git: TreeGit) -> None:
        """Check out the submodules that the person has, from the objects that they have."""
        for path, commit in read_submodule_commits(git).items():
            folder = self.settings.checkout.toplevel / path
            if not os.path.lexists(folder / ".git"):
                continue
            checkout = self._modules.setdefault(path, find_checkout(folder))
            name = path.replace("%", "%25").replace("/", "%")
            self.folder.add_repository(checkout, name)
            inner = self._open_tree(checkout, git.tree, path)
            (git.tree / path).mkdir(parents=True, exist_ok=True)
            if not inner.succeeds("cat-file", "-e", f"{commit}^{{tree}}"):
                continue
            check_out_tree(inner, commit)
            own = read_repository_settings(checkout)
            write_repository(inner, own, [self.folder.link_objects(name)], (commit, ""))

    def _link_mailbox(self) -> None:
        """Have a project beside the person's find the mailbox in its own state folder."""
        if not self.settings.is_bound:
            for tree in (self.tree, self.checks):
                link = find_project_state(self.get_inner_root(tree)) / MAILBOX
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.is_symlink():
                    link.symlink_to(self.folder.mailbox, target_is_directory=True)

    def _open_tree(self, checkout: Checkout, tree: Path, inner: str = "") -> TreeGit:
        """Return git for a tree, or for a submodule of it, with filters behind the walls."""
        git = self.folder.open_tree(checkout, tree, inner)
        person = read_repository_settings(checkout) if inner else self.person
        if not (filters := person.filters):
            return git
        whole = self.folder.open_tree(self.settings.checkout, tree)
        command = CommandSpec((), self.get_inner_top(whole) / inner, os.environ)
        settings = confine_filters(
            filters, lambda argv: self.confine(command._replace(argv=argv), whole).argv
        )
        return replace(git, variables=make_config_variables(settings))

    def close(self) -> None:
        """Drop the place, and all that was done in it."""
        if not self.settings.is_bound:
            for tree in (self.tree, self.checks):
                state = find_project_state(self.get_inner_root(tree))
                (state / MAILBOX).unlink(missing_ok=True)
                shutil.rmtree(state, ignore_errors=True)
        self.folder.remove()
