"""All that is known of a project: which files count for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.repomap.build import MapContext, build_repo_map
from cub.repomap.map_types import MapOmission, MapSettings
from cub.repomap.repo_map import RepoMap
from tests.repomap.archives import write


def survey(root: Path, files: dict[str, str], *, symbols: bool = True) -> RepoMap:
    for path, text in files.items():
        write(root / "project" / path, text.encode())
    shop = MapContext(root / "project", root / "cache")
    return build_repo_map(shop, MapSettings(1500, symbols=symbols))


def commands(found: RepoMap) -> list[str]:
    return [command.text for command in found.structure.stack.commands]


def test_lock_files_and_wrappers_tell_how_a_project_is_built(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "a"\n[tool.pytest.ini_options]\n',
        "uv.lock": "",
        "pom.xml": "<project><artifactId>a</artifactId></project>",
        "mvnw": "",
    }
    assert {"uv sync", "uv run pytest", "./mvnw test"} <= set(commands(survey(tmp_path, files)))


def test_manifests_of_vendored_code_tell_nothing(tmp_path: Path) -> None:
    files = {"vendor/a/package.json": '{"scripts": {"test": "x"}}', "a.py": ""}
    assert commands(survey(tmp_path, files)) == []


PACKAGES = {
    "package.json": '{"workspaces": ["packages/*"]}',
    "packages/oven/package.json": '{"name": "@kiln/oven", "description": "Heat for any bread"}',
    "packages/till/package.json": '{"name": "@kiln/till"}',
    "packages/core/package.json": '{"name": "@kiln/bakery-server"}',
    "packages/core/README.md": "# Core\n\nWhat the other parts have in common.\n",
    "packages/shop/package.json": '{"name": "shop"}',
    "packages/shop/README.md": "# Shop\n\nEverything that customers get to see.\n",
}


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("packages/oven", "Heat for any bread"),
        ("packages/till", None),
        ("packages/core", "bakery-server"),
        ("packages/shop", "Everything that customers get to see"),
    ],
)
def test_a_package_is_told_by_its_description_or_a_name_that_its_folder_has_not(
    tmp_path: Path, folder: str, said: str | None
) -> None:
    assert survey(tmp_path, PACKAGES).structure.tree.descriptions.get(folder) == said


def test_without_symbols_no_source_is_scanned(tmp_path: Path) -> None:
    files = {"a.py": "def heat(): ...\n", "bad.py": "\0"}
    found = survey(tmp_path, files, symbols=False)
    assert (found.symbols, found.graph.files, found.omissions) == ([], [], ())
    assert found.structure.languages == (("Python", 100),)


def test_what_could_not_be_read_is_noted_and_generated_code_is_not(tmp_path: Path) -> None:
    files = {
        "bad.py": "\0",
        "deep.py": "[" * 9_000,
        "made.py": "# @generated\n",
        "package.json": "{",
    }
    notes = survey(tmp_path, files).omissions
    assert [note.path for note in notes] == ["package.json", "bad.py", "deep.py"]
    assert MapOmission("bad.py", "binary") in notes


def test_the_section_in_a_readme_that_an_instruction_file_links_to_says_nothing(
    tmp_path: Path,
) -> None:
    section = (
        "<!-- BEGIN CUB MANAGED SECTION v1 -->\nWords of cub.\n<!-- END CUB MANAGED SECTION -->\n"
    )
    files = {"README.md": f"{section}# Oven\n\nIt bakes bread for all.\n", "a.py": ""}
    assert survey(tmp_path, files).structure.summary == "It bakes bread for all."


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/org/example/target/Oven.java", "app/src/main/kotlin/com/samples/Oven.kt",
        "src/main/scala-2.13/com/docs/Oven.scala", "com/example/Oven.java",
    ],
)  # fmt: skip
def test_a_package_of_the_jvm_may_be_called_as_it_likes(tmp_path: Path, path: str) -> None:
    found = survey(tmp_path, {path: "public class Oven {}\n"})
    assert [symbol.definition.name for symbol in found.symbols] == ["Oven"]
