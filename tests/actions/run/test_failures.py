"""The classes of failures have one home, and the documentation has each of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cub.actions.run.failures import FAILURE_CLASSES, UNKNOWN, FailureClass, find_class

ROOT = Path(__file__).parents[3]
# Words that mean something else elsewhere: how a run ends, the status of a task, what is not known.
_WORDS = {"stuck", "unknown", "unverified", "budget", "interrupted", "not_mended", "untrusted"}
_OTHER_MEANINGS = {("cub/harness/claude.py", "permission_denied")}  # an event of Claude Code's
_PACKAGES = ("actions", "harness", "prompt", "store", "cli")
_ROW = re.compile(r"\| `(\w+)` \| (.*) \| ((?:no|yes).*?) \| (.*) \|")


def _find_literals(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str)}  # fmt: skip


def test_no_other_module_has_the_name_of_a_class() -> None:
    names = FAILURE_CLASSES.keys() - _WORDS
    paths = [path for name in _PACKAGES for path in (ROOT / "cub" / name).rglob("*.py")]
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in paths
        if path.name != "failures.py"
        for name in names & _find_literals(path)
    }
    assert found == _OTHER_MEANINGS


def test_the_documentation_has_each_class_in_its_order() -> None:
    text = (ROOT / "docs/reference/run.md").read_text(encoding="utf-8")
    outcomes = text.partition("\n## Outcomes\n")[2].partition("\n## ")[0]
    rows = [match.groups() for match in map(_ROW.fullmatch, outcomes.splitlines()) if match]
    facts = [(name, charged.split(",")[0] == "yes", says) for name, _, charged, says in rows]
    assert [fact[:2] for fact in facts] == [
        (one.name, one.is_charged) for one in FAILURE_CLASSES.values()
    ]
    # A prompt skips attempts that don't count.
    assert all((says == "nothing") is not is_charged for _, is_charged, says in facts)


@pytest.mark.parametrize("one", FAILURE_CLASSES.values(), ids=lambda one: one.name)
def test_each_class_has_a_meaning_and_what_does_not_count_a_way_on(one: FailureClass) -> None:
    assert one.meaning
    needs_nothing = one.name in ("interrupted", "budget", "context_failed")
    assert one.is_charged or needs_nothing or bool(one.remedy) != bool(one.wait_reason)


def test_a_class_of_another_version_is_unknown() -> None:
    assert find_class("no_such_class") == UNKNOWN
