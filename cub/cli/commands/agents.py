"""Define `cub agents`, a table of agents, and `cub agents prove`, which starts them to see."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cub.cli import output
from cub.cli.json_output import agents_to_json, proofs_to_json
from cub.cli.options import Json, find_start_folder, load_project
from cub.cli.parameters import make_option
from cub.cli.stop_signals import interrupt_at_signals

if TYPE_CHECKING:
    from cub.actions.agent_context import ContextSource
    from cub.actions.agents.agent_proof import AgentProof, SourceProof
    from cub.actions.agents.agent_survey import AgentOverview, InstalledAgent

app = typer.Typer(add_completion=False, invoke_without_command=True, no_args_is_help=False)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME...]", help="Agents to start. [default: all installed agents]"),
]
Trust = Annotated[
    bool, make_option("--trust", "Let the project's hooks and servers run, for this command only.")
]
After = Annotated[
    Literal["resume", "compaction", "subagent"] | None,
    make_option("--after", "Count in the first request after this moment of a session."),
]
_MAX_NAMED = 3  # files
# What the figures mean, for the columns that a table has.
_LEGEND = {
    "tokens": "estimated tokens of all files that the agent loads on its own",
    "AGENTS.md": "how often the agent loads your text in this file",
    "CLAUDE.md": "how often the agent loads your text in this file",
    "section": "how often the agent loads cub's managed section",
    "constitution": "how often the agent loads .cub/constitution.md",
    "map": "how often the agent loads .cub/map.md",
    "cut": "the agent loads only the start of the file",
}


@app.callback()
def agents(context: typer.Context, json: Json = False) -> None:
    """List agents, their versions, and what each one reads here.

    The table shows the files that an agent loads on its own if you start it in this directory.
    `cub run` starts it at the project's root, and passes the rest in the prompt.

    Example: cub agents
    """
    if context.invoked_subcommand:
        return
    from cub.actions.agents.agent_survey import survey_agents

    project = load_project(context)
    if not json:
        output.print_warnings(project.config.warnings)
    folder = find_start_folder(context, project.root)
    overviews = survey_agents(project, os.environ, folder)
    if json:
        output.print_json(agents_to_json(overviews, project.config.warnings, project.root))
        return
    _print_overviews(overviews)


def _print_overviews(overviews: Sequence[AgentOverview]) -> None:
    """Print how often each agent reads each text by itself, and then what is to be done."""
    numbers = [n for n, one in enumerate(overviews[0].sources) if _shorten_label(one) in _LEGEND]
    names = [_shorten_label(overviews[0].sources[number]) for number in numbers]
    rows = []
    for overview in overviews:
        agent = overview.agent
        sources = [overview.sources[number] for number in numbers if overview.sources]
        cells = [f"{overview.tokens:,}", *map(_format_count, sources)]
        if not overview.sources:
            cells = ["not known", *("" for _ in names)]
        rows.append([agent.title, _format_version(agent), *cells])
    output.print_table(("agent", "version", "tokens", *names), rows, prose=("version",))
    output.print_legend(_LEGEND, "\n".join(["tokens", *names, *chain.from_iterable(rows)]))
    _print_other_texts(overviews)
    steps = [(overview.agent.title, step) for overview in overviews if (step := _suggest(overview))]
    if steps:
        output.print_line()
        output.print_table(("agent", "to do"), steps, prose=("to do",))


def _print_other_texts(overviews: Sequence[AgentOverview]) -> None:
    """Print how often each agent loads rules, imported files, and those of subdirectories."""
    known = [overview for overview in overviews if overview.sources]
    rows = []
    for number, source in enumerate(overviews[0].sources):
        if _shorten_label(source) not in _LEGEND:
            counts = (_format_count(overview.sources[number]) for overview in known)
            rows.append((source.label.removesuffix(" (yours)"), *counts))
    if rows:
        output.print_line()
        names = [overview.agent.name for overview in known]
        output.print_table(("other text", *names), rows, prose=("other text",))


def _format_count(source: ContextSource) -> str:
    from cub.actions.agents.text_marks import Arrival

    return Arrival(source.times, source.is_incomplete).to_text()


def _shorten_label(source: ContextSource) -> str:
    """Return the title of a text's column: `AGENTS.md`, `section`, `constitution` or `map`."""
    last_word = source.label.removesuffix(" (yours)").rpartition(" ")[2]
    return last_word.removeprefix(".cub/").removesuffix(".md" * last_word.startswith(".cub/"))


