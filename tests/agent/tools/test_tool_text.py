from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.tool_text import split_kept_text

LINES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 20_000)), max_size=5)


@given(LINES)
def test_a_kept_text_is_divided_at_line_endings_into_small_blocks(
    lines: list[tuple[str, int]],
) -> None:
    text = "\n".join(letter * count for letter, count in lines)
    blocks = split_kept_text(text)
    assert all(len(block) <= 8_000 for block in blocks)
    assert "".join(blocks).replace("\n", "") == text.replace("\n", "")
    if all(count < 8_000 for _, count in lines):
        assert "\n".join(blocks) == text
