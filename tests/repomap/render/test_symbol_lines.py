"""Lines that grow: what each step costs is what it adds to the text.

The short form of a long path, where it saves more than it takes to explain.

The symbols of a map: hubs with their users, the other names by folder, all within the room.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.ranking.symbol_rank import Symbol
from cub.repomap.render.symbol_lines import (
    PathAbbreviation,
    SymbolBlock,
    SymbolSelection,
    choose_path_abbreviation,
    render_symbol_lines,
)
from cub.tokens import estimate_tokens
from tests.examples import few_examples
from tests.repomap.render.symbols import nobody, rankings, symbol, symbols

NAMES = ["heat", "cool_down", "Oven", "knead"]
ORDER = ["detail", "name", "member"]
PLACES = ["a.py", "b/", "src/kiln/oven.py"]
_name = st.sampled_from(NAMES)
steps = st.lists(
    st.tuples(
        st.sampled_from(ORDER),
        st.sampled_from(PLACES),
        _name,
        st.just("") | _name,
    ),
    max_size=30,
)


def size(filling: SymbolSelection) -> int:
    return sum(
        estimate_tokens(line) for block in filling.blocks.values() for line in block.render_lines()
    )


def take(filling: SymbolSelection, step: tuple[str, str, str, str]) -> None:
    what, place, name, owner = step
    block = filling.blocks.get(place) or SymbolBlock(place)
    if what == "detail":
        filling.add_signature(place, block, name, f"def {name}(a, b)", 0)
    elif what == "name":
        filling.add_name(place, block, name, owner)
    elif place in filling.blocks:
        filling.add_member_signature(block, owner, name, f"def {name}(self)")


@few_examples
@given(steps, st.integers(0, 120))
def test_no_step_costs_less_than_it_adds(taken: list[tuple[str, str, str, str]], room: int) -> None:
    """Signatures come first, then names, then those of members."""
    filling = SymbolSelection(room)
    for step in sorted(taken, key=lambda step: ORDER.index(step[0])):
        take(filling, step)
        assert size(filling) <= room - filling.tokens_left
        assert filling.tokens_left >= 0


def test_a_signature_is_only_added_if_enough_is_left() -> None:
    filling, block = SymbolSelection(10), SymbolBlock("a.py")
    assert not filling.add_signature("a.py", block, "heat", "def heat()", 5)
    assert not filling.blocks
    assert filling.add_signature("a.py", block, "heat", "def heat()", 2)
    assert list(filling.blocks["a.py"].render_lines()) == ["a.py", "  def heat()"]


def test_a_name_that_does_not_fit_changes_nothing() -> None:
    filling = SymbolSelection(6)
    assert filling.add_name("a/", SymbolBlock("a/"), "heat", "")
    before = list(filling.blocks["a/"].render_lines())
    assert not filling.add_name("a/", filling.blocks["a/"], "preheating_temperature", "")
    assert list(filling.blocks["a/"].render_lines()) == before == ["a/: heat"]


def test_a_signature_takes_the_place_of_a_members_name_where_its_owner_has_one() -> None:
    filling, block = SymbolSelection(100), SymbolBlock("a.py")
    filling.add_signature("a.py", block, "Oven", "class Oven", 0)
    filling.add_name("a.py", block, "heat", "Oven")
    filling.add_name("a.py", block, "cool", "Oven")
    filling.add_member_signature(block, "Oven", "cool", "def cool(self)")
    filling.add_member_signature(block, "Other", "heat", "def heat(self)")
    assert list(block.render_lines()) == ["a.py", "  class Oven: heat", "    def cool(self)"]


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
    assert choose_path_abbreviation(paths).folder == folder


def test_the_order_of_paths_does_not_matter() -> None:
    paths = [f"{side}/some/long/folder/{n}.py" for n in range(9) for side in ("left", "right")]
    assert choose_path_abbreviation(paths) == choose_path_abbreviation(paths[::-1])


def test_only_what_is_below_the_folder_is_short() -> None:
    home = PathAbbreviation("a/b/c")
    assert home.legend == "~ is a/b/c"
    shown = [home.abbreviate(path) for path in ("a/b/c/d.py", "a/b/c/", "a/b/cd/e.py", "a/b/c d/")]
    assert shown == ["~/d.py", "~/", "a/b/cd/e.py", "a/b/c d/"]
    assert PathAbbreviation().abbreviate("a/b.py") == "a/b.py"


PLENTY = 10_000


def lines(found: list[Symbol], budget: int, rest: list[Symbol] | None = None) -> list[str]:
    return render_symbol_lines(found, lambda: rest or [], nobody, budget)


def test_where_there_is_room_each_file_has_its_signatures_and_members_below_their_owner() -> None:
    found = symbols("a.py Oven", "b/c.py heat", "a.py Oven.open", "a.py cool", "a.py Oven.shut")
    assert lines(found, PLENTY) == [
        "a.py",
        "  def Oven()",
        "    def open()",
        "    def shut()",
        "  def cool()",
        "b/c.py",
        "  def heat()",
    ]


def test_with_less_room_the_best_are_hubs_and_the_others_names_of_their_folder() -> None:
    found = symbols("a/hot.py heat", "b/x.py one", "b/y.py two", "c/z.py three", "b/y.py Two.four")
    assert lines(found, 24) == [
        "a/hot.py", "  def heat()", "b/: one two Two(four)", "c/: three",
    ]  # fmt: skip


def test_what_a_hub_has_besides_is_named_with_it() -> None:
    found = symbols("a.py heat", *(f"a.py also{n}" for n in range(9)), "b.py other")
    assert lines(found, 29)[:3] == [
        "a.py", "  def heat()", "  also: also0 also1 also2 also3 also4 also5 also6 also7 also8",
    ]  # fmt: skip


def test_members_stand_behind_an_owner_that_is_named_only_for_them() -> None:
    assert lines(symbols("a.py Oven.heat", "a.py Oven.cool"), 12) == ["./: Oven(heat cool)"]


def test_a_name_is_told_once_for_each_place() -> None:
    found = symbols("a.py heat", "a.py heat", "b.py heat", "a.py Oven.heat", "a.py Oven.heat")
    text = "\n".join(lines(found, PLENTY))
    assert text.count("heat") == 3


def test_what_others_cannot_use_comes_only_where_all_else_has_its_place() -> None:
    found, rest = symbols("a.py heat", "b.py cool"), symbols("a.py inner", "c.py alone")
    assert "alone" not in "\n".join(lines(found, 6, rest))
    text = "\n".join(lines(found, PLENTY, rest))
    assert "also: inner" in text
    assert "./: alone" in text


def test_a_hub_tells_its_three_main_users_as_short_as_a_neighbour_understands() -> None:
    found = symbols("src/kiln/a.py heat")
    users = ["src/kiln/b.py", "src/kiln/deep/c.py", "src/shop/d.py", "e.py"]
    (head, *_) = render_symbol_lines(found, list, lambda _: users, PLENTY)
    assert head == "src/kiln/a.py <- b.py deep/c.py shop/d.py +1"
    users = ["e.py", "apps/web/src/main.ts", "src/x.ts"]
    (head, *_) = render_symbol_lines(found, list, lambda _: users, PLENTY)
    assert head == "src/kiln/a.py <- e.py web/src/main.ts src/x.ts"


def test_odd_paths_and_names_keep_to_their_line() -> None:
    found = [symbol("a\nb/c d.py", "x\ny", "def x\ny()"), symbol("e f.py", "zed")]
    text = render_symbol_lines(
        found, list, lambda path: ["a\nb/c d.py"] if path[0] == "e" else [], PLENTY
    )
    assert text == [
        r'"a\nb/c d.py"', "  def x y()", r'e f.py <- "a\nb/c d.py"', "  def zed()",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [5, 60])
def test_a_long_path_that_comes_often_has_a_short_form(count: int) -> None:
    folder = "packages/bakery/src/main/java/org/example/bread"
    rows = [f"{folder}/part{n}/File{n}.java class{n}" for n in range(count)]
    first, second, *_ = lines(symbols(*rows), PLENTY)
    assert first == f"~ is {folder}"
    assert second.startswith("~/part0/File0.java")


@few_examples
@given(rankings, rankings, st.integers(0, 400))
def test_the_room_is_never_exceeded(found: list[Symbol], rest: list[Symbol], budget: int) -> None:
    text = render_symbol_lines(found, lambda: rest, lambda path: [path, "x/y.py"], budget)
    assert sum(map(estimate_tokens, text)) <= budget


@few_examples
@given(rankings)
def test_with_room_for_all_every_name_is_told(found: list[Symbol]) -> None:
    named = [symbol(s.path, s.definition.name, "", s.definition.member_of) for s in found]
    text = "\n".join(lines(named, PLENTY))
    names = {symbol.definition.name[:40] for symbol in named}
    assert [name for name in sorted(names) if name not in text] == []
