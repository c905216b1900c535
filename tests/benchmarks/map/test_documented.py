from __future__ import annotations

import pytest

from tests.benchmarks.map.documented import documented, in_examples, mentions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. autoclass:: pkg.Client(url)\n", ["Client"]),
        (".. py:function:: run\n", ["run"]),
        ("See :meth:`~pkg.Client.send` and :func:`run`.", ["Client", "send", "run"]),
        ("See :class:`the client <Client>`.", ["Client"]),
        ("Call `Client.send(data)`.", ["Client", "send"]),
        ("Call ``run()`` or `std::sort`.", ["run", "sort"]),
        ("A plain `run` may be anything, `run_all` is a name.", ["run_all"]),
        ("## `Client`\n\n### Client.close()\n", ["Client", "Client", "close"]),
        ("The word Client in prose, and # Client Setup", []),
        ("Edit `client.py`, say `--client` or `pip install client`.", []),
        ("```py\nClient()\n```\n", []),
        ("`if` and `a.b`", []),
    ],
)
def test_a_name_counts_where_it_stands_as_code(text: str, expected: list[str]) -> None:
    assert [name for name in mentions(text) if name not in ("pkg", "std")] == expected


def test_examples_have_names_and_calls() -> None:
    text = "Words\n```py\nserver = Client(make())\nprint_all\n```\nMore `Other`\n"
    assert list(in_examples(text)) == ["Client", "make", "print_all"]


def test_names_are_ranked_by_files_then_by_occurrences() -> None:
    texts = ["`AaA` `AaA` `AaA` `CcC`", "`BbB`", "`BbB` `CcC` `CcC`", "`DdD`"]
    assert documented(texts, {"AaA", "BbB", "CcC"}) == ["CcC", "BbB", "AaA"]
