from __future__ import annotations

import pytest

from cub.repomap.stack.command_lines import PROGRAM_PURPOSES
from cub.repomap.stack.facts import Technology
from cub.repomap.stack.known_packages import LISTED, Ecosystem, PackageRole, find_known_technology


@pytest.mark.parametrize("key", LISTED, ids=" ".join)
def test_the_table_has_a_name_for_each_package_once(key: tuple[Ecosystem, PackageRole]) -> None:
    ecosystem, role = key
    for entry in LISTED[key].split(","):
        package, _, name = entry.strip().partition(": ")
        assert package == package.lower()
        assert find_known_technology(ecosystem, package, "1", "x") == Technology(
            name, role, "1", "x"
        )


def test_a_package_is_known_in_any_case_and_only_in_its_ecosystem() -> None:
    assert find_known_technology("pypi", "Django", ">=5", "x") == Technology(
        "Django", "framework", ">=5", "x"
    )
    assert find_known_technology("npm", "django", "", "x") is None
    assert find_known_technology("pypi", "left-pad", "", "x") is None


def test_a_package_in_another_role_can_be_left_out() -> None:
    assert find_known_technology("pypi", "pytest", "", "x", "framework", "library") is None
    assert find_known_technology("pypi", "flask", "", "x", "framework", "library") is not None


def test_programs_are_words() -> None:
    assert all(name == " ".join(name.split()) and name for name in PROGRAM_PURPOSES)
