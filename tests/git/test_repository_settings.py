"""What decides how git behaves is what it was after an attempt, whatever that made of it; no link
is followed on the way, and nothing is opened that waits.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.folder_entries import FileCopies
from cub.git.repository_settings import read_git_settings, restore_git_settings
from tests.conftest import git

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks and links as POSIX has them")
Attack = Callable[[Path, Path], object]


class World:
    """A repository with a hook, an exclude and tracked hooks beside, and a folder outside of it."""

    def __init__(self, root: Path, outside: Path) -> None:
        self.root, self.outside, self.git = root, outside, root / ".git"
        self.aside, self.copies = outside.parent / "aside", FileCopies()
        (self.git / "hooks").mkdir(exist_ok=True)
        for sample in (self.git / "hooks").glob("*.sample"):
            sample.unlink()  # nobody runs them, and nobody puts them back
        self.hook = self.git / "hooks" / "pre-commit"
        self.hook.write_text("#!/bin/sh\nexit 0\n")
        self.hook.chmod(0o755)
        (self.git / "info").mkdir(exist_ok=True)
        (self.git / "info" / "exclude").write_text("*.log\n")
        (root / "githooks").mkdir()
        (root / "githooks" / "pre-commit").write_text("tracked\n")
        (outside / "mine").write_text("mine\n")

    def told(self) -> dict[str, object]:
        """All of git's folder, the tracked hooks and the folder outside."""
        places = (self.git, self.root / "githooks", self.outside)
        return {str(path): _told(path) for place in places for path in sorted(place.rglob("*"))}

    def attempt(self, attack: Callable[[], object]) -> list[str]:
        before = read_git_settings(self.root, self.copies, self.outside.parent / "room")
        attack()
        return restore_git_settings(before, self.aside)


def _told(path: Path) -> object:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return path.readlink()
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return stat.S_IFMT(found.st_mode), stat.S_IMODE(found.st_mode), content


@pytest.fixture
def world(project: Path, tmp_path: Path) -> World:
    (tmp_path / "outside").mkdir()
    return World(project, tmp_path / "outside")


