"""Events to write: such as a run makes, and any at all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cub.store.events import ATTEMPT_END, Event
from tests.store.records import TEXTS, day

_SPECIAL = ["ev", "v", "ts", "run", "task", "checks", "git", "obs", "trailer", "fail", "note", "x"]
_LONG = st.builds(
    lambda letter, count: letter * count,
    st.sampled_from("a\0\U0001f600\ud800"),
    st.sampled_from([0, 7, 99, 2000, 9000]),
)
_LEAVES = TEXTS | _LONG | st.floats() | st.integers() | st.none() | st.just(10**4000)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["items", "tail", "files", "k"]) | _LONG, inner)
    ),
    max_leaves=5,
)
ANY_EVENT = st.dictionaries(
    st.sampled_from(_SPECIAL) | _LONG,
    _VALUES | TEXTS.map(lambda text: [text * 30] * 300),
    max_size=12,
)


def ended(task: str = "t-1", on: int = 1, **values: Any) -> Event:
    """The end of an attempt."""
    return {"ev": ATTEMPT_END, "ts": day(on), "task": task, **values}
