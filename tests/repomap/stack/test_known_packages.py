from __future__ import annotations

from cub.repomap.stack.facts import Technology
from cub.repomap.stack.known_packages import find_known_technologies


def test_a_package_is_known_in_any_case_and_only_in_its_ecosystem() -> None:
    assert find_known_technologies("pypi", [("Django", ">=5"), ("left-pad", "")], "x") == (
        Technology("Django", "framework", ">=5", "x"),
    )
    assert find_known_technologies("npm", [("django", "")], "x") == ()
