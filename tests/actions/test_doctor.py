"""`cub doctor`: no problem in a healthy project, and each planted fault with its place."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.doctor.findings import Finding
from cub.actions.doctor.project_problems import diagnose
from tests.actions.helpers import init, put_programs, write
from tests.actions.reviews import commit
from tests.cli.standing import stand
from tests.conftest import environment, git

SHARED = Path(os.environ.get("CUB_SHARED", "."))
IDENTITY = "[user]\n\tname = ada\n\temail = ada@example.com\n"
CONFIG = 'run:\n  checks: ["true"]\n'
RULES = "# Bakery\n\nPrices are in cents.\n"


@pytest.fixture
def environ(project: Path, home: Path) -> dict[str, str]:
    """A project with a commit and a check, an identity, and one agent that nothing starts."""
    (home / ".gitconfig").write_text(IDENTITY)
    script = f"echo started > {(home / 'started').as_posix()}"
    programs = put_programs(home / "bin", "claude", script=script)
    values = environment(home)
    git(project, "commit", "-q", "--allow-empty", "-m", "start")
    return {**values, "PATH": f"{programs.as_posix()}{os.pathsep}{values['PATH']}"}


@pytest.fixture
def find(project: Path, home: Path, environ: dict[str, str]) -> Callable[..., list[Finding]]:
    def look(*codes: str, **variables: str) -> list[Finding]:
        found = diagnose(project, {**environ, **variables}, home)
        return [one for one in found if one.code.startswith(codes or "D")]

    return look


Find = Callable[..., list[Finding]]


def places(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.code, one.location) for one in findings if one.severity != "info"]


def test_a_healthy_project_has_no_problem(project: Path, home: Path, find: Find) -> None:
    write(project, "AGENTS.md", RULES)
    init(project)
    write(project, "test_bread.py", "def test_bread():\n    assert True\n")
    commit(project)
    before = stand(project), stand(home)
    assert places(find("D1", "D2", "D4", "D5", "D6")) == []
    assert (stand(project), stand(home)) == before
    assert not (home / "started").exists()


def test_what_reaches_an_agent_and_its_version_are_known_without_a_start(
    project: Path, home: Path, find: Find
) -> None:
    write(project, "CLAUDE.md", RULES)
    package = home / "lib" / "claude-code"
    put_programs(package / "bin", "claude", script="exit 9")
    (package / "package.json").write_text('{"name": "c", "version": "2.1.330"}')
    (home / "bin" / "claude").unlink()
    (home / "bin" / "claude").symlink_to(package / "bin" / "claude")
    messages = [one.message for one in find("D204", "D417")]
    assert messages[0].startswith("a run uses Claude Code 2.1.330")
    assert messages[1].startswith("Claude Code reads CLAUDE.md")


def test_git_that_is_missing_or_of_no_use_is_found(project: Path, home: Path, find: Find) -> None:
    assert places(find("D1", PATH=(home / "bin").as_posix())) == [("D101", "")]
    (home / ".gitconfig").unlink()
    assert places(find("D1", EMAIL="")) in ([("D105", "")], [])  # a host name may make an email
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    assert places(find("D1")) == [("D105", "")]
    (home / ".gitconfig").write_text(IDENTITY)
    git(project, "checkout", "-q", "--detach")
    assert places(find("D1")) == [("D106", "")]
    shutil.rmtree(project / ".git")
    assert places(find("D1")) == [("D103", "")]


def test_a_branch_without_a_commit_and_uncommitted_changes_are_found(
    project: Path, find: Find
) -> None:
    write(project, "bread.py", "1\n")
    commit(project)
    write(project, "bread.py", "2\n")
    assert places(find("D1")) == [("D107", "")]
    git(project, "checkout", "-q", "--orphan", "other")
    assert ("D104", "") in places(find("D1"))


def test_agents_that_cannot_be_started_are_found(project: Path, home: Path, find: Find) -> None:
    write(project, ".cub/config.yaml", "run:\n  harness: claude,codex\n")
    assert places(find("D2")) == [("D202", "")]
    (home / "bin" / "claude").unlink()
    assert {code for code, _ in places(find("D2"))} == {"D201", "D202"}
    write(project, ".cub/config.yaml", "run:\n  harness: nobody\n")
    assert places(find("D2")) == [("D201", "")]


def test_checks_that_are_missing_or_not_trusted_are_found(project: Path, find: Find) -> None:
    assert places(find("D3")) == [("D302", "")]
    write(project, ".cub/tasks.jsonl", '{"id": "a", "title": "Bake"}\n')
    assert places(find("D3")) == [("D301", "")]
    write(project, ".cub/config.yaml", 'run:\n  checks: ["no-such-program --all"]\n')
    assert places(find("D3")) == [
        ("D303", ".cub/config.yaml"),
        ("D304", ".cub/config.yaml"),
    ]


def edit(old: str, new: str) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        path = root / "AGENTS.md"
        path.write_text(path.read_text().replace(old, new, 1))

    return apply


def delete_section(root: Path) -> None:
    write(root, "AGENTS.md", RULES)


SECTION_FAULTS: dict[str, tuple[Callable[[Path], None], str, int | None]] = {
    "broken": (edit("<!-- END", "<!-- AND"), "D401", 5),
    "edited": (edit("- Find:", "- Search:"), "D404", 5),
    "deleted": (delete_section, "D405", None),
}


@pytest.mark.parametrize("case", SECTION_FAULTS)
def test_a_fault_of_a_section_is_found(project: Path, find: Find, case: str) -> None:
    change, code, line = SECTION_FAULTS[case]
    write(project, "AGENTS.md", RULES)
    init(project)
    commit(project)
    change(project)
    found = find("D401", "D402", "D403", "D404", "D405")
    assert [(one.code, one.path, one.line) for one in found] == [(code, "AGENTS.md", line)]
    assert all(one.fix for one in found)


FILE_FAULTS: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "import of a missing file": (
        {"CLAUDE.md": "# Rules\n\n@docs/style.md\n"}, ("D409", "CLAUDE.md:3")
    ),
    "import with a comma": (
        {"CLAUDE.md": "See @style.md, first\n", "style.md": "x\n"}, ("D409", "CLAUDE.md:1")
    ),
    "import in an imported file": (
        {"CLAUDE.md": "@style.md\n", "style.md": "x\n\n@gone.md\n"}, ("D409", "style.md:3")
    ),
    "import from Gemini's file": ({"GEMINI.md": "@./gone.md\n"}, ("D409", "GEMINI.md:1")),
    "import from outside": ({"CLAUDE.md": "@../other/style.md\n"}, ("D410", "CLAUDE.md:1")),
    "import from home": ({"CLAUDE.md": "x\n@~/style.md\n"}, ("D410", "CLAUDE.md:2")),
    "cut text": ({"AGENTS.md": "x" * 99 + "\n" + "word\n" * 9000}, ("D411", "AGENTS.md")),
    "hidden text": (
        {"AGENTS.md": RULES, "CLAUDE.md": "Other rules.\n"}, ("D412", "AGENTS.md")
    ),
    "the same text": ({"AGENTS.md": RULES, "CLAUDE.md": RULES}, ("D413", "CLAUDE.md")),
    "name in lower case": ({"agents.md": RULES}, ("D407", "agents.md")),
    "text of a link": (
        {"AGENTS.md": RULES, "CLAUDE.md": "AGENTS.md"}, ("D408", "CLAUDE.md:1")
    ),
    "ignored link": (
        {"AGENTS.md": "See [notes](notes/a.md).\n", ".gitignore": "notes/\n", "notes/a.md": "x"},
        ("D414", "AGENTS.md:1"),
    ),
    "ignored import": (
        {"CLAUDE.md": "x\n\n@local.md\n", ".gitignore": "local.md\n", "local.md": "x\n"},
        ("D414", "CLAUDE.md:3"),
    ),
    "broken configuration": ({".cub/config.yaml": "map:\n  tokens: much\n"}, ("D501", "")),
    "unknown key": ({".cub/config.yaml": "run:\n  cheks: []\n"}, ("D502", "")),
}  # fmt: skip


@pytest.mark.parametrize("case", FILE_FAULTS)
def test_a_fault_of_files_is_found_with_its_place(project: Path, find: Find, case: str) -> None:
    files, (code, place) = FILE_FAULTS[case]
    for path, text in files.items():
        write(project, path, text)
    found = find("D4", "D5")
    faults = [one for one in found if one.code == code]
    assert [one for one in faults if one.location.startswith(place) and one.message]
    assert len({one.path for one in faults}) == len(faults)


def test_words_that_are_not_paths_are_not_imports(project: Path, find: Find) -> None:
    text = "Use @types/node and @angular/core, ask @ada, `@docs/gone.md`, @src/**/*.md, me@x.md.\n"
    write(project, "CLAUDE.md", text)
    assert places(find("D4")) == []


def test_a_stale_map_is_found(project: Path, find: Find) -> None:
    write(project, "bread.py", "def bake():\n    return 1\n")
    init(project)
    assert places(find("D416")) == []
    write(project, "bread.py", "def bake_all_loaves():\n    return 1\n")
    assert places(find("D416")) == [("D416", ".cub/map.md")]


PARTS = [0, *(pytest.param(part, marks=pytest.mark.thorough) for part in range(1, 25))]


@pytest.mark.skipif("CUB_SHARED" not in os.environ, reason="CUB_SHARED is not set")
@pytest.mark.parametrize("part", PARTS)
def test_real_files_give_no_error(project: Path, find: Find, part: int) -> None:
    rows = (SHARED / "corpus" / "index.jsonl").read_text(encoding="utf-8").splitlines()
    files = {row["file"]: Path(row["path"]).name for row in map(json.loads, rows[part::25])}
    wrong = []
    for file, name in files.items():
        for path in {"AGENTS.md", name}:
            target = project / path
            target.write_bytes((SHARED / "corpus" / "files" / file).read_bytes())
            wrong += [(file, one) for one in find() if one.severity == "error"]
            target.unlink()
    assert files
    assert wrong == []
