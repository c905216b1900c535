"""Which files use which.

Who refers to what: the evidence, what it weighs, and how it is shared.
"""

from __future__ import annotations

import pytest

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import ListedFile
from cub.repomap.ranking.reference_graph import (
    ReferenceGraph,
    build_reference_graph,
    index_users,
    list_graph_files,
)
from cub.repomap.symbols.file_facts import ScanJob
from cub.repomap.symbols.scan import extract_facts


def test_the_main_user_comes_first_and_tests_are_none() -> None:
    files = {
        "oven.py": "class Oven: ...\ndef heat_up(): ...\n",
        "b/one.py": "from oven import heat_up\n",
        "a/both.py": "from oven import Oven, heat_up\n",
        "a/one.py": "from oven import Oven\n",
        "tests/test_oven.py": "from oven import Oven, heat_up\n",
        "examples/show.py": "from oven import Oven, heat_up\n",
    }
    users = index_users(graph(files))
    assert users("oven.py") == ["a/both.py", "a/one.py", "b/one.py"]
    assert users("a/both.py") == []


OVEN = "class Oven:\n    def bake_bread(self): ...\n    def run(self): ...\n\ndef heat_up(): ...\n"
LIBRARY = {"kiln/oven.py": OVEN}


def graph(files: dict[str, str]) -> ReferenceGraph:
    kinds = FileClassifier(files)
    facts = (
        (
            path,
            kinds.classify(path),
            extract_facts(
                ScanJob(
                    ListedFile(path, 1, 2, 3), "python", kinds.classify(path) is FileKind.SOURCE
                ),
                data,
            ),
        )
        for path, data in ((path, text.encode()) for path, text in files.items())
    )
    return build_reference_graph(list_graph_files(facts))


def references(files: dict[str, str], name: str) -> dict[str, tuple[float, str]]:
    """By the file that refers: the weight and the reason."""
    made = graph(files)
    return {
        made.files[use.user].path: (use.weight, use.reason)
        for number, entry in enumerate(made.definitions)
        if entry.definition.name == name
        for use in made.list_references(number)
    }


@pytest.mark.parametrize(
    ("text", "name", "weight", "reason"),
    [
        ("from kiln import oven\noven.Oven()\n", "Oven", 1.0, "names it with its module"),
        ("from kiln.oven import Oven\n", "Oven", 1.0, "imports its module"),
        ("import kiln.oven\nOven()\n", "Oven", 1.0, "imports its module"),
        ("from kiln import Oven\n", "Oven", 1.0, "imports its name"),
        ("from kiln import x\nOven()\n", "Oven", 0.5, "imports from its directory"),
        ("heat_up()\n", "heat_up", 0.25, "says its name"),
        ("Oven\n", "Oven", 0.0625, "says its name"),
        ("from kiln.oven import a\na.bake_bread()\n", "bake_bread", 0.5, "imports its module"),
        ("from kiln.oven import a\na.run()\n", "run", 0.125, "imports its module"),
        ("from kiln.oven import Oven\nOven.run\n", "run", 1.0, "names it with its module"),
    ],
)
def test_evidence_decides_what_a_reference_weighs(
    text: str, name: str, weight: float, reason: str
) -> None:
    assert references({**LIBRARY, "far/user.py": text}, name) == {"far/user.py": (weight, reason)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from pathlib import Oven\nOven()\n", "Oven"),
        ("run()\n", "run"),
        ("class Oven: ...\nOven()\n", "Oven"),
        ("x.heat_up\n", "heat_up"),
    ],
)
def test_what_is_somebody_elses_is_no_reference(text: str, name: str) -> None:
    found = references({**LIBRARY, "far/user.py": text}, name)
    assert "far/user.py" not in found


def test_a_file_that_names_something_often_counts_once_with_its_best_reason() -> None:
    text = "from kiln.oven import Oven\nOven()\nOven()\noven.Oven()\n"
    assert references({**LIBRARY, "far/user.py": text}, "Oven") == {
        "far/user.py": (1.0, "names it with its module")
    }


def test_tests_and_examples_are_users_of_half_the_weight_and_never_entries() -> None:
    files = {
        **LIBRARY,
        "tests/test_oven.py": "from kiln.oven import Oven\nclass TestOven: ...\n",
        "examples/show.py": "from kiln.oven import Oven\ndef show(): ...\n",
    }
    assert {path: weight for path, (weight, _) in references(files, "Oven").items()} == {
        "tests/test_oven.py": 0.5,
        "examples/show.py": 0.5,
    }
    names = {entry.definition.name for entry in graph(files).definitions}
    assert names == {"Oven", "bake_bread", "run", "heat_up"}


@pytest.mark.parametrize(("definers", "share"), [(1, 1.0), (2, 0.5), (3, 0.25), (4, 0.25), (5, 0)])
def test_a_reference_that_may_mean_several_is_shared(definers: int, share: float) -> None:
    files = {f"a{n}/b{n}.py": "def heat_up(): ...\n" for n in range(definers)}
    made = graph({**files, "far/user.py": "heat_up()\n"})
    weights = [weight for uses in made.uses for weight, _ in uses.values()]
    assert weights == [0.25 * share] * (definers if share else 0)


def test_members_of_one_name_in_one_file_are_entries_of_their_own() -> None:
    run = "  def run(self): ...\n"
    made = graph({"a.py": f"class Aaa:\n{run}class Bee:\n{run}"})
    owners = [e.definition.member_of for e in made.definitions if e.definition.name == "run"]
    assert owners == ["Aaa", "Bee"]


def test_the_order_of_the_files_does_not_matter() -> None:
    files = {
        **LIBRARY,
        "far/user.py": "from kiln import Oven\n",
        "z.py": "import kiln.oven\nOven\n",
    }
    backwards = dict(reversed(files.items()))
    assert graph(backwards).uses == graph(files).uses
    assert graph(backwards).file_links == graph(files).file_links


def test_a_project_that_is_a_package_as_a_whole_knows_its_own_imports() -> None:
    files = {"__init__.py": "", "oven.py": OVEN, "cli.py": "from kiln.oven import Oven\n"}
    assert references(files, "Oven") == {"cli.py": (1.0, "imports its module")}
