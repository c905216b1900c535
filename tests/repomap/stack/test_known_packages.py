from __future__ import annotations

from cub.repomap.stack.facts import Technology
from cub.repomap.stack.known_packages import find_known_technology


def test_a_package_is_known_in_any_case_and_only_in_its_ecosystem() -> None:
    assert find_known_technology("pypi", "Django", ">=5", "x") == Technology(
        "Django", "framework", ">=5", "x"
    )
    assert find_known_technology("npm", "django", "", "x") is None
    assert find_known_technology("pypi", "left-pad", "", "x") is None
