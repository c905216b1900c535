"""Files that are too large to be read: a person's, and those that an attempt makes."""

from __future__ import annotations

import pytest

from cub.errors import CubError
from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told, seen


def test_an_attempt_that_leaves_one_fails_and_it_is_removed(bakery: Shop) -> None:
    bakery.task()
    bakery.client("cat > /dev/null; echo C > c.py; truncate -s 20G giant")
    before = seen(bakery)
    done = bakery.run(once=True)
    (end,) = require_told(bakery, done)
    assert done.outcomes == ["too_large"]
    assert "giant is larger than run.max_file_size" in end["fail"]["reason"]
    assert seen(bakery) == before


def test_a_run_is_refused_for_one_of_the_persons(bakery: Shop) -> None:
    bakery.task()
    bakery.client("cat > /dev/null; echo C > c.py")
    bakery.configure(run={"max_file_size": "1kB"})
    bakery.write("large", "x" * 2000)
    with pytest.raises(CubError, match="large") as refused:
        bakery.run(once=True)
    assert "have git ignore it" in refused.value.hint
    assert bakery.status() == "open"
    bakery.write(".git/info/exclude", "large\n")
    assert bakery.run(once=True).outcomes == ["ok"]
