"""Places for tests: of a small checkout, in a folder beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_settings import Base, PlaceSettings
from cub.place.walls import PlaceKind
from cub.processes.command import TimeLimits
from tests.conftest import environment, git
from tests.written_files import write_files

ASIDE = PlaceKind("aside", "none", "")
LIMITS = TimeLimits(60.0, None)


def commit_files(root: Path, files: Mapping[str, str], message: str = "x") -> str:
    """Write files, and commit all that is there; return the commit."""
    write_files(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD").strip()


def read_base(root: Path) -> Base:
    commit, tree = git(root, "rev-parse", "HEAD", "HEAD^{tree}").split()
    return Base(commit, tree, git(root, "symbolic-ref", "-q", "HEAD").strip(), commit)


def begin_place(root: Path, *private: str, laid: Mapping[str, bytes] | None = None) -> Place:
    """Begin at the last commit of the checkout, without walls."""
    git(root, "config", "user.name", "t")
    git(root, "config", "user.email", "t@t")
    settings = PlaceSettings(find_checkout(root), root, ASIDE, private=private)
    place = Place(PlaceFolder(root.parent / "places" / "1"), settings)
    place.open()
    place.set_base(read_base(root))
    place.begin(laid or {})
    return place


def surroundings(root: Path) -> dict[str, str]:
    """The environment of hooks and agents, which git must not be led elsewhere by."""
    return environment(root.parent) | {"GIT_INDEX_FILE": os.fspath(root / "wrong")}
