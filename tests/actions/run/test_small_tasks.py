"""Small tasks with three kinds of check: a right solution closes its task, a wrong one doesn't."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.actions.run.shop import Shop

_PYTHON = Path(sys.executable).as_posix()
# By the name of a function: its arguments, what it returns for them, a right body, and a wrong one.
_TASKS = {
    "round_up": ("loaves", "(13, 24), (12, 12), (0, 0)", "return -(-loaves // 12) * 12",
                 "return loaves // 12 * 12 + 12"),
    "is_sorted": ("items", "([1, 2], True), ([2, 1], False), ([], True)",
                  "return items == sorted(items)", "raise NotImplementedError"),
}  # fmt: skip
_CHECKS = {
    "unittest": ("test_it.py", f"{_PYTHON} -m unittest -q", (
        "import unittest\nfrom solution import {0}\n\nclass Test(unittest.TestCase):\n"
        "    def test(self):\n        for given, wanted in [{1}]:\n"
        "            self.assertEqual({0}(given), wanted)\n"
    )),
    "pytest": ("test_it.py", f"{_PYTHON} -m pytest -q -p no:cacheprovider", (
        "from solution import {0}\n\ndef test():\n    for given, wanted in [{1}]:\n"
        "        assert {0}(given) == wanted\n"
    )),
    "script": ("check.py", f"{_PYTHON} check.py", (
        "from solution import {0}\n\nfor given, wanted in [{1}]:\n"
        "    assert {0}(given) == wanted\n"
    )),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", _TASKS)
@pytest.mark.parametrize("kind", _CHECKS)
@pytest.mark.parametrize("start", ["a stub", "nothing"])
def test_only_a_right_solution_closes_its_task(
    bakery: Shop, name: str, kind: str, start: str
) -> None:
    argument, cases, right, wrong = _TASKS[name]
    path, command, template = _CHECKS[kind]
    bakery.write(path, template.format(name, cases))
    bakery.write(".gitignore", "__pycache__/\n")
    if start == "a stub":
        bakery.write("solution.py", f"def {name}({argument}):\n    raise NotImplementedError\n")
    bakery.commit()
    bakery.task()
    for body, closes in ((wrong, False), (right, True)):
        text = f"def {name}({argument}):\n    {body}\n"
        bakery.run_agent(f"cat > solution.py <<'X'\n{text}X", checks=command, once=True)
        assert (bakery.status() == "closed") is closes
