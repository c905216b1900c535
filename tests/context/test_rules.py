from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.context.rules import RuleSearch
from cub.context.text_reader import MAX_TEXT_BYTES, TextReader
from cub.errors import CubError
from cub.project.rule_locations import RULE_LOCATIONS
from tests.context.places import make_reader


def find_rules(reader: TextReader) -> RuleSearch:
    search = RuleSearch(reader)
    search.find_all()
    # Folders above the test's own may have instructions, too.
    search.rules = [r for r in search.rules if not r.name.startswith("../../")]
    return search


def names(reader: TextReader) -> list[str]:
    return [rule.name for rule in find_rules(reader).rules]


def test_each_location_is_read_in_the_order_of_the_table(tmp_path: Path) -> None:
    prefixes = {"project": "proj", "parent": "up", "user": "home"}
    files = {}
    for row in reversed(RULE_LOCATIONS):
        if row.path == ".clinerules":
            continue
        path = f"{row.path}x.md" if row.is_folder else row.path
        files[f"{prefixes[row.scope]}/{path}"] = row.path
    found = find_rules(make_reader(tmp_path, files)).rules
    expected = [row for row in RULE_LOCATIONS if row.path != ".clinerules"]
    assert [rule.location for rule in found] == expected
    assert [rule.text.body for rule in found] == [row.path for row in expected]


def test_folders_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    texts = ["b.md", "a.md", "a/z.mdc", "B.md", "c.txt", "d.markdown", ".hidden.md", "e/.x/f.md"]
    reader = make_reader(tmp_path, {f"proj/.agents/rules/{name}": name for name in texts})
    assert names(reader) == [
        f".agents/rules/{name}" for name in ("B.md", "a.md", "a/z.mdc", "b.md")
    ]


def test_nothing_but_rules_is_taken(tmp_path: Path) -> None:
    others = (".claude/skills/s/SKILL.md", ".claude/commands/c.md", ".claude/agents/a.md",
              ".github/agents/a.md", ".agents/skills/s/SKILL.md", ".agents/tasks/t.md",
              ".junie/skills/s.md", "README.md", "docs/x.md")  # fmt: skip
    assert names(make_reader(tmp_path, {f"proj/{name}": "x" for name in others})) == []


def test_from_a_folder_below_up_to_the_root_and_above(tmp_path: Path) -> None:
    paths = ("proj/a/b/AGENTS.md", "proj/a/.agents/rules/r.md", "proj/AGENTS.md", "up/AGENTS.md",
             "up/.agents/rules/no.md", "home/.claude/CLAUDE.md")  # fmt: skip
    files = {path: f"{number}" for number, path in enumerate(paths, 1)}
    (tmp_path / "up/proj/a/b").mkdir(parents=True)
    search = RuleSearch(make_reader(tmp_path, files, "a/b"))
    search.find_all()
    texts = [rule.text.body for rule in search.rules if len(rule.text.body) == 1]
    assert texts == ["1", "2", "3", "4", "6"]
    shown = [rule.name for rule in search.rules if len(rule.text.body) == 1]
    assert shown[:4] == [
        "AGENTS.md",
        "../.agents/rules/r.md",
        "../../AGENTS.md",
        "../../../AGENTS.md",
    ]
    assert shown[4] == "~/.claude/CLAUDE.md"


