"""What `map:` in the configuration does: no map, a local one, another length, fewer paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import plan_init, plan_update
from cub.actions.project_map import (
    MapOptions,
    render_map_file,
    resolve_map_settings,
    warn_unsaved_options,
)
from cub.errors import CubError, UsageError
from cub.project.project import Project
from cub.tokens import estimate_tokens
from tests.actions.helpers import body, init, settled, states, update, write
from tests.actions.reviews import commit, compared, verdicts
from tests.conftest import git, tree

MAP, REFERENCE = ".cub/map.md", "@.cub/map.md"
LOCAL = "map: {commit: false}\n"


@pytest.fixture
def code(project: Path) -> Path:
    """A project that has something to map."""
    write(project, "src/oven.py", "def heat(degrees: int) -> int:\n    return degrees\n")
    write(project, "src/gen/made.py", "def made() -> None: ...\n")
    write(project, "lib/till.rb", "class Till\nend\n")
    return project


def shared(root: Path) -> dict[str, bytes]:
    """All files but the caches."""
    return {path: data for path, data in tree(root).items() if "/cache/" not in path}


def configure(root: Path, text: str) -> Project:
    write(root, ".cub/config.yaml", text)
    return Project.load(root)


def test_no_tokens_is_no_map(code: Path) -> None:
    configure(code, "map: {tokens: 0}\n")
    init(code)
    assert not {path for path in tree(code) if path == MAP or path.startswith(".cub/cache")}
    assert REFERENCE not in body(code, "AGENTS.md")
    assert settled(code)


def test_the_configured_length_holds(code: Path) -> None:
    for number in range(200):
        write(
            code, f"src/part{number}.py", f"def function_number_{number}(one: int) -> None: ...\n"
        )
    configure(code, "map: {tokens: 300}\n")
    init(code)
    text = (code / MAP).read_text(encoding="utf-8")
    assert "of 300 tokens" in text
    assert estimate_tokens(text) <= 300
    longer = render_map_file(Project.load(code), MapOptions(tokens=3000)).data.decode()
    assert estimate_tokens(longer) > 300


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("[]", {"gen", "till"}),
        ("[/src/gen/]", {"till"}),
        ("[gen]", {"till"}),
        ("['*.rb']", {"gen"}),
        ("[/*, '!/lib']", {"till"}),
        ("['# no pattern', '']", {"gen", "till"}),
    ],
)
def test_excluded_paths_are_not_in_it(code: Path, exclude: str, left: set[str]) -> None:
    project = configure(code, f"map: {{exclude: {exclude}}}\n")
    found = render_map_file(project, MapOptions()).data.decode()
    assert {word for word in ("gen", "till") if word in found} == left
    more = render_map_file(project, MapOptions(exclude=("lib/",))).data.decode()
    assert {word for word in ("gen", "till") if word in more} == left - {"till"}


@pytest.mark.parametrize("pattern", ["!", "\\", "a\\", "[z-a]"])
def test_what_is_no_pattern_is_an_error_that_says_where_it_stands(code: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match=r"--exclude: .* is not a pattern"):
        render_map_file(Project.load(code), MapOptions(exclude=(pattern,)))
    project = configure(code, f"map: {{exclude: ['{pattern}']}}\n")
    with pytest.raises(CubError, match=r"map\.exclude: .* is not a pattern") as caught:
        plan_init(project)
    assert caught.value.where == ".cub/config.yaml"


def test_too_few_tokens_are_an_error_that_says_where_they_were_asked_for(code: Path) -> None:
    project = configure(code, "map: {tokens: 99}\n")
    with pytest.raises(UsageError, match="of 5 tokens"):
        render_map_file(project, MapOptions(tokens=5))
    with pytest.raises(CubError, match=r"map\.tokens: a map of 99 tokens") as caught:
        plan_init(project)
    assert caught.value.where == ".cub/config.yaml"
    assert render_map_file(project, MapOptions(tokens=100)).data


@pytest.mark.parametrize(
    ("wanted", "lasts"),
    [
        (MapOptions(), True),
        (MapOptions(tokens=300), True),
        (MapOptions(tokens=301), False),
        (MapOptions(exclude=("lib",)), False),
        (MapOptions(symbols=False), False),
    ],
)
def test_what_the_next_update_will_not_do_is_told(
    code: Path, wanted: MapOptions, lasts: bool
) -> None:
    project = configure(code, "map: {tokens: 300}\n")
    assert (warn_unsaved_options(project, wanted) == ()) == lasts
    assert resolve_map_settings(project, wanted).tokens == (wanted.tokens or 300)


def test_a_local_map_is_no_part_of_a_commit_and_the_sections_name_it(code: Path) -> None:
    configure(code, LOCAL)
    base = commit(code)
    plan = init(code)
    assert [edit.is_local for edit in plan.edits if edit.path == MAP] == [True]
    assert (code / ".cub/.gitignore").read_bytes().endswith(b"\n/map.md\n")
    assert REFERENCE in body(code, "AGENTS.md")
    commit(code)
    assert MAP not in git(code, "ls-files").split()
    found = compared(code, base)
    assert set(verdicts({file.path: file for file in found.files}).values()) == {"verified"}
    assert settled(code)


def test_a_checkout_without_its_local_map_is_up_to_date(code: Path, tmp_path: Path) -> None:
    configure(code, LOCAL)
    init(code)
    commit(code)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(code), str(clone))
    project = Project.load(clone.resolve())
    found = states(clone.resolve())
    assert {found["AGENTS.md"], found["CLAUDE.md"]} == {"current (v1)"}
    plan = plan_update(project, check=True)
    assert (list(plan.shared_edits), plan.warnings) == ([], ())
    update(clone.resolve())
    assert (clone / MAP).read_bytes() == (code / MAP).read_bytes()


def test_a_map_may_become_local_and_shared_again(code: Path) -> None:
    init(code)
    before = shared(code)
    configure(code, LOCAL)
    assert [edit.path for edit in update(code).edits] == [".cub/.gitignore"]
    (code / ".cub/config.yaml").unlink()
    assert [edit.path for edit in update(code).edits] == [".cub/.gitignore"]
    assert shared(code) == before


def test_a_map_that_the_persons_gitignore_names_is_local_and_told(code: Path) -> None:
    write(code, ".gitignore", "map.md\n")
    plan = init(code)
    assert [edit.is_local for edit in plan.edits if edit.path == MAP] == [True]
    assert [w.message for w in plan.warnings if w.path == MAP] == [
        "git ignores this file: other checkouts will not have what the sections refer to"
    ]
    assert settled(code)
    configure(code, LOCAL)
    assert [w for w in plan_init(Project.load(code)).warnings if w.path == MAP] == []
