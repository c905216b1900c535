"""The page about what reaches each agent's model, rendered from what was seen: `render`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from cub.harness.harness_registry import NATIVE_HARNESSES
from tests.agents.parity_cells import CELLS, SHAPES

TITLES = {kind.facts.name: kind.facts.title for kind in NATIVE_HARNESSES}
_COLUMNS = {
    "AGENTS.md (yours)": "`AGENTS.md`",
    "CLAUDE.md (yours)": "`CLAUDE.md`",
    "managed section": "section",
    ".cub/constitution.md": "constitution",
    ".cub/map.md": "map",
}
_PROJECTS = {  # a heading, and what the project has
    "only AGENTS.md": ("Only AGENTS.md", "You wrote `AGENTS.md`, and ran `cub init`."),
    "only CLAUDE.md": ("Only CLAUDE.md", "You wrote `CLAUDE.md`, and ran `cub init`."),
    "both": (
        "Both without an import",
        "You wrote `AGENTS.md` and `CLAUDE.md`, and neither imports the other.",
    ),
    "none": ("No file", "You had no instruction file, and ran `cub init`."),
    "import": (
        "Both with an import",
        "You wrote `AGENTS.md` and `CLAUDE.md`, which has the line `@AGENTS.md`.",
    ),
    "symlink": ("A symbolic link", "`CLAUDE.md` is a symbolic link to your `AGENTS.md`."),
    "inline": (
        "Texts in the section",
        "You wrote `AGENTS.md`, and the configuration has `inline: [map, constitution]`.",
    ),
    "init --agent": (
        "With `cub init --agent`",
        "You wrote `AGENTS.md`, and ran `cub init --agent` with the agent's name.",
    ),
}
_HEAD = """\
# What reaches each agent

This page shows how often each of a project's texts reaches an agent's model. It was seen with the
real agents, in eight projects that differ in their instruction files. To see it for your project,
run [`cub agents prove`](../how-to/prove-what-agents-read.md).

- The columns of texts are for interactive use: what the agent loads by itself.
- The column `cub run` covers all of these texts, the rules of a run, and the task's prompt: a run
  hands over what the agent would miss.
- The last column says what to do so that each text reaches the agent's model once in interactive
  use. It was done, and the agent was started again to see that it helps.

The page is generated. `python -m tests.agents.parity_cells` starts the agents against a model
server, and writes `tests/agents/parity.json`. From that, `python -m tests.docs.parity` makes the
page. Tests compare both with what cub says of each agent."""


def render() -> str:
    """The page."""
    tree = json.loads(CELLS.read_text(encoding="utf-8"))
    versions = ", ".join(f"{TITLES[name]} {number}" for name, number in tree["versions"].items())
    return "\n\n".join([_HEAD, f"Seen with {versions}.", *_sections(tree["cells"])]) + "\n"


def _sections(cells: dict[str, Any]) -> Iterator[str]:
    for shape in SHAPES:
        heading, about = _PROJECTS[shape]
        yield from (f"## {heading}", about)
        yield "\n".join(_table({agent: cells[agent][shape] for agent in cells}))


def _table(cells: dict[str, Any]) -> Iterator[str]:
    labels = [label for label in _COLUMNS if any(label in c["interactive"] for c in cells.values())]
    header = ["Agent", *(_COLUMNS[label] for label in labels), "`cub run`", "To do"]
    yield _row(header)
    yield "|---" * len(header) + "|"
    for agent, cell in cells.items():
        numbers = [cell["interactive"].get(label, "") for label in labels]
        steps = "; then ".join(f"`{one}`" if one.startswith("cub ") else one for one in cell["fix"])
        yield _row([TITLES[agent], *numbers, _sum_up(cell["run"]), steps])


def _sum_up(use: dict[str, str]) -> str:
    """1 if that is so of all texts, else those of which it is not."""
    return "; ".join(f"{label}: {text}" for label, text in use.items() if text != "1") or "1"


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"


if __name__ == "__main__":
    sys.stdout.buffer.write(render().encode())
