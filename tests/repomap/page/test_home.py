"""The short form of a long path, where it saves more than it takes to explain."""

from __future__ import annotations

import pytest

from cub.repomap.page.home import Home, home_of

DEEP = "packages/bakery/src/node"


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        ([], ""),
        (["a/b.py"] * 50, ""),
        (["src/flask/a.py"] * 50, ""),
        ([f"{DEEP}/a.ts"], ""),
        ([f"{DEEP}/{n}.ts" for n in range(9)], DEEP),
        ([f"{DEEP}/{n}.ts" for n in range(9)] + ["x.py"] * 90, DEEP),
        ([f"{DEEP}/{n}/a.ts" for n in range(9)], DEEP),
        ([f"{DEEP}/deep/{n}.ts" for n in range(9)], f"{DEEP}/deep"),
        ([f"{DEEP}/"] * 9, DEEP),
    ],
)
def test_the_folder_that_saves_most_is_chosen(paths: list[str], folder: str) -> None:
    assert home_of(paths).folder == folder


def test_the_order_of_paths_does_not_matter() -> None:
    paths = [f"{side}/some/long/folder/{n}.py" for n in range(9) for side in ("left", "right")]
    assert home_of(paths) == home_of(paths[::-1])


def test_only_what_is_below_the_folder_is_short() -> None:
    home = Home("a/b/c")
    assert home.line == "~ is a/b/c"
    shown = [home.shown(path) for path in ("a/b/c/d.py", "a/b/c/", "a/b/cd/e.py", "a/b/c d/")]
    assert shown == ["~/d.py", "~/", "a/b/cd/e.py", "a/b/c d/"]
    assert Home().shown("a/b.py") == "a/b.py"
