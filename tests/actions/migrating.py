"""Sets of migrations for tests, projects of the older layout, and what a plan says."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from cub.edit.plan import Plan
from cub.project.migrations import get_migrations_folder, hash_content
from tests.conftest import GOLDEN

CASES = GOLDEN / "migrations"
STAND_INS = CASES / "stand-ins"
_KNOWN = "      known:\n"
OLD_BODY = "# Task workflow\n\nOld text."
RECORD = ".cub/config.yaml"
_LOCAL = (".git/", ".cub/state.json", ".cub/cache/", ".cub/backups/")


def with_stand_ins(folder: Path) -> Path:
    """The shipped migrations, whose `known` lists have the stand-ins' hashes too."""
    folder.mkdir()
    more = [
        f"        - {hash_content(path.read_bytes())}\n" for path in sorted(STAND_INS.iterdir())
    ]
    for path in get_migrations_folder().glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert _KNOWN in text
        done = text.replace(_KNOWN, _KNOWN + "".join(more))
        (folder / path.name).write_text(done, encoding="utf-8")
    return folder


def migrations(folder: Path, **texts: str) -> Path:
    """A folder of migrations; a name is `m2` for number 2."""
    folder.mkdir()
    for name, text in texts.items():
        head = f"number: {name[1:]}\nsummary: step {name[1:]}\nsince: '{name[1:]}.0'\n"
        (folder / f"{int(name[1:]):04}-test.yaml").write_text(head + text)
    return folder


def whole(root: Path) -> dict[str, bytes | str]:
    """Every file by its path, links as their text; without .git and what is local."""
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = path.readlink().as_posix()
        elif path.is_file() and not name.startswith(_LOCAL):
            found[name] = path.read_bytes()
    return found


def old_section(text: str = OLD_BODY) -> str:
    digest = sha256(OLD_BODY.encode()).hexdigest()
    return (
        "<!-- BEGIN CUB MANAGED SECTION v1 -->\n"
        f"<!-- sha256:{digest} -->\n{text}\n<!-- END CUB MANAGED SECTION -->\n"
    )


def stand_in(name: str) -> str:
    return (STAND_INS / name).read_text(encoding="utf-8")


def said(plan: Plan) -> dict[str, str]:
    return {warning.path: warning.message for warning in plan.warnings}


def told_reasons(plan: Plan) -> dict[str, str]:
    return {edit.path: edit.reason for edit in plan.edits}


# How the older layout began files that only --prune deletes.
OPENINGS = {
    "progress.txt": "# Progress Log\nStarted: 2025-01-08\n\n## Codebase Patterns\n",
    ".cub/progress.txt": "# Session Progress Log\n\n<!--\nWHAT IS THIS FILE?\n",
    "fix_plan.md": "# Fix Plan\r\n\r\n<!--\r\nWHAT IS THIS FILE?\r\n",
    ".cub/guardrails.md": "# Cub Guardrails\n\nLessons learned from previous runs. Read before each"
    " task iteration.\n",
}
