from __future__ import annotations

import re
from pathlib import Path

from cub.agent_profiles.profiles import NAMED_PROFILES
from tests.agents.update_versions import (
    ROOT,
    SOURCE,
    Package,
    list_packages,
    rewrite_page,
    update,
)
from tests.written_files import write_files

_README = """\
| [Claude Code](docs/how-to/run-with-claude-code.md) | 2.1.330 | reported |
| [Codex](docs/how-to/run-with-codex.md) | 0.169.0 | computed from tokens |
Claude Code 2.1.330 exits with 0.
"""
_PAGE = """\
It was tried with
Claude Code 2.1.330; the oldest version known to work is 2.1.197.
agent: claude 2.1.330
"""


def make_pages(root: Path) -> None:
    pages = {
        ".ci/agents": SOURCE.read_text(encoding="utf-8"),
        "README.md": _README,
        "tests/docs/claims.toml": '"| Claude Code | 2.1.330 | reported |" = "x"\n',
        "docs/how-to/run-with-claude-code.md": _PAGE,
    }
    write_files(root, {name: _set_old(text) for name, text in pages.items()})


def _set_old(text: str) -> str:
    return re.sub(r"claude-code@[\d.]+", "claude-code@2.1.330", text)


def test_a_version_that_works_is_written_into_the_tables(tmp_path: Path) -> None:
    make_pages(tmp_path)
    told = update(["claude"], tmp_path, lambda _: "2.1.999", lambda _: True)
    assert told == {"claude": "2.1.330 -> 2.1.999"}
    assert "claude-code@2.1.999\n" in (tmp_path / ".ci/agents").read_text()
    readme = (tmp_path / "README.md").read_text()
    assert readme == _README.replace("2.1.330 |", "2.1.999 |")  # what was measured stays
    assert (tmp_path / "docs/how-to/run-with-claude-code.md").read_text() == _PAGE.replace(
        "2.1.330;", "2.1.999;"
    )
    assert "2.1.999" in (tmp_path / "tests/docs/claims.toml").read_text()


def test_an_oldest_version_stays_beside_a_newer_one() -> None:
    package = Package("codex", "npm", "@openai/codex", "0.169.0")
    page = "cub was tried with\nCodex 0.169.0, which is also the oldest\nversion known to work."
    assert rewrite_page(page, package, "0.171.0") == (
        "cub was tried with\nCodex 0.171.0; the oldest version known to work is 0.169.0."
    )


def test_a_version_that_fails_changes_nothing(tmp_path: Path) -> None:
    make_pages(tmp_path)
    before = (tmp_path / ".ci/agents").read_bytes()
    told = update(["claude"], tmp_path, lambda _: "2.1.999", lambda _: False)
    assert told == {"claude": "2.1.999 fails, 2.1.330 stays"}
    assert (tmp_path / ".ci/agents").read_bytes() == before
    assert (tmp_path / "README.md").read_text() == _README


def test_the_table_of_agents_has_the_tried_versions() -> None:
    packages = {one.agent: one for one in list_packages(SOURCE.read_text(encoding="utf-8"))}
    assert [*packages] == [profile.name for profile in NAMED_PROFILES]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for profile in NAMED_PROFILES:
        row = rf"^\| \[{profile.title}\]\(\S+\) \| {packages[profile.name].version} \|"
        assert re.search(row, readme, re.MULTILINE), profile.name
