"""In every shape of a project, a run brings each text to each agent once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from cub.actions.agent_context import AgentContext, render_missing_context
from cub.actions.agent_readers import describe_repeated_sources
from cub.actions.agents.agent_survey import InstalledAgent, make_overview
from cub.actions.init_update import InitOptions, plan_init
from cub.actions.project_texts import open_agent_files
from cub.actions.run.agent_texts import list_arguments, prepare_agent_context
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.files.file_tree import DiskTree
from cub.harness.harness_registry import NATIVE_HARNESSES
from cub.harness.native_harness import NativeHarness, NativeOptions
from cub.project.agent_reading import find_agent_reading, list_loaded_files
from cub.project.project import Project

MAP = "# Project map\n\nThe entry point is MAPMARK.\n"
OURS = "# Bakery\n\nBake before six, OURSMARK.\n\nFlour is in grams, FLOURMARK.\n"
RULES = "# Rules\n\nNever burn bread, RULESMARK.\n"
Files = dict[str, str]


class Shape(NamedTuple):
    """The files of a project, those of its user, and an agent's variables and arguments."""

    files: Files
    home: Mapping[str, str] = MappingProxyType({})
    arguments: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    environ: Mapping[str, str] = MappingProxyType({})


SHAPES: dict[str, Shape] = {
    "identical": Shape({"AGENTS.md": OURS, "CLAUDE.md": OURS}),
    "identical but for blanks": Shape(
        {"AGENTS.md": OURS, "CLAUDE.md": "\ufeff" + OURS.replace("\n", " \r\n") + "\r\n\r\n"}
    ),
    "identical but for the title": Shape(
        {"AGENTS.md": OURS, "CLAUDE.md": OURS.replace("# Bakery", "# CLAUDE.md")}
    ),
    "wrapped anew": Shape({"AGENTS.md": OURS, "CLAUDE.md": OURS.replace(" six,", "\nsix,")}),
    "quoted": Shape({"AGENTS.md": OURS, "CLAUDE.md": f"# Mine\n\nTHEIRMARK\n\n{OURS}\nEND\n"}),
    "quoted the other way": Shape({"CLAUDE.md": OURS, "AGENTS.md": f"THEIRMARK\n\n{OURS}"}),
    "imported and quoted": Shape({"AGENTS.md": OURS, "CLAUDE.md": f"@AGENTS.md\n\n{OURS}\nEND\n"}),
    "an import": Shape({"AGENTS.md": f"{OURS}\n@docs/rules.md\n", "docs/rules.md": RULES}),
    "an import of an import": Shape(
        {
            "AGENTS.md": f"{OURS}\nSee @docs/a.md for more.\n",
            "docs/a.md": "The first, FIRSTMARK.\n\n@b/rules.md\n",
            "docs/b/rules.md": RULES,
        }
    ),
    "both import the same": Shape(
        {
            "AGENTS.md": f"{OURS}\n@docs/rules.md\n",
            "CLAUDE.md": "THEIRMARK\n\n@AGENTS.md\n@docs/rules.md\n",
            "docs/rules.md": RULES,
        }
    ),
    "an import in code": Shape({"AGENTS.md": f"{OURS}\n`@docs/rules.md`\n", "docs/rules.md": "X"}),
    "an import that is missing": Shape({"AGENTS.md": f"{OURS}\n@docs/nothing.md\n"}),
    "each imports the other": Shape(
        {"AGENTS.md": f"@CLAUDE.md\n\n{OURS}", "CLAUDE.md": f"@AGENTS.md\n\n{RULES}"}
    ),
    "a link into docs": Shape({"AGENTS.md": "-> docs/REAL.md", "docs/REAL.md": OURS}),
    "a link to AGENTS.md": Shape({"AGENTS.md": OURS, "CLAUDE.md": "-> AGENTS.md"}),
    "both are links": Shape(
        {"AGENTS.md": "-> docs/R.md", "CLAUDE.md": "-> docs/R.md", "docs/R.md": OURS}
    ),
    "excluded by settings": Shape(
        {
            "AGENTS.md": OURS,
            "CLAUDE.md": f"@AGENTS.md\n\n{RULES}",
            ".claude/settings.json": '{"claudeMdExcludes": ["**/CLAUDE.md", "**/AGENTS.md"]}',
        }
    ),
    "excluded by the user": Shape(
        {"AGENTS.md": OURS}, {".claude/settings.json": '{"claudeMdExcludes": ["**/*.md"]}'}
    ),
    "bare": Shape({"AGENTS.md": OURS}, arguments={"claude": ("--bare",)}),
    "only the user's settings": Shape(
        {"AGENTS.md": OURS}, arguments={"claude": ("--setting-sources", "user")}
    ),
    "no project files": Shape(
        {"AGENTS.md": OURS}, arguments={"codex": ("-c", "project_doc_max_bytes=0")}
    ),
    "read by an argument": Shape({"AGENTS.md": OURS}, arguments={"aider": ("--read", "AGENTS.md")}),
    "a nested file": Shape({"AGENTS.md": OURS, "src/AGENTS.md": "Not at the root.\n"}),
    "the user's own beside": Shape(
        {
            "AGENTS.md": OURS,
            "CLAUDE.local.md": "LOCALMARK\n",
            ".claude/rules/r.md": "---\ntitle: x\n---\nRULESMARK\n",
            ".claude/rules/p.md": "---\npaths: [src/**]\n---\nNot at the start.\n",
        }
    ),
    "in the folder of Claude": Shape({"AGENTS.md": OURS, ".claude/CLAUDE.md": RULES}),
    "an override": Shape({"AGENTS.md": OURS, "AGENTS.override.md": RULES}),
    "GEMINI.md": Shape({"AGENTS.md": OURS, "GEMINI.md": f"@AGENTS.md\n\n{RULES}"}),
    "three lines": Shape({"AGENTS.md": "OURSMARK\n", "CLAUDE.md": "THEIRMARK\n"}),
    "the user has the same": Shape(
        {"AGENTS.md": OURS},
        {f"{name}.md": OURS for name in (".claude/CLAUDE", ".codex/AGENTS", ".pi/agent/AGENTS")},
    ),
    "the same by variables": Shape(
        {"AGENTS.md": OURS},
        {"cc/CLAUDE.md": OURS, "cx/AGENTS.override.md": f"USERMARK\n\n{OURS}"},
        environ={"CLAUDE_CONFIG_DIR": "cc", "CODEX_HOME": "cx"},
    ),
    "longer than the limit": Shape(
        {"AGENTS.md": "".join(f"A rule of bread, Line {n:05}\n" for n in range(2_000)) + "ENDMARK"}
    ),
}  # fmt: skip


