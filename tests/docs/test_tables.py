"""What pages say about the code is so: the files that they name, and the tables of a review."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.core import TyperCommand

from cub.actions.review.section_verdict import VERDICT_MEANINGS
from cub.cli.commands.context import app as context_app
from cub.harness.acp_harness import ACP_AGENTS
from cub.harness.harness_registry import NATIVE_HARNESSES
from cub.project.executable_config import ExecutableKind, classify_executable_path
from tests.docs.pages import DOCS

_CODE = re.compile(r"`((?:cub|tests|templates|migrations|golden)/[\w/.-]*)`")
_ANY = re.compile(r"NNNN-\w+|\bvN\b")  # stand for any name, any version
AGENTS = DOCS / "reference" / "agents.md"
REVIEW = DOCS / "how-to" / "review.md"
_LINK = re.compile(r"\[(.+)\]\((.+)\)")


def rows(page: Path, header: str) -> Iterator[list[str]]:
    """The cells of a table's rows, found by the first cell of its header."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(f"| {header} |"):
            next(lines)
            for row in lines:
                if not row.startswith("|"):
                    return
                yield [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
)
def test_every_file_of_the_code_that_a_page_names_is_there(page: str) -> None:
    named = _CODE.findall((DOCS / page).read_text(encoding="utf-8"))
    gone = [name for name in named if not any(DOCS.parent.glob(_ANY.sub("*", name)))]
    assert gone == []


def test_the_verdicts_are_those_of_a_review() -> None:
    assert [row[0] for row in rows(REVIEW, "Verdict")] == list(VERDICT_MEANINGS)


def test_the_examples_of_what_executes_are_of_their_kind() -> None:
    told = {row[0]: re.findall(r"`([^`]+)`", row[1]) for row in rows(REVIEW, "Kind")}
    assert sorted(told) == sorted(get_args(ExecutableKind))
    del told["command"]  # keys of config.yaml, and no files
    for kind, examples in told.items():
        for name in examples:
            path = name.replace("…", "x") + ("x" if name.endswith("/") else "")
            assert classify_executable_path(path) == kind, name


def test_the_agents_are_those_that_cub_knows() -> None:
    links, agents = [], []
    for agent, program, version, _tokens, dollars in (
        r for r in rows(AGENTS, "Agent") if len(r) == 5
    ):
        found = _LINK.fullmatch(agent)
        assert found, agent
        links.append(AGENTS.parent / found[2])
        agents.append((found[1], program.strip("`"), version, dollars != "no"))
    facts = [harness.facts for harness in NATIVE_HARNESSES]
    assert agents == [(f.title, f.program, f.oldest_version, f.reports_cost) for f in facts]
    for link, one in zip(links, facts, strict=True):
        assert one.installation in link.read_text(encoding="utf-8"), link.name


def test_the_presets_for_the_agent_client_protocol_are_those_of_the_code() -> None:
    page = [[cell.strip("`") for cell in row] for row in rows(AGENTS, "Preset")]
    presets = [
        [one.name, " ".join(one.argv), one.modes.get("auto", ""), one.modes.get("bypass", "")]
        for one in ACP_AGENTS
    ]
    assert [row[:4] for row in page] == presets
    assert [row[4] != "no" for row in page] == [one.is_tried for one in ACP_AGENTS]


def test_options_for_those_of_other_tools_are_options_of_cub_context() -> None:
    command = typer.main.get_command(context_app)
    assert isinstance(command, TyperCommand)
    there = {name for one in command.params for name in one.opts} | {"-C"}
    page = DOCS / "how-to" / "migrate-context-tools.md"
    moved = list(rows(page, "Before"))
    named = [old if new.startswith("the same") else new for old, new in moved]
    options = {one for text in named for one in re.findall(r"`(--?\w[\w-]*)", text)}
    assert options >= {"--agent", "--exec", "--no-bootstrap", "-p"}
    assert options <= there
