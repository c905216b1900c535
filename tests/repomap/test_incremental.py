"""A map that is made from what an earlier run knows is the one that is made from nothing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.build import MapText, Workshop, map_text
from cub.repomap.settings import MapSettings
from tests.repomap.archives import write

_PIECES = [
    "def bake(bread): ...\n", "def knead(dough, minutes=5): ...\n", "def _hidden(): ...\n",
    "class Oven:\n    def heat(self): ...\n", "import oven\n", "from oven import Oven\n",
    "Oven().heat()\n", "bake(1)\n", "oven.bake(2)\n", "LIMIT = 3\n", "x = LIMIT\n", "\0",
    "# a comment\n", "\n", "# @generated\n", '"""What an oven does."""\n',
    "def heat(self): ...\n", "def bake(bread, salt): ...\n",
]  # fmt: skip
_FILES = ["oven.py", "bread.py", "lib/till.py", "lib/__init__.py", "tests/test_oven.py"]
_OTHERS = {
    "README.md": [
        "# Oven\n\nIt bakes bread for the whole town.\n",
        "# Oven\n\nOther words on it.\n",
    ],
    "pyproject.toml": ["[project]\nname = 'a'\n", "[tool.ruff]\n", "[tool.ruff]\n[tool.mypy]\n"],
    "notes.txt": ["a", "b\n"],
    "static/app.js": ["function click() {}\n", "export function click() {}\n"],
}
_sources = st.tuples(
    st.sampled_from(_FILES), st.lists(st.sampled_from(_PIECES), max_size=5).map("".join)
)
_others = st.sampled_from(sorted(_OTHERS)).flatmap(
    lambda path: st.tuples(st.just(path), st.sampled_from(_OTHERS[path]))
)
_edits = st.lists(
    st.one_of(_sources, _sources, _others, st.tuples(st.sampled_from(_FILES), st.none()))
)


def made(root: Path, cache: Path) -> MapText:
    return map_text(Workshop(root, cache), MapSettings(900), 40)


@given(st.lists(_sources, min_size=3), _edits)
def test_no_edit_leaves_a_map_behind(
    first: list[tuple[str, str]], edits: list[tuple[str, str | None]]
) -> None:
    with TemporaryDirectory() as folder:
        root, warm = Path(folder, "project"), Path(folder, "warm")
        root.mkdir()
        for path, text in first:
            write(root / path, text.encode())
        made(root, warm)
        for number, (path, text_or_none) in enumerate(edits):
            if text_or_none is None:
                (root / path).unlink(missing_ok=True)
            else:
                write(root / path, text_or_none.encode(), 1_000_000_001 + number)
            assert made(root, warm) == made(root, Path(folder, f"cold{number}"))
