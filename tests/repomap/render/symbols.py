"""Rankings made by hand, and by chance."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from cub.repomap.ranking.symbol_rank import ScoreFactors, Symbol
from cub.repomap.symbols.file_facts import Definition

_FACTORS = ScoreFactors(0.0, 0.0, 0.0, 0.0)


def symbol(path: str, name: str, signature: str = "", owner: str = "") -> Symbol:
    definition = Definition(name, "function", 1, signature or f"def {name}()", owner)
    return Symbol(path, definition, 0.0, _FACTORS, -1)


def symbols(*rows: str) -> list[Symbol]:
    """Each row is a path and a name, `owner.name` for a member; the best one first."""
    found = []
    for row in rows:
        path, name = row.split()
        owner, _, inner = name.rpartition(".")
        found.append(symbol(path, inner, owner=owner))
    return found


def nobody(_path: str) -> Sequence[str]:
    return ()


_names = st.sampled_from(
    ["heat", "cool_down", "Oven", "HTTPServer", "a", "`", "# x", "日本", "x" * 90]
)
_paths = st.sampled_from(
    ["a.py", "b.py", "src/kiln/a.py", "src/kiln/deep/er/b.py", "src/kiln/deep/er/c d.py", "@x/`.py"]
)
_signatures = st.sampled_from(
    ["def f()", "class Oven(Base)", "x" * 200, "```", "", "f(a: int) -> str"]
)
rankings = st.lists(
    st.builds(symbol, _paths, _names, _signatures, st.just("") | _names), max_size=40
)
