"""The page about where rules are, rendered from the table of their locations: `render`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from cub.agent_profiles.agent_profile import RuleScope
from cub.project.rule_locations import RuleLocation, list_rule_locations

_HEAD = """\
# Rules

This page lists where [`cub context`](context.md) finds rules: files and directories with
instructions for agents. The rows are in the order of the output.

- A path that ends with `/` is a directory. Each `.md` and `.mdc` file in it and below it is a rule,
  in the order of their paths. Names that begin with a dot are skipped.
- The second column lists the agents that read a rule on their own. Rules without an agent are for
  `cub context` and other programs of this kind.
- Skills, slash commands and definitions of agents are not rules.

The page is generated from `cub/agent_profiles/` and `cub/project/rule_locations.py`. After a
change, run `python -m tests.docs.rule_table > docs/reference/rules.md`; a test compares the two."""
_SECTIONS: dict[RuleScope, tuple[str, str]] = {
    "project": (
        "Rules of the project",
        """\
Relative to the directory of the call, and to each directory above it up to the project's root. The
nearest directory comes first, with all of its rows.""",
    ),
    "parent": (
        "Rules above the project",
        """\
Relative to each directory above the project's root, up to the root of the file system. The nearest
directory comes first.""",
    ),
    "user": ("Your own rules", "Relative to your home directory."),
}


def render() -> str:
    """The page."""
    return "\n\n".join([_HEAD, *_sections()]) + "\n"


def _sections() -> Iterator[str]:
    for scope, (heading, text) in _SECTIONS.items():
        rows = [_row(location) for location in list_rule_locations(scope)]
        table = "\n".join(["| Path | Agents that read it |", "|---|---|", *rows])
        yield from (f"## {heading}", text, table)


def _row(location: RuleLocation) -> str:
    start = "~/" if location.scope == "user" else ""
    note = " (files directly in it)" if location.is_flat else ""
    return f"| `{start}{location.path}`{note} | {', '.join(location.agents)} |"


if __name__ == "__main__":
    sys.stdout.buffer.write(render().encode())
