from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.config_edit.config_text import parse_config_text
from cub.errors import CubError
from cub.project.config import CONFIG_FILE, ProjectConfig, parse_config
from cub.source_text import MAX_CONFIG_BYTES
from tests.examples import few_examples
from tests.project.hostile import BOMB, HARMLESS, HOSTILE

PIECES = [
    *("a", "run", "model", "targets", "x: 1\n", "run:\n  model: 'x'  # c\n", "[AGENTS.md]\n"),
    *(
        ": ",
        ":\n",
        "\n",
        "\r\n",
        "\r",
        "\n  ",
        "\n- ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "#c",
        " # c\n",
    ),
    *("'", '"', "|", "|+2\n", ">-\n", "&x ", "*x", "<<: ", "? ", "! ", "!!int ", "\\x", "\\U"),
    *("%YAML 1.2\n", "---", "\n---\n", "...\n", "~", "null", "true", "1", "0x_", "1e5", ".nan"),
    *("2001-99-99", "\t", "@", "\ufeff", "\u2028", "\x85", "é", "\0", "<<<<<<< h\n", "=======\n"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=30)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_shape_is_one_clear_line(name: str) -> None:
    data, said = HOSTILE[name]
    with pytest.raises(CubError) as caught:
        parse_config(data, version="0.1.0")
    assert f"{caught.value}".startswith(f"{CONFIG_FILE}{said}")
    assert "\n" not in f"{caught.value}{caught.value.hint}"
    assert len(f"{caught.value}") < 160
    assert caught.value.details == ()


@pytest.mark.parametrize(
    "name",
    [
        # Tracing every allocation, these take a second or two each.
        pytest.param(name, marks=pytest.mark.thorough)
        if name in ("many values", "open brackets")
        else name
        for name in HOSTILE
    ],
)
def test_no_hostile_shape_costs_memory(name: str) -> None:
    tracemalloc.start()
    with pytest.raises(CubError):
        parse_config(HOSTILE[name][0], version="0.1.0")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24_000_000


@pytest.mark.parametrize("name", HARMLESS)
def test_odd_but_harmless_files_are_read(name: str) -> None:
    found = parse_config(HARMLESS[name], version="0.1.0")
    assert found == ProjectConfig(schema=found.schema)


def test_the_limit_is_told_and_is_the_last_size_that_is_read() -> None:
    data = b"#" * MAX_CONFIG_BYTES
    assert parse_config(data, version="0.1.0") == ProjectConfig()
    with pytest.raises(CubError, match="at most 65,536"):
        parse_config(data + b"#", version="0.1.0")


def test_the_tree_for_edits_is_guarded_in_the_same_way() -> None:
    with pytest.raises(CubError, match="more than 10,000 values"):
        parse_config_text(BOMB, "x.yaml")


@given(st.binary(max_size=60))
@example(BOMB[:60])
@example(b"\xff\xfe")
def test_bytes_are_read_or_refused(data: bytes) -> None:
    _read_both_ways(data)


@few_examples
@given(TEXTS)
@example("a: &x 1\nb: &x 2\n")
@example("- [1, {? a : b}]")
def test_what_looks_like_yaml_is_read_or_refused(text: str) -> None:
    _read_both_ways(text.encode())


def _read_both_ways(data: bytes) -> None:
    for read in (
        lambda: parse_config(data, version="0.1.0"),
        lambda: parse_config_text(data, CONFIG_FILE),
    ):
        error = _error(read)
        assert error is None or error.where.startswith(f"{CONFIG_FILE}:")
        assert error is None or "\n" not in error.message


def _error(read: Callable[[], object]) -> CubError | None:
    try:
        read()
    except CubError as error:
        return error
    return None