def _format_version(agent: InstalledAgent) -> str:
    if agent.problem:
        return "not installed"
    facts = agent.harness.facts
    if facts.is_outdated(agent.version):
        return f"{agent.version}, older than {facts.oldest_version}"
    return agent.version or "not known"


def _suggest(overview: AgentOverview) -> str:
    if overview.agent.problem:
        return overview.agent.harness.installation or overview.agent.problem
    return overview.fix


@app.command()
def prove(
    context: typer.Context,
    names: Names = None,
    after: After = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Start agents, and show which files reach their model.

    cub starts each agent in a copy of the project, with a separate HOME and, if the system allows
    it, without network access. A local server replaces the model.

    The columns count how often each file arrived in interactive use and in `cub run`. Exits 1 if
    a file did not arrive exactly once, in full, in `cub run`. With `-C`, interactive use starts in
    that directory of the project.

    With --after, the exit code ignores the prompts of a run, and agents that cub cannot bring to
    that moment.

    Example: cub agents prove claude
    """
    from cub.actions.agents.agent_proof import prove_agent
    from cub.actions.agents.agent_survey import choose_agents, list_agents
    from cub.project.trust_store import load_trust
    from cub.store.store_paths import find_store_root

    project = load_project(context)
    if not json:
        output.print_warnings(project.config.warnings)
    chosen = choose_agents(list_agents(project, os.environ, names or ()), names or ())
    trusted = None if trust else load_trust(find_store_root(project.root))
    folder = find_start_folder(context, project.root)
    proofs = []
    with interrupt_at_signals():
        for agent in chosen:
            proof = prove_agent(
                agent, project, os.environ, trusted=trusted, folder=folder, after=after or ""
            )
            proofs.append(proof)
            if not json:
                _print_proof(proof)
    if json:
        output.print_json(proofs_to_json(proofs, project.config.warnings, project.root))
    raise typer.Exit(0 if all(proof.is_kept for proof in proofs) else 1)


def _print_proof(proof: AgentProof) -> None:
    """Print what was seen of one agent, and what may be different for the user."""
    network = "no network" if proof.is_offline else "a network, which can't be switched off here"
    output.print_heading(f"{proof.title} {proof.version or '(version not known)'}")
    moment = f" after {proof.after}" if proof.after else ""
    if proof.problem:
        unknown = f"unknown{moment}" if moment else "not proven"
        failure = unknown if proof.is_tested else f"cannot be tested{moment}"
        output.print_paragraph(f"{failure}: {proof.problem}")
        return
    rows = [_make_proof_row(source) for source in proof.sources]
    output.print_table(("text", "tokens", "interactive", "cub run"), rows, prose=("text",))
    for title, names in (
        (f"not read{moment or ' at the start'}", proof.unread),
        ("not trusted, so left out", proof.left_out),
        ("not used, and may change the result", proof.unused),
    ):
        if names:
            rest = len(names) - _MAX_NAMED
            more = f", and {rest} more" if rest > 0 else ""
            output.print_message(f"{title}: {', '.join(names[:_MAX_NAMED])}{more}")
    output.print_message(f"The agent had {network}.")


def _make_proof_row(source: SourceProof) -> tuple[str, ...]:
    interactive, run = (
        "unknown" if seen is None else seen.to_text() for seen in (source.interactive, source.run)
    )
    return source.label, f"{source.tokens:,}", interactive if source.path else "-", run