def make_project(shape: Shape, root: Path, home: Path, *, map_first: bool = False) -> Project:
    """A project after `cub init`, on disk; the map is not tracked."""
    write_files(root, shape.files)
    write_files(home, shape.home)
    (root / ".git").mkdir(parents=True)
    (root / ".cub").mkdir()
    project = Project.from_tree(root, DiskTree(root), is_commit=True)
    if map_first:
        (root / ".cub/map.md").write_text(MAP)
    contents = plan_init(project, InitOptions()).contents
    for name, data in {**contents, ".cub/map.md": MAP.encode()}.items():
        assert data is not None
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return project


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_bytes(text.encode())


def see(
    project: Project, harness: NativeHarness, environ: Mapping[str, str], context: AgentContext
) -> str:
    """What reaches the model: the files with their imports, and what the run hands over."""
    files = open_agent_files(project, environ)
    arguments = (*list_arguments(harness), *context.arguments)
    loads = list_loaded_files(find_agent_reading(harness.name), replace(files, arguments=arguments))
    texts = [file.text for file in loads]
    return "\n".join([*texts, render_missing_context(context.sources)])


def count_marks(text: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Z]+MARK|Line \d{5}", text))


# opencode has no switch for these: the run says so.
REPEATED = {("the user has the same", "opencode"): {"OURSMARK", "FLOURMARK"}}


@pytest.mark.parametrize("agent", [profile.name for profile in NAMED_PROFILES])
@pytest.mark.parametrize("name", SHAPES)
def test_each_text_reaches_the_agent_once(name: str, agent: str, tmp_path: Path) -> None:
    shape, home = SHAPES[name], tmp_path / "home"
    project = make_project(shape, tmp_path / "project", home)
    environ = {key: (home / path).as_posix() for key, path in shape.environ.items()}
    environ["HOME"] = home.as_posix()
    kind = next(one for one in NATIVE_HARNESSES if one.facts.name == agent)
    harness = kind(NativeOptions(shape.arguments.get(agent, ())))
    context = prepare_agent_context(project, harness, "", environ)
    seen = see(project, harness, environ, context)
    counts = count_marks(seen)
    expected = dict.fromkeys([*count_marks("".join(shape.files.values())), "MAPMARK"], 1)
    expected |= dict.fromkeys(REPEATED.get((name, agent), ()), 2)
    assert {mark: counts[mark] for mark in expected} == expected
    assert seen.count("Work in tasks:") == 1
    assert seen.count("Verify before you ship") == 1
    told = list(describe_repeated_sources(context.sources, agent))
    assert len(told) == ((name, agent) in REPEATED)


@pytest.mark.parametrize(
    ("name", "agent", "fix"),
    [
        ("identical", "claude", ""),
        ("quoted", "claude", ""),
        ("a nested file", "claude", ""),
        ("the user's own beside", "claude", ""),
        (
            "excluded by settings",
            "claude",
            "remove CLAUDE.md and AGENTS.md from `claudeMdExcludes` in Claude Code's settings",
        ),
        (
            "a link into docs",
            "claude",
            "replace the link AGENTS.md with docs/REAL.md, so imports are found",
        ),
        ("bare", "claude", "change `harnesses.claude.args`: they keep it from loading files"),
        (
            "no project files",
            "codex",
            "change `harnesses.codex.args`: they keep it from loading files",
        ),
        (
            "the user has the same",
            "claude",
            "remove the text of AGENTS.md from ~/.claude/CLAUDE.md",
        ),
        ("imported and quoted", "claude", "remove the text of AGENTS.md from CLAUDE.md"),
    ],
)
def test_what_is_suggested_helps(name: str, agent: str, fix: str, tmp_path: Path) -> None:
    shape, home = SHAPES[name], tmp_path / "home"
    project = make_project(shape, tmp_path / "project", home, map_first=True)
    kind = next(one for one in NATIVE_HARNESSES if one.facts.name == agent)
    harness = kind(NativeOptions(shape.arguments.get(agent, ())))
    installed = InstalledAgent(harness, "", "")
    assert make_overview(installed, project, {"HOME": home.as_posix()}).fix == fix
