from __future__ import annotations

import pytest

from tests.benchmarks.map.measures import Answers, answers, mean, recall, score

NAMES = [f"name{number}" for number in range(40)]


def test_recall_is_the_share_of_the_first_names() -> None:
    assert recall({"name0", "name1", "name2", "name39"}, NAMES, 30) == pytest.approx(3 / 30)
    assert recall({"name0", "name1", "name2", "name39"}, NAMES, 100) == pytest.approx(4 / 40)


def test_too_few_names_say_nothing() -> None:
    assert recall({"name0"}, NAMES[:9], 30) is None


def test_only_whole_identifiers_are_named() -> None:
    right = Answers(NAMES[:10], NAMES[:10], NAMES[:10], [["name1", "other"], ["name2"]])
    found = score("def name1(name22): my_name3 name4s", right)
    assert (found.top, found.hit) == ((0.1, 0.1), 0.5)


def test_without_a_history_there_is_no_hit() -> None:
    assert score("", Answers([], [], [])).hit is None


def test_the_mean_leaves_out_what_is_not_there() -> None:
    assert mean([0.5, None, 1.0]) == 0.75
    assert mean([None]) is None


def test_a_tiny_repository_is_asked_for_what_it_documents_and_defines() -> None:
    texts = {
        "src/shop.py": "class Shop:\n    def open_door(self): ...\n\ndef make_shop(): ...\n",
        "tests/test_shop.py": "class TestHelper: ...\n",
        "docs/api.md": "`Shop`, `Shop.open_door()`, `TestHelper`, `Missing`\n",
        "README.md": "`Shop`\n\n```py\nmake_shop()\n```\n",
    }
    right = answers(texts)
    assert right.top == ["Shop"]
    assert right.every == ["Shop", "open_door"]
    assert right.examples == ["Shop", "make_shop"]
