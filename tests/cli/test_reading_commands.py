"""No text in a project's files ends a command that reads them with an internal error.

The commands are those of the app: a new one reads, has an option with which it only looks, or is
named as one that writes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.core import TyperOption

from tests.cli.command_tree import walk_commands
from tests.cli.tasks import ALL, put, put_events
from tests.cli.test_closed_pipes import KEY, WORDS
from tests.command_line import call_cub
from tests.conftest import environment
from tests.edit.strategies import ANYTHING

SHARED = os.environ.get("CUB_SHARED", "")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and a FIFO")

WRITES = {
    *(f"task {verb}" for verb in ("add", "edit", "claim", "close", "reopen", "park", "start")),
    *(f"task {verb}" for verb in ("done", "delete", "dep add", "dep remove")),
    *("code", "demo", "ledger archive", "agents prove"),
}
LOOKS = ("--dry-run", "--diff", "--check", "--stdout", "--show")
MORE = {
    "context": [
        *(["--agent", name] for name in ("claude", "codex", "gemini", "cursor")),
        ["--path", "src/a.py"],
        ["fix"],
    ],
    "prompt": [["--system"]],
    "run": [["--dry-run", "--harness", "scripted"]],
    "task list": [["--tree", "--status", "all"]],
}


def list_readings() -> Iterator[list[str]]:
    """Every command that reads, as it is called to do nothing else."""
    for name, context in walk_commands():
        command = context.command
        if name in WRITES or not getattr(command, "invoke_without_command", True):
            continue
        flags = {p.opts[-1] for p in command.params if isinstance(p, TyperOption) and p.is_flag}
        usual = [word for word in WORDS.get(name, "").split() if not word.startswith("-")]
        is_keyed = any(p.required for p in command.params) and not usual
        words = [*name.split(), *usual, *[KEY] * is_keyed]
        looks = [[option] for option in LOOKS if option in flags] or [[]]
        yield from ([*words, *more] for more in looks + MORE.get(name, []))
        if "--json" in flags:
            yield [*words, *looks[0], "--json"]


READINGS = list(list_readings())
PLACES = (
    *("AGENTS.md", "CLAUDE.md", "pkg/AGENTS.md", "GEMINI.md", "agents.md", "CLAUDE.local.md"),
    *(".cub/constitution.md", ".cub/map.md", ".cub/tasks.jsonl", ".cub/ledger.jsonl"),
    *(".claude/CLAUDE.md", ".claude/rules/a.md", ".cursor/rules/a.mdc", ".agents/tasks/fix.md"),
    *(".claude/settings.json", ".gemini/settings.json", "opencode.json", ".aider.conf.yml"),
    *(".codex/config.toml", "README.md", "pyproject.toml", "package.json", "src/a.py", "Makefile"),
    *(".cub/config.yaml", ".cub/state.json", ".gitignore", ".gitattributes", ".cub/runloop.md"),
)
PIECES = [
    "@C:\\Users\\me\\notes.md",
    "**Use @scope/pkg**",
    "@a`b`",
    "@\\_x",
    "@" + "x" * 300,
    "@~/x.md",
    "@~no-one/x",
    "@.",
    "@..",
    "@/",
    "@/etc/hostname",
    "@AGENTS.md",
    "@./CLAUDE.md",
    "@AGENTS.md/x",
    "@loop",
    "@loop/x.md",
    "@fifo",
    "@pkg",
    "@.cub",
    "@a\0b",
    "@" + "a/" * 2500,
    "@pkg/../AGENTS.md",
    "[x](a\0b)",
    "[x](@y)",
    "[x]: <a b>",
    f"[x]({'y' * 5000})",
    "!`date`",
    "${x}",
    "{{ x }}",
    "{% if %}",
    "AGENTS.md",
    "CLAUDE.md",
    "CON",
    "---",
    "globs: *.ts",
    "description: Use: x",
    "a: [1, {b: 2}",
    "&a *a",
    "<!-- BEGIN CUB MANAGED SECTION v1 -->",
    "<!-- END CUB MANAGED SECTION -->",
    "<!--",
    "-->",
    "```",
    '{"id":"b-1","title":"x"}',
    '{"id":1}',
    "[]",
    "null",
    "1e999",
    '"\\ud800"',
    "[tool.x]",
    "x = [",
    "\t",
    "",
    "def f(): pass",
    "test:\n\tpytest",
    "* filter=x",
    "\x1b[2J",
    "\u200b",
    "\ud7ff",
    "🐻" * 40,
    "9" * 5000,
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda parts: "\n".join(parts).encode()),
    st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=8).map(
        lambda parts: " ".join(parts).encode("utf-8", "replace")
    ),
    ANYTHING,
)
FILES = st.dictionaries(st.sampled_from(PLACES), TEXTS, min_size=8, max_size=8)


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project in which every command has something to read, to be copied."""
    folder = tmp_path_factory.mktemp("bakery")
    root = folder / "project"
    shutil.copytree(empty_repository, root)
    (root / "pkg").mkdir()
    (root / "AGENTS.md").write_bytes(b"# Bakery\n")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    assert call_cub(["init", "pkg"], cwd=root, environ=environment(folder)).code == 0
    put(root, *ALL)
    put_events(root, {"ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "task": KEY})
    return root


def find_faults(root: Path, files: Mapping[str, bytes], calls: list[list[str]]) -> list[str]:
    """Have the commands read these files; return what ended in an internal error."""
    old = {path: (root / path).read_bytes() if (root / path).exists() else None for path in files}
    faults = []
    try:
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        for words in calls:
            done = call_cub(words, cwd=root, environ=environment(root.parent))
            if done.code not in (0, 1, 2, 4) or "Traceback" in done.out + done.err:
                faults.append(f"{' '.join(words)}: {done.code}\n{done.err}")
    finally:
        for path, before in old.items():
            (root / path).unlink()
            if before is not None:
                (root / path).write_bytes(before)
    return faults


def test_every_command_reads_or_is_named_as_one_that_writes() -> None:
    names = {name for name, _ in walk_commands()}
    assert names >= WRITES
    called = {" ".join(words) for words in READINGS}
    assert called >= {"status", "agents", "doctor", "context", "update --diff", "run --dry-run"}


def test_the_oddest_words_end_no_command_with_an_internal_error(bakery: Path) -> None:
    texts = {"AGENTS.md": "\n\n".join(PIECES).encode()}
    calls = [["status"], ["agents"], ["context", "--agent", "claude"]]
    assert find_faults(bakery, texts, calls) == []


@settings(max_examples=1)
@given(files=FILES, calls=st.lists(st.sampled_from(READINGS), min_size=6, max_size=6))
def test_no_text_ends_a_command_with_an_internal_error(
    bakery: Path, files: dict[str, bytes], calls: list[list[str]]
) -> None:
    assert find_faults(bakery, files, calls) == []


@pytest.mark.thorough
@pytest.mark.parametrize("_part", range(42))
@settings(max_examples=3)
@given(files=FILES)  # 8 files an example: 1,000 in all
def test_no_thousand_texts_end_a_command_with_an_internal_error(
    bakery: Path, files: dict[str, bytes], _part: int
) -> None:
    assert find_faults(bakery, files, READINGS) == []


@pytest.mark.thorough
@pytest.mark.skipif(not SHARED, reason="CUB_SHARED is not set")
@pytest.mark.parametrize("part", range(50))
def test_no_real_file_ends_a_command_with_an_internal_error(bakery: Path, part: int) -> None:
    every = sorted(Path(SHARED, "corpus", "files").iterdir())
    assert len(every) >= 125
    for file in every[part::50]:
        for name in ("AGENTS.md", "CLAUDE.md"):
            assert find_faults(bakery, {name: file.read_bytes()}, READINGS) == [], file.name