def _emptied(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def _linked(path: Path, target: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        _emptied(path)
    else:
        path.unlink()
    path.symlink_to(target)


def _link_and_more(git_folder: Path, outside: Path) -> None:
    _linked(git_folder / "hooks", outside)
    (git_folder / "hooks" / "mine").write_text("hers\n")
    (outside / "mine").write_text("mine\n")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _folder_with_link(path: Path, target: Path) -> None:
    path.mkdir()
    (path / "x").symlink_to(target)


def _file_instead(folder: Path) -> None:
    _emptied(folder)
    folder.write_text("x")


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


ATTACKS: dict[str, Attack] = {
    "hooks to tracked": lambda g, _: _linked(g / "hooks", Path("../githooks")),
    "hooks to outside": lambda g, o: _linked(g / "hooks", o),
    "hooks to nowhere": lambda g, o: _linked(g / "hooks", o / "none"),
    "hooks to itself": lambda g, _: _linked(g / "hooks", Path("hooks")),
    "info to outside": lambda g, o: _linked(g / "info", o),
    "hook to outside": lambda g, o: _linked(g / "hooks" / "pre-commit", o / "mine"),
    "exclude to outside": lambda g, o: _linked(g / "info" / "exclude", o / "mine"),
    "config to outside": lambda g, o: _linked(g / "config", o / "mine"),
    "hooks through a link": _link_and_more,
    "hooks deleted": lambda g, _: _emptied(g / "hooks"),
    "hooks a file": lambda g, _: _file_instead(g / "hooks"),
    "hook changed": lambda g, _: (g / "hooks" / "pre-commit").write_text("touch PWN\n"),
    "hook chmod": lambda g, _: (g / "hooks" / "pre-commit").chmod(0o644),
    "hook chmod 000": lambda g, _: (g / "hooks" / "pre-commit").chmod(0),
    "hooks chmod": lambda g, _: (g / "hooks").chmod(0o500),
    "new hook": lambda g, _: (g / "hooks" / "post-commit").write_text("x"),
    "new huge hook": lambda g, _: os.truncate(_new(g / "hooks" / "post-commit"), 1 << 36),
    "hook made huge": lambda g, _: os.truncate(g / "hooks" / "pre-commit", 1 << 36),
    "new folder": lambda g, o: _folder_with_link(g / "hooks" / "d", o),
    "hook a folder": lambda g, _: _replace(g / "hooks" / "pre-commit", Path.mkdir),
    "hook a FIFO": lambda g, _: _replace(g / "hooks" / "pre-commit", os.mkfifo),
    "hook a socket": lambda g, _: _replace(g / "hooks" / "pre-commit", _socket),
    "config a FIFO": lambda g, _: _replace(g / "config", os.mkfifo),
    "config a folder": lambda g, _: _replace(g / "config", Path.mkdir),
    "config deleted": lambda g, _: (g / "config").unlink(),
    "config broken": lambda g, _: (g / "config").write_text("[core"),
    "config huge": lambda g, _: os.truncate(g / "config", 1 << 36),
    "new config.worktree": lambda g, _: (g / "config.worktree").write_text("[core]\n\tpager=x\n"),
    "alternates": lambda g, o: (g / "objects/info/alternates").write_text(f"{o}\n"),
    "grafts": lambda g, _: (g / "info" / "grafts").write_text("1" * 40 + "\n"),
    "shallow": lambda g, _: (g / "shallow").write_text("1" * 40 + "\n"),
    "commondir": lambda g, o: (g / "commondir").write_text(f"{o}\n"),
    "sample a link": lambda g, o: (g / "hooks" / "x.sample").symlink_to(o),
    "attributes": lambda g, _: (g / "info" / "attributes").write_text("* filter=x\n"),
}


def _new(path: Path) -> Path:
    path.touch()
    return path


@pytest.mark.parametrize("name", ATTACKS)
def test_what_an_attempt_does_is_undone_and_told(world: World, name: str) -> None:
    before = world.told()
    changed = world.attempt(lambda: ATTACKS[name](world.git, world.outside))
    assert world.told() == before
    assert changed
    assert all(one.split("/")[0] in (".git", "hooks", "info", "objects") for one in changed)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_kept_aside_and_a_second_time_does_nothing(world: World, name: str) -> None:
    before = read_git_settings(world.root, world.copies, world.outside.parent / "room")
    ATTACKS[name](world.git, world.outside)
    restore_git_settings(before, world.aside)
    gone = name in ("hooks deleted", "config deleted", "hooks chmod")
    assert gone or [*world.aside.iterdir()]
    assert restore_git_settings(before, world.aside) == []


def test_nothing_is_told_where_nothing_was_done(world: World) -> None:
    assert world.attempt(lambda: None) == []
    assert not world.aside.exists()


def test_a_link_that_was_there_stays_with_what_it_leads_to(world: World) -> None:
    _linked(world.git / "hooks", Path("../githooks"))
    before = world.told()
    assert world.attempt(lambda: None) == []
    assert world.told() == before
    assert world.attempt(lambda: _linked(world.git / "hooks", world.outside)) == [".git/hooks"]
    assert world.told() == before


def test_what_a_linked_configuration_leads_to_counts(world: World, tmp_path: Path) -> None:
    """As `git new-workdir` makes them."""
    real = tmp_path / "real-config"
    (world.git / "config").rename(real)
    (world.git / "config").symlink_to(real)
    was = real.read_bytes()
    assert world.attempt(lambda: git(world.root, "config", "core.pager", "touch PWN"))
    assert real.read_bytes() == was
    assert (world.git / "config").is_symlink()


def test_a_large_hook_is_put_back(world: World) -> None:
    large = b"#!/bin/sh\n" + b"#" * (3 << 20)
    world.hook.write_bytes(large)
    room = world.outside.parent / "room"
    for _ in range(2):
        assert world.attempt(lambda: world.hook.write_text("smuggled")) == ["hooks/pre-commit"]
        assert world.hook.read_bytes() == large
        assert stat.S_IMODE(world.hook.stat().st_mode) == 0o755
    assert [*room.iterdir()] == []  # a copy that has a name could be forged


def test_a_large_hook_that_is_edited_in_place_is_noticed(world: World) -> None:
    """With its size, and the time that it tells."""
    world.hook.write_bytes(b"#" * (2 << 20))
    found = world.hook.stat()

    def edit() -> None:
        with world.hook.open("r+b") as file:
            file.write(b"evil")
        os.utime(world.hook, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert world.attempt(edit) == ["hooks/pre-commit"]
    assert world.hook.read_bytes()[:4] == b"####"


def test_a_large_hook_is_copied_once(world: World) -> None:
    world.hook.write_bytes(b"#" * (2 << 20))
    room = world.outside.parent / "room"
    first = read_git_settings(world.root, world.copies, room)
    read_git_settings(world.root, world.copies, Path("/dev/null/no folder"))
    world.hook.unlink()
    restore_git_settings(first, world.aside)
    assert world.hook.stat().st_size == 2 << 20


def test_hooks_in_folders_count(world: World) -> None:
    inner = world.git / "hooks" / "pre-commit.d"
    inner.mkdir()
    (inner / "lint").write_text("lint\n")
    before = world.told()
    changed = world.attempt(lambda: (inner / "lint").write_text("touch PWN\n"))
    assert changed == ["hooks/pre-commit.d/lint"]
    assert world.told() == before


def test_a_folder_that_was_filled_is_moved_as_a_whole(world: World) -> None:
    def fill() -> None:
        for number in range(10_001):
            (world.git / "hooks" / str(number)).touch()

    before = world.told()
    assert world.attempt(fill)[0] == ".git/hooks"
    assert world.told() == before


def test_a_repository_that_became_a_link_stops_the_run(world: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def swap() -> None:
        world.git.rename(tmp_path / "was")
        world.git.symlink_to(elsewhere)

    with pytest.raises(CubError, match="can't be restored"):
        world.attempt(swap)
    assert [*elsewhere.iterdir()] == []


KEYS = {
    "alias.st": "!touch PWN", "pager.log": "touch PWN; cat", "credential.helper": "!touch PWN",
    "http.proxy": "evil", "url.evil.insteadOf": "https://", "url.evil.pushInsteadOf": "https://",
    "include.path": "/evil", "includeIf.gitdir:/.path": "/evil", "core.sshCommand": "touch PWN",
    "core.fsmonitor": "touch PWN", "core.hooksPath": "/evil", "protocol.ext.allow": "always",
    "sequence.editor": "touch PWN", "interactive.diffFilter": "touch PWN",
    "mergetool.x.cmd": "touch PWN", "difftool.x.cmd": "touch PWN", "browser.x.cmd": "touch PWN",
    "man.x.cmd": "touch PWN", "init.templateDir": "/evil", "sendemail.smtpServer": "/evil",
    "push.default": "matching", "push.gpgSign": "true", "remote.pushDefault": "evil",
    "branch.main.pushRemote": "evil", "submodule.x.update": "!touch PWN",
    "submodule.x.url": "evil", "trailer.x.command": "touch PWN", "gpg.ssh.program": "touch PWN",
    "remote.origin.url": "evil", "remote.origin.pushurl": "evil", "remote.origin.vcs": "evil",
    "remote.origin.uploadpack": "touch PWN", "remote.origin.receivepack": "touch PWN",
    "remote.origin.proxy": "evil", "remote.new.uploadpack": "touch PWN", "remote.new.vcs": "x",
    "remote.new.url": "ext::sh -c touch% PWN", "remote.new.pushurl": "evil",
    "branch.main.remote": "evil", "branch.main.merge": "refs/heads/evil",
    "branch.new.remote": "https://evil", "branch.new.rebase": "interactive",
    "filter.x.clean": "touch PWN", "diff.x.textconv": "touch PWN", "merge.x.driver": "touch PWN",
    "user.name": "Robot", "extensions.partialClone": "evil", "gc.auto": "1", "tar.x.command": "x",
    "uploadpack.packObjectsHook": "x", "commit.template": "/evil", "fetch.x": "y", "log.date": "x",
}  # fmt: skip


REMOTE = """\
[remote "origin"]
\turl = https://mine
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
"""


@pytest.fixture
def remote(world: World) -> World:
    """With a remote and an upstream."""
    with (world.git / "config").open("a") as config:
        config.write(REMOTE)
    return world


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "option", ["--add", pytest.param("--replace-all", marks=pytest.mark.thorough)]
)
def test_a_key_that_runs_or_redirects_is_put_back(remote: World, key: str, option: str) -> None:
    before = (remote.git / "config").read_bytes()
    assert remote.attempt(lambda: git(remote.root, "config", option, key, KEYS[key])) == [
        ".git/config"
    ]
    assert (remote.git / "config").read_bytes() == before
    assert (remote.aside / ".git-config").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("remote", "add", "fork", "https://github.com/x/y"),
        ("config", "branch.new.remote", "origin"),
        ("config", "branch.new.merge", "refs/heads/new"),
        ("config", "branch.new.rebase", "true"),
        ("config", "branch.main.description", "what it is for"),
        ("config", "branch.main.github-pr-owner-number", "x#y#1"),
        ("remote", "remove", "origin"),
        ("config", "--remove-section", "branch.main"),
        ("config", "lfs.https://mine.access", "basic"),
    ],
)
def test_what_a_person_sets_meanwhile_stays(remote: World, words: tuple[str, ...]) -> None:
    assert remote.attempt(lambda: git(remote.root, *words)) == []
    after = (remote.git / "config").read_bytes()
    assert remote.attempt(lambda: None) == []
    assert (remote.git / "config").read_bytes() == after


@pytest.mark.parametrize("key", ["remote.origin.url", "branch.main.remote", "core.bare"])
def test_one_key_that_is_gone_is_put_back(remote: World, key: str) -> None:
    before = (remote.git / "config").read_bytes()
    assert remote.attempt(lambda: git(remote.root, "config", "--unset", key))
    assert (remote.git / "config").read_bytes() == before


@pytest.fixture
def module(world: World, tmp_path: Path) -> Path:
    """The repository of a submodule whose name has a slash."""
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q")
    git(source, "commit", "-q", "--allow-empty", "-m", "x")
    allow = ("-c", "protocol.file.allow=always")
    git(world.root, *allow, "submodule", "add", "-q", str(source), "libs/mod")
    return world.git / "modules" / "libs" / "mod"


def test_settings_of_submodules_are_put_back(world: World, module: Path, tmp_path: Path) -> None:
    before = world.told()
    hook, pointer = module / "hooks" / "post-checkout", world.root / "libs" / "mod" / ".git"
    pointed = pointer.read_bytes()

    def attack() -> None:
        git(world.root / "libs" / "mod", "config", "core.fsmonitor", "touch PWN")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("touch PWN")
        pointer.write_text(f"gitdir: {tmp_path}\n")

    changed = world.attempt(attack)
    assert {"modules/libs/mod/config", "libs/mod/.git"} <= set(changed)
    assert world.told() == before
    assert pointer.read_bytes() == pointed


def test_a_submodule_that_goes_is_no_error(world: World, module: Path) -> None:
    assert module.is_dir()
    assert world.attempt(lambda: (world.root / "libs").rename(world.outside / "libs")) == []


def test_linked_work_trees_are_looked_at_as_well(world: World, tmp_path: Path) -> None:
    git(world.root, "commit", "-q", "--allow-empty", "-m", "x")
    for name in ("one", "two"):
        git(world.root, "worktree", "add", "-q", str(tmp_path / name))
    one, two = (world.git / "worktrees" / name for name in ("one", "two"))
    linked = World.__new__(World)
    linked.root, linked.outside, linked.git = tmp_path / "one", world.outside, world.git
    linked.aside, linked.copies = world.aside, FileCopies()
    before = world.told()

    def attack() -> None:
        (tmp_path / "one" / ".git").write_text(f"gitdir: {tmp_path}\n")
        (one / "commondir").write_text(f"{tmp_path}\n")
        (two / "config.worktree").write_text("[core]\n\tpager = touch PWN\n")
        world.hook.write_text("touch PWN\n")
        (world.git / "config").write_text("[core]\n\tpager = touch PWN\n")

    assert set(linked.attempt(attack)) == {
        "one/.git", "worktrees/one/commondir", "worktrees/two/config.worktree",
        "hooks/pre-commit", ".git/config",
    }  # fmt: skip
    assert world.told() == before


def test_a_work_tree_that_is_removed_meanwhile_is_no_error(world: World, tmp_path: Path) -> None:
    git(world.root, "commit", "-q", "--allow-empty", "-m", "x")
    git(world.root, "worktree", "add", "-q", str(tmp_path / "one"))
    assert world.attempt(lambda: git(world.root, "worktree", "remove", str(tmp_path / "one"))) == []
    made = lambda: git(world.root, "worktree", "add", "-q", str(tmp_path / "two"))  # noqa: E731
    assert world.attempt(made) == []