def test_other_names_of_a_file_say_so(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A", "proj/shared/r.md": "R"})
    (reader.root / "CLAUDE.md").symlink_to("AGENTS.md")
    (reader.root / "GEMINI.md").hardlink_to(reader.root / "AGENTS.md")
    (reader.root / ".agents").mkdir()
    (reader.root / ".agents/rules").symlink_to("../shared")
    (reader.root / "shared/again").symlink_to(".")
    found = {rule.name: rule.same_as for rule in find_rules(reader).rules}
    assert found == {
        ".agents/rules/r.md": "",
        "CLAUDE.md": "",
        "AGENTS.md": "CLAUDE.md",
        "GEMINI.md": "CLAUDE.md",
    }


def test_what_leads_out_of_the_project_is_left_out(tmp_path: Path) -> None:
    reader = make_reader(
        tmp_path,
        {"home/.ssh/id.md": "KEY", "home/.claude/mine.md": "M", "home/.claude/auth.json": "KEY",
         "elsewhere/r.md": "OUT"},
    )  # fmt: skip
    rules = reader.root / ".agents/rules"
    rules.mkdir(parents=True)
    (rules / "a.md").symlink_to(tmp_path / "home/.ssh/id.md")
    (rules / "b.md").symlink_to(tmp_path / "home/.claude/mine.md")
    (rules / "c.md").symlink_to(tmp_path / "home/.claude/auth.json")
    (rules / "d").symlink_to(tmp_path / "elsewhere")
    (reader.root / ".claude").mkdir()
    (reader.root / ".claude/rules").symlink_to(tmp_path / "elsewhere")
    search = find_rules(reader)
    assert [rule.text.body for rule in search.rules] == ["M"]
    places = {warning.path for warning in search.reader.warnings}
    assert places == {
        ".agents/rules/a.md",
        ".agents/rules/c.md",
        ".agents/rules/d",
        ".claude/rules",
    }


def test_odd_files_are_left_out_with_a_warning(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/rules/ok.md": "OK"})
    rules = reader.root / ".agents/rules"
    os.mkfifo(rules / "pipe.md")
    (rules / "folder.md").mkdir()
    (rules / "dangling.md").symlink_to("nowhere.md")
    (rules / "self.md").symlink_to("self.md")
    with (rules / "huge.md").open("wb") as file:
        file.truncate(100_000_000)
    search = find_rules(reader)
    assert [rule.text.body for rule in search.rules] == ["OK"]
    messages = {w.path.rpartition("/")[2]: w.message for w in search.reader.warnings}
    assert messages == {
        "pipe.md": "this is not a regular file; it is left out",
        "dangling.md": "this link leads to nothing; it is left out",
        "self.md": "cannot be read: too many levels of symbolic links; it is left out",
        "huge.md": f"this file has 100,000,000 bytes, and a context takes at most "
        f"{MAX_TEXT_BYTES:,}; it is left out",
    }


def test_folders_with_links_to_each_other_are_listed_once(tmp_path: Path) -> None:
    numbers = range(12)  # with 12! paths
    files = {f"proj/.agents/rules/{number:02}/r.md": f"{number}" for number in numbers}
    reader = make_reader(tmp_path, files)
    for number in numbers:
        for other in numbers:
            link = reader.root / f".agents/rules/{number:02}/to-{other:02}"
            link.symlink_to(f"../{other:02}")
    search = find_rules(reader)
    assert sorted(int(rule.text.body) for rule in search.rules) == [*numbers]
    assert [rule.name for rule in search.rules] == sorted(rule.name for rule in search.rules)


def test_a_file_that_is_not_there_leads_nowhere(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"up/other/x.txt": "X", "proj/AGENTS.md": "TEXT"})
    (reader.root / ".claude").symlink_to("../other")
    search = find_rules(reader)
    assert ([rule.name for rule in search.rules], reader.warnings) == (["AGENTS.md"], [])


def test_broken_front_matter_is_told_once_with_its_line(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "---\na: [1\n---\nTEXT"})
    (reader.root / "CLAUDE.md").symlink_to("AGENTS.md")
    search = find_rules(reader)
    assert [rule.text.body for rule in search.rules] == ["TEXT", "TEXT"]
    (warning,) = search.reader.warnings
    assert warning.location.startswith("CLAUDE.md:3")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_cannot_be_listed_ends_it(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/rules/r.md": "R"})
    (reader.root / ".agents/rules").chmod(0)
    with pytest.raises(CubError, match=r"\.agents/rules: cannot be listed"):
        find_rules(reader)
