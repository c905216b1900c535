"""Lines that grow: what each step costs is what it adds to the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.page.filling import Block, Filling
from cub.tokens import estimate_tokens
from tests.examples import few_examples

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


def size(filling: Filling) -> int:
    return sum(estimate_tokens(line) for block in filling.blocks.values() for line in block.lines())


def take(filling: Filling, step: tuple[str, str, str, str]) -> None:
    what, place, name, owner = step
    block = filling.blocks.get(place) or Block(place)
    if what == "detail":
        filling.detail(place, block, name, f"def {name}(a, b)", 0)
    elif what == "name":
        filling.name(place, block, name, owner)
    elif place in filling.blocks:
        filling.member(block, owner, name, f"def {name}(self)")


@few_examples
@given(steps, st.integers(0, 120))
def test_no_step_costs_less_than_it_adds(taken: list[tuple[str, str, str, str]], room: int) -> None:
    """Signatures come first, then names, then those of members."""
    filling = Filling(room)
    for step in sorted(taken, key=lambda step: ORDER.index(step[0])):
        take(filling, step)
        assert size(filling) <= room - filling.left
        assert filling.left >= 0


def test_a_signature_is_only_added_if_enough_is_left() -> None:
    filling, block = Filling(10), Block("a.py")
    assert not filling.detail("a.py", block, "heat", "def heat()", 5)
    assert not filling.blocks
    assert filling.detail("a.py", block, "heat", "def heat()", 2)
    assert list(filling.blocks["a.py"].lines()) == ["a.py", "  def heat()"]


def test_a_name_that_does_not_fit_changes_nothing() -> None:
    filling = Filling(6)
    assert filling.name("a/", Block("a/"), "heat", "")
    before = list(filling.blocks["a/"].lines())
    assert not filling.name("a/", filling.blocks["a/"], "preheating_temperature", "")
    assert list(filling.blocks["a/"].lines()) == before == ["a/: heat"]


def test_a_signature_takes_the_place_of_a_members_name_where_its_owner_has_one() -> None:
    filling, block = Filling(100), Block("a.py")
    filling.detail("a.py", block, "Oven", "class Oven", 0)
    filling.name("a.py", block, "heat", "Oven")
    filling.name("a.py", block, "cool", "Oven")
    filling.member(block, "Oven", "cool", "def cool(self)")
    filling.member(block, "Other", "heat", "def heat(self)")
    assert list(block.lines()) == ["a.py", "  class Oven: heat", "    def cool(self)"]
