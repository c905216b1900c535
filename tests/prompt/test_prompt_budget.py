"""Fitting a prompt: what goes first, what never goes, and how little has to be rendered."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cub.context.output_blocks import BlockList, OutputBlock
from cub.prompt.task_prompt import CuttableParts, fit_parts
from cub.tokens import estimate_tokens
from tests.examples import few_examples, hardly_any_examples

ORDER = ("remaining", "done", "epic", "earlier", "tail", "observations", "avoid")
WORDS = st.lists(st.sampled_from(["bread", "bread and butter", "a: b, c"]), max_size=8).map(tuple)
PARTS = st.builds(
    CuttableParts,
    epic=st.none() | st.sampled_from([{"text": ""}, {"text": "flour and water"}]),
    done=WORDS,
    remaining=WORDS,
    observations=WORDS,
    avoid=WORDS,
    tail=st.sampled_from(["", "cold cold cold"]),
    earlier=WORDS,
    blocks=st.just(BlockList()),  # `shown` has none
)


def shown(parts: CuttableParts) -> str:
    """The parts, and nothing else."""
    epic = parts.epic["text"] if parts.epic else ""
    lists = (parts.done, parts.remaining, parts.observations, parts.avoid, parts.earlier)
    return "\n".join([epic, parts.tail, *(one for texts in lists for one in texts)])


def left(parts: CuttableParts) -> tuple[int, ...]:
    """How much there is of each part, in the order in which they are given up."""
    epic = parts.epic["text"] if parts.epic else ""
    return tuple(len(epic if name == "epic" else getattr(parts, name)) for name in ORDER)


@few_examples
@given(PARTS, st.integers(0, 150))
def test_the_result_is_within_the_budget_or_the_shortest(full: CuttableParts, tokens: int) -> None:
    text, kept = fit_parts(full, shown, tokens)
    assert text == shown(kept)
    assert estimate_tokens(text) <= tokens or not any(left(kept))


def test_as_much_is_left_as_fits() -> None:
    full = CuttableParts(None, tuple(f"loaf {n}" for n in range(9)), (), (), (), "", ())
    for count in range(1, 9):
        kept = full._replace(done=full.done[:count])
        cost = estimate_tokens(shown(kept))
        assert fit_parts(full, shown, cost) == (shown(kept), kept)
        assert fit_parts(full, shown, cost - 1)[1] == full._replace(done=full.done[: count - 1])


@few_examples
@given(PARTS, st.integers(0, 150))
def test_nothing_goes_while_something_cheaper_is_there(full: CuttableParts, tokens: int) -> None:
    _, kept = fit_parts(full, shown, tokens)
    pairs = zip(ORDER, left(kept), left(full), strict=True)
    gone = [(name, now, before) for name, now, before in pairs if before]
    for (first, now, _), (then, later, before) in pairwise(gone):
        assert now == 0 or later == before, (first, then)


@hardly_any_examples
@given(PARTS)
def test_a_larger_budget_never_leaves_less(full: CuttableParts) -> None:
    kept = [fit_parts(full, shown, tokens)[1] for tokens in range(130)]
    for smaller, larger in pairwise(map(left, kept)):
        assert all(a <= b for a, b in zip(smaller, larger, strict=True))
    assert fit_parts(full, shown, 10_000)[1] == full


@few_examples
@given(PARTS, st.integers(0, 150))
def test_one_more_of_what_was_cut_last_would_not_fit(full: CuttableParts, tokens: int) -> None:
    _, kept = fit_parts(full, shown, tokens)
    cut = [name for name in ORDER if getattr(kept, name) != getattr(full, name)]
    if not cut:
        return
    last = cut[-1]
    whole = getattr(full, last)
    one_more = whole if last in ("epic", "tail") else whole[: len(getattr(kept, last)) + 1]
    assert estimate_tokens(shown(kept._replace(**{last: one_more}))) > tokens


def test_a_prompt_that_fits_is_rendered_once() -> None:
    many = tuple(f"loaf {n}" for n in range(500))
    full = CuttableParts(None, many, many, many, many, "", ())
    calls = list[CuttableParts]()

    def counted(parts: CuttableParts) -> str:
        calls.append(parts)
        return shown(parts)

    fit_parts(full, counted, 100_000)
    assert len(calls) == 1


def test_what_is_lost_is_said() -> None:
    full = CuttableParts({"text": "flour"}, ("a", "b"), ("c",), ("d",), ("e",), "cold", ("f",))
    kept = CuttableParts({"text": ""}, ("a",), (), (), (), "", ())
    why = "the budget of 1,000 tokens"
    assert [*kept.describe_cuts(full, 1000)] == [
        f"1 of 1 remaining tasks are left out: {why}",
        f"1 of 2 completed tasks are left out: {why}",
        f"the epic's text is left out: {why}",
        f"1 of 1 earlier attempts are left out: {why}",
        f"the end of the checks' output is left out: {why}",
        f"1 of 1 observations are left out: {why}",
        f"1 of 1 lines of what to avoid are left out: {why}",
    ]
    assert [*full.describe_cuts(full, 1000)] == []


BLOCKS = BlockList(
    (OutputBlock("Long", "", "crumb " * 2_000), OutputBlock("Short", "", "butter " * 10))
)


def fit_blocks(tokens: int) -> CuttableParts:
    """What a budget leaves of an epic, of what to avoid, and of two outputs."""
    full = CuttableParts({"text": "flour " * 100}, (), (), (), ("salt",) * 40, "", (), BLOCKS)
    text, kept = fit_parts(full, lambda parts: shown(parts) + parts.blocks.format(), tokens)
    assert estimate_tokens(text) <= tokens
    return kept


def test_long_output_is_cut_to_half_of_the_budget_before_anything_else() -> None:
    kept = fit_blocks(1_000)
    assert kept._replace(blocks=BLOCKS) == fit_blocks(10_000)
    assert 350 < kept.blocks.tokens <= 1_000
    assert "characters left out" in kept.blocks.format()
    assert "butter " * 10 in kept.blocks.format()


def test_output_goes_after_the_epic_and_before_what_to_avoid() -> None:
    kept = fit_blocks(150)
    assert (kept.epic, len(kept.avoid)) == ({"text": ""}, 40)
    assert 0 < kept.blocks.tokens < 80
    assert fit_blocks(50).blocks.blocks == ()
