from __future__ import annotations

import re
from pathlib import Path

from cub.agent.memory import MAX_OWN_TEXT, Memory, load_memory
from cub.edit.document import Document
from cub.edit.section_writer import put_section
from tests.context.places import make_reader

BODY = "## cub\n\nUse `cub task ready`.\n\n- Map: @.cub/map.md\n"


def add_section(text: str, body: str = BODY) -> str:
    document = Document.parse(text.encode(), "AGENTS.md")
    return put_section(document, body, version=1).document.data.decode()


def load(tmp_path: Path, files: dict[str, str], start: str = "") -> Memory:
    memory = load_memory(make_reader(tmp_path, files, start))
    # Folders above the test's own may have instructions, too.
    blocks = re.findall(r"<instructions file=\"(?!\.\./\.\./)[^>]*>.*?</instructions>",
                        memory.instructions, re.DOTALL)  # fmt: skip
    memory.instructions = "\n\n".join(blocks)
    return memory


def list_names(memory: Memory) -> list[str]:
    return re.findall(r'<instructions file="([^"]*)">', memory.instructions)


def test_priorities_rise_from_the_user_to_the_local_file(tmp_path: Path) -> None:
    files = {
        "proj/CLAUDE.local.md": "local",
        "proj/.claude/rules/style.md": "rule",
        "proj/.github/instructions/a.instructions.md": "another rule",
        "proj/CLAUDE.md": "claude",
        "proj/AGENTS.md": "agents",
        "proj/GEMINI.md": "gemini",
        "proj/.github/copilot-instructions.md": "copilot",
        "home/.claude/CLAUDE.md": "user",
        "home/.codex/AGENTS.md": "user of codex",
        "up/AGENTS.md": "above",
    }
    assert list_names(load(tmp_path, files)) == [
        "~/.codex/AGENTS.md",
        "~/.claude/CLAUDE.md",
        "../AGENTS.md",
        ".github/copilot-instructions.md",
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".github/instructions/a.instructions.md",
        ".claude/rules/style.md",
        "CLAUDE.local.md",
    ]


def test_files_near_the_start_come_after_those_of_the_root(tmp_path: Path) -> None:
    files = {"proj/AGENTS.md": "root", "proj/api/AGENTS.md": "near", "proj/api/x": ""}
    names = list_names(load(tmp_path, files, "api"))
    assert names == ["../AGENTS.md", "AGENTS.md"]


def test_imports_are_followed_and_each_text_is_there_once(tmp_path: Path) -> None:
    files = {
        "proj/AGENTS.md": "Ours.\n\n@docs/more.md\n",
        "proj/CLAUDE.md": "@AGENTS.md\n",
        "proj/docs/more.md": "More of it.\n",
    }
    memory = load(tmp_path, files)
    assert memory.instructions.count("Ours.") == 1
    assert memory.instructions.count("More of it.") == 1


def test_the_managed_section_and_its_imports_are_there_once_and_whole(tmp_path: Path) -> None:
    map_text = "a line of the map\n" * 2_000
    files = {
        "proj/AGENTS.md": add_section("a" * 30_000 + "\n"),
        "proj/CLAUDE.md": add_section("Claude's.\n"),
        "proj/.cub/map.md": map_text,
    }
    text = load(tmp_path, files).instructions
    assert text.count("cub task ready") == 1
    assert text.count("a line of the map") == 2_000
    assert max(map(len, re.findall("a+", text))) == MAX_OWN_TEXT
    assert "[cut after 10,000 characters: read AGENTS.md for the rest]" in text


def test_the_limit_counts_the_text_on_both_sides_of_the_section(tmp_path: Path) -> None:
    text = add_section("x" * 6_000 + "\n") + "\n" + "y" * 6_000 + "\n"
    instructions = load(tmp_path, {"proj/AGENTS.md": text, "proj/.cub/map.md": "m"}).instructions
    assert instructions.count("x" * 6_000) == 1
    assert 3_900 < instructions.count("y") < 4_010
    assert "cub task ready" in instructions


def test_what_an_import_brings_does_not_count(tmp_path: Path) -> None:
    files = {"proj/AGENTS.md": "@long.md\n", "proj/long.md": "z" * 15_000}
    assert load(tmp_path, files).instructions.count("z") == 15_000


def test_rules_for_paths_wait_for_a_file_of_theirs(tmp_path: Path) -> None:
    files = {
        "proj/.claude/rules/python.md": "---\npaths: ['**/*.py']\n---\nType hints.\n",
        "proj/.github/instructions/go.instructions.md": "---\napplyTo: '**/*.go'\n---\nErrors.\n",
        "proj/.claude/rules/all.md": "For all.\n",
    }
    memory = load(tmp_path, files)
    assert list_names(memory) == [".claude/rules/all.md"]
    root = memory.root
    assert memory.take_rules(root / "README.md") == ""
    assert memory.take_rules(root.parent / "elsewhere.py") == ""
    rules = memory.take_rules(root / "shop/price.py")
    assert rules == ('<instructions file=".claude/rules/python.md">\nType hints.\n</instructions>')
    assert memory.take_rules(root / "shop/other.py") == ""
    assert "Errors." in memory.take_rules(root / "main.go")
    memory.restore_rules()
    assert memory.take_rules(root / "README.md") == ""
    assert memory.take_rules(root / "shop/other.py") == rules
    assert memory.take_rules(root / "shop/price.py") == ""


def test_a_file_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "up/proj").mkdir(parents=True)
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "up/proj/AGENTS.md").symlink_to(tmp_path / "secret")
    memory = load(tmp_path, {"proj/CLAUDE.md": "ours"})
    assert list_names(memory) == ["CLAUDE.md"]
    assert any("leads out of the project" in warning.message for warning in memory.warnings)


def test_a_copy_gives_the_rules_that_the_first_one_has_given(tmp_path: Path) -> None:
    rule = "---\npaths: ['**/*.{}']\n---\nFor {}.\n"
    memory = load(
        tmp_path, {f"proj/.claude/rules/{end}.md": rule.format(end, end) for end in ("py", "go")}
    )
    root = memory.root
    rules = memory.take_rules(root / "price.py")
    assert "For py." in rules
    copy = memory.copy()
    assert copy.take_rules(root / "other.py") == rules
    assert "For go." in copy.take_rules(root / "main.go")
    assert "For go." in memory.take_rules(root / "main.go")
    assert memory.take_rules(root / "other.py") == ""
