"""Files that are too large to be read: a person's, and those that an attempt makes."""

from __future__ import annotations

from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told, seen


def test_an_attempt_that_leaves_one_fails_and_it_is_removed(bakery: Shop) -> None:
    before = seen(bakery)
    done = bakery.run_agent("echo C > c.py; truncate -s 20G giant", once=True)
    (end,) = require_told(bakery, done)
    assert done.outcomes == ["too_large"]
    assert "giant is larger than run.max_file_size" in end["fail"]["reason"]
    assert seen(bakery) == before


def test_one_of_the_persons_is_no_part_of_an_attempt(bakery: Shop) -> None:
    bakery.configure(run={"max_file_size": "1kB"})
    bakery.write("large", "x" * 2000)
    assert bakery.run_agent("test ! -e large && echo C > c.py", once=True).outcomes == ["ok"]
