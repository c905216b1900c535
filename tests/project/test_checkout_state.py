from __future__ import annotations

import json

import pytest

from cub.errors import CubError
from cub.project.checkout_state import CheckoutState


def test_what_is_remembered_comes_back() -> None:
    state = CheckoutState(3, ("pkg/AGENTS.md",), ("AGENTS.md", "CLAUDE.md"), {".cub/runloop.md": 2})
    assert CheckoutState.parse(state.to_bytes(), templates=3) == state


@pytest.mark.parametrize("path", ["a\0/AGENTS.md", "../AGENTS.md", "/AGENTS.md", "a/notes.md"])
def test_a_section_where_no_target_can_be_is_forgotten(path: str) -> None:
    state = CheckoutState(1, (path, "pkg/AGENTS.md"))
    assert CheckoutState.parse(state.to_bytes(), templates=1).nested_sections == ("pkg/AGENTS.md",)


def test_the_file_does_not_depend_on_the_order_of_things() -> None:
    one = CheckoutState(1, ("b", "a"), ("d", "c"), {"y": 1, "x": 1})
    other = CheckoutState(1, ("a", "b"), ("c", "d"), {"x": 1, "y": 1})
    assert one.to_bytes() == other.to_bytes()
    assert one.to_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"null",
        b'{"templates": "x"}',
        b'{"templates": null}',
        b'{"offered": []}',
        b'{"empty": 3}',
        b'{"v": {}}',
        b'{"templates": 1e999}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_tells_nothing_counts_as_none(data: bytes | None) -> None:
    assert CheckoutState.parse(data, templates=1) == CheckoutState()


@pytest.mark.parametrize("tree", [{"v": 2}, {"templates": 2}, {"v": 1, "templates": 99}])
def test_the_state_of_a_newer_cub_is_refused(tree: dict[str, int]) -> None:
    with pytest.raises(CubError, match="newer cub") as error:
        CheckoutState.parse(json.dumps(tree).encode(), templates=1)
    assert error.value.where == ".cub/state.json"
    assert "upgrade" in error.value.hint


def test_an_offer_is_remembered_beside_the_others() -> None:
    state = CheckoutState(1, offered_versions={"a": 1}).with_offer("b", 2)
    assert state.offered_versions == {"a": 1, "b": 2}
