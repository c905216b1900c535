from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.outline.folder_tree import build_folder_tree
from cub.tokens import estimate_tokens
from tests.examples import few_examples

_ALL = 10_000


def _tree(paths: list[str], described: dict[str, str] | None = None, budget: int = _ALL) -> str:
    return "\n".join(build_folder_tree(paths, described or {}).render_lines(budget))


def _files(folder: str, count: int, ending: str = "py") -> list[str]:
    return [f"{folder}/file{n:04}.{ending}" for n in range(count)]


@pytest.mark.parametrize(
    ("paths", "described", "lines"),
    [
        ([], {}, []),
        (["app.py", "README.md"], {}, []),
        (["src/app.py"], {}, ["src/", "  app.py"]),
        (
            ["src/flask/app.py", "src/flask/json/tag.py", *_files("tests", 41)],
            {"src/flask": "the micro web framework", "src/flask/json": "JSON handling"},
            [
                "src/flask/  the micro web framework",
                "  app.py",
                "  json/  JSON handling",
                "    tag.py",
                "tests/  40+ files",
            ],
        ),
        (
            ["a/x.py", "docs/x.md", "examples/x.py", "tests/test_x.py", "zoo/x.py"],
            {},
            ["a/", "  x.py", "zoo/", "  x.py", "docs/", "examples/", "tests/"],
        ),
        (
            ["src/main/java/com/acme/app/App.java", "src/main/java/com/acme/app/Other.java"],
            {},
            ["src/main/java/com/acme/app/", "  App.java Other.java"],
        ),
        (
            ["lib/Cargo.toml", "lib/README.md", "lib/src/lib.rs", "lib/src/odd.rs"],
            {"lib": "what it does"},
            ["lib/src/  what it does", "  lib.rs odd.rs"],
        ),
        (
            ["p/__init__.py", "p/a.py", "p/b.py", "p/c.py", "p/run.sh", "p/two words.sh"],
            {},
            ["p/", "  *.py: a b c", '  run.sh "two words.sh"'],
        ),
        (["p/a.py", "p/a.pyi", "p/only.pyi"], {}, ["p/", "  a.py only.pyi"]),
        ([".github/workflows/ci.yml", ".config/x/y.py"], {}, []),
        (_files("data", 12_345), {}, ["data/  10000+ files"]),
        (_files("big", 250), {"big": "all of it"}, ["big/  all of it (200+ files)"]),
        (["a\nb/x.py", "# c/x.py"], {}, ["# c/", "  x.py", r'"a\nb/"', "  x.py"]),
        (["src/a.py", "src/assets/logo.svg"], {}, ["src/", "  a.py"]),
    ],
)
def test_the_whole_tree(paths: list[str], described: dict[str, str], lines: list[str]) -> None:
    assert build_folder_tree(paths, described).render_lines(_ALL) == lines


def test_what_is_left_out_of_a_level_is_told() -> None:
    paths = [f"packages/p{n:03}/{name}.js" for n in range(300) for name in ("a", "b")]
    lines = build_folder_tree(paths, {}).render_lines(40)
    assert lines[0] == "packages/"
    assert lines[-1] == "  ... 200+ more"


def test_the_largest_folders_come_first() -> None:
    paths = [*_files("a", 1), *_files("b", 300), *_files("c", 2)]
    assert _tree(paths, budget=8) == "b/  300+ files\n..."


def test_a_described_folder_comes_before_its_like() -> None:
    paths = [f"{name}/{n}.py" for name in "abc" for n in range(3)]
    assert _tree(paths, {"c": "words"}, 6) == "c/  words\n..."


def test_a_level_costs_nothing_where_most_of_the_source_is() -> None:
    paths = [
        *_files("a/b/deep", 50),
        "a/x.txt",
        "a/b/y.txt",
        *(f"tests/unit/test_{n}.py" for n in range(30)),
    ]
    assert _tree(paths, budget=14) == "a/\n  b/\n    deep/  50+ files\n..."


def test_a_path_of_a_thousand_folders_is_no_trouble() -> None:
    deep = "/".join(f"d{n}" for n in range(1000)) + "/x.py"
    assert _tree([deep, "d0/y.py"], budget=9).startswith("d0/\n  y.py")


_NAMES = st.text(alphabet="abz_.- \n`#é\udcff", min_size=1, max_size=4) | st.sampled_from(
    ["src", "tests", "docs", "main", "lib.rs", "app.py", "x.test.ts", "package.json"]
)
_PATHS = st.lists(st.lists(_NAMES, min_size=1, max_size=6).map("/".join), unique=True, max_size=40)
_DESCRIBED = st.dictionaries(_NAMES, st.text(max_size=30), max_size=4)


@few_examples
@given(_PATHS, _DESCRIBED, st.integers(-5, 200))
def test_no_tree_is_over_its_budget(paths: list[str], said: dict[str, str], budget: int) -> None:
    tree = build_folder_tree(paths, said)
    text = "\n".join(tree.render_lines(budget))
    assert estimate_tokens(text) <= max(0, budget)
    assert text.replace("\n", "").isprintable()
    assert estimate_tokens("\n".join(tree.render_lines(tree.costs[-1]))) == tree.costs[-1]


@few_examples
@given(_PATHS, _DESCRIBED, st.randoms(use_true_random=False))
def test_the_order_of_the_paths_does_not_count(
    paths: list[str], said: dict[str, str], chance: random.Random
) -> None:
    shuffled = list(paths)
    chance.shuffle(shuffled)
    for budget in (10, 40, _ALL):
        assert build_folder_tree(paths, said).render_lines(budget) == build_folder_tree(
            shuffled, said
        ).render_lines(budget)


@few_examples
@given(_PATHS, st.integers(0, 60), st.integers(1, 30))
def test_more_budget_takes_no_folder_away(paths: list[str], budget: int, more: int) -> None:
    tree = build_folder_tree(paths, {})
    less_shown = _folders(tree.render_lines(budget))
    assert less_shown <= _folders(tree.render_lines(budget + more))


_PLAIN = st.lists(
    st.lists(st.sampled_from("abcde"), min_size=2, max_size=5).map("/".join), max_size=30
).map(lambda paths: [f"{path}.py" for path in paths])


@few_examples
@given(_PLAIN, st.integers(0, 100))
def test_every_folder_in_the_tree_is_there(paths: list[str], budget: int) -> None:
    there = {path.rpartition("/")[0] for path in paths}
    there |= {"/".join(path.split("/")[:n]) for path in there for n in range(1, 5)}
    assert _folders(build_folder_tree(paths, {}).render_lines(budget)) <= there


def _folders(lines: list[str]) -> set[str]:
    """The paths of the folders in a tree, put together from the levels."""
    above: list[str] = []
    found = set()
    for line in lines:
        level = (len(line) - len(line.lstrip(" "))) // 2
        name = re.match(r'"(?:[^"\\]|\\.)*"|[^/].*?(?=  |$)', line.strip(" "))
        if name and name[0].strip('"').endswith("/"):
            above = [*above[:level], name[0].strip('"').rstrip("/")]
            found.add("/".join(above))
    return found


@few_examples
@given(st.lists(st.text(alphabet="aA1. _-é:/", max_size=20)))
def test_lines_cost_together_what_they_cost_alone(lines: list[str]) -> None:
    assert estimate_tokens("\n".join(lines)) == sum(map(estimate_tokens, lines))
