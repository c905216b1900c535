"""Which files use which."""

from __future__ import annotations

from cub.repomap.page.users import users_of
from tests.repomap.ranking.test_graph import graph


def test_the_main_user_comes_first_and_tests_are_none() -> None:
    files = {
        "oven.py": "class Oven: ...\ndef heat_up(): ...\n",
        "b/one.py": "from oven import heat_up\n",
        "a/both.py": "from oven import Oven, heat_up\n",
        "a/one.py": "from oven import Oven\n",
        "tests/test_oven.py": "from oven import Oven, heat_up\n",
        "examples/show.py": "from oven import Oven, heat_up\n",
    }
    users = users_of(graph(files))
    assert users("oven.py") == ["a/both.py", "a/one.py", "b/one.py"]
    assert users("a/both.py") == []
