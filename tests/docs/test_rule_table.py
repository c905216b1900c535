"""The page about where rules are has the table of the code, and each of its rows is read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cub.project.rule_locations import RULE_LOCATIONS, RuleLocation
from tests.command_line import call_cub
from tests.docs.pages import DOCS
from tests.docs.rule_table import render

PAGE = DOCS / "reference" / "rules.md"


def test_the_page_is_the_table_of_the_code() -> None:
    remedy = "python -m tests.docs.rule_table > docs/reference/rules.md"
    assert PAGE.read_text(encoding="utf-8") == render(), f"rewrite it with: {remedy}"


def write_rule(row: RuleLocation, folder: Path, text: str) -> None:
    file = folder / (f"{row.path}rule.md" if row.is_folder else row.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def test_rules_are_put_out_in_the_order_of_the_page(tmp_path: Path) -> None:
    folders = {"parent": tmp_path / "a", "project": tmp_path / "a/b", "user": tmp_path / "home"}
    folders["project"].mkdir(parents=True)
    (folders["project"] / ".git").mkdir()
    rows = [row for row in RULE_LOCATIONS if row.path != ".clinerules"]  # also a folder's name
    texts = [f"{row.scope} {row.path}" for row in rows]
    for row, text in zip(rows, texts, strict=True):
        write_rule(row, folders[row.scope], text)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folders["user"])}
    found = call_cub(["context", "--prompt", "P"], cwd=folders["project"], environ=environ)
    assert found.out.split("\n\n") == [*texts, "P"]
    shown = re.findall(r"^\| `(?:~/)?([^`]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [path for path in shown if path != ".clinerules"] == [row.path for row in rows]
