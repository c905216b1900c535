from __future__ import annotations

import pytest

from cub.errors import CubError
from cub.project.config import parse
from cub.project.config_edit import with_targets

NEW = ["AGENTS.md", "CLAUDE.md", "p/AGENTS.md"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "targets:\n  - AGENTS.md\n  - CLAUDE.md\n  - p/AGENTS.md\n"),
        ("# ours", "# ours\ntargets:\n  - AGENTS.md\n  - CLAUDE.md\n  - p/AGENTS.md"),
        (
            "n:   null\r\n",
            "n:   null\r\ntargets:\r\n  - AGENTS.md\r\n  - CLAUDE.md\r\n  - p/AGENTS.md\r\n",
        ),
        (
            "targets:\n- ./AGENTS.md # keep me\n- CLAUDE.md\nother: 1\n",
            "targets:\n- ./AGENTS.md # keep me\n- CLAUDE.md\n- p/AGENTS.md\nother: 1\n",
        ),
        (
            "targets:\n    - AGENTS.md\n    # and\n    - 'CLAUDE.md'",
            "targets:\n    - AGENTS.md\n    # and\n    - 'CLAUDE.md'\n    - p/AGENTS.md",
        ),
        (
            "targets: [AGENTS.md,\n  # why\n  CLAUDE.md]\n",
            "targets: [AGENTS.md,\n  # why\n  CLAUDE.md, p/AGENTS.md]\n",
        ),
        (
            "  placement: top\n",
            "  placement: top\n  targets:\n    - AGENTS.md\n    - CLAUDE.md\n    - p/AGENTS.md\n",
        ),
        (
            "placement: top\n...\n",
            "placement: top\ntargets:\n  - AGENTS.md\n  - CLAUDE.md\n  - p/AGENTS.md\n...\n",
        ),
        ("targets: [ AGENTS.md, CLAUDE.md, ]\n", None),
        ("{targets: [AGENTS.md, CLAUDE.md]}\n", "{targets: [AGENTS.md, CLAUDE.md, p/AGENTS.md]}\n"),
    ],
)
def test_targets_are_added_and_nothing_else_changes(text: str, expected: str | None) -> None:
    done = with_targets(text.encode(), NEW).decode()
    assert expected is None or done == expected
    assert list(parse(done.encode(), version="0.1.0").targets) == NEW


def test_a_list_keeps_its_order() -> None:
    done = with_targets(b"targets: [CLAUDE.md, AGENTS.md]\n", NEW)
    assert done == b"targets: [CLAUDE.md, AGENTS.md, p/AGENTS.md]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("targets:\n- AGENTS.md\n- CLAUDE.md # c\n- p/AGENTS.md\n", "targets:\n- AGENTS.md\n"),
        ("targets: [AGENTS.md, CLAUDE.md, 'p/AGENTS.md'] # c\n", "targets: [AGENTS.md] # c\n"),
    ],
)
def test_targets_are_dropped(text: str, expected: str) -> None:
    assert with_targets(text.encode(), ["AGENTS.md"]).decode() == expected


ODD = ["@app", "[locale]", "{a}", "*x", "a: b", "p #x", "é", '"q"', "-x"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_quoted(name: str) -> None:
    targets = ["AGENTS.md", f"{name}/AGENTS.md"]
    for text in (b"", b"targets: [AGENTS.md]\n", b"targets:\n  - AGENTS.md\n"):
        assert list(parse(with_targets(text, targets), version="0.1.0").targets) == targets


@pytest.mark.parametrize(
    "text",
    [
        "x: &t [AGENTS.md, CLAUDE.md]\ntargets: *t\n",
    ],
)
def test_what_can_not_be_edited_exactly_is_left_to_the_person(text: str) -> None:
    with pytest.raises(CubError, match="can't set `targets`") as caught:
        with_targets(text.encode(), NEW)
    assert "p/AGENTS.md" in caught.value.hint
