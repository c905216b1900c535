"""The words that may come next, each with what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from typer.core import TyperGroup, TyperOption

from cub.cli.completion import value_sources
from cub.cli.completion.command_line import CompletableParameter, CompletionContext
from cub.cli.completion.value_sources import Candidate
from cub.cli.terminal import escape_invisible

ValueSource = Callable[[CompletionContext], Iterable[Candidate]]

# What an option of a name takes is the same for all commands.
OPTION_SOURCES: dict[str, ValueSource] = {
    "--agent": value_sources.list_agents,
    "--depends-on": value_sources.list_unclosed_tasks,
    "--epic": value_sources.list_epics,
    "--format": value_sources.list_formats,
    "--harness": value_sources.list_harnesses,
    "--install-completion": value_sources.list_shells,
    "--label": value_sources.list_labels,
    "--parent": value_sources.list_parent_tasks,
    "--priority": value_sources.list_priorities,
    "--profile": value_sources.list_profiles,
    "--show-completion": value_sources.list_shells,
    "--status": value_sources.list_task_statuses,
    "--targets": value_sources.list_targets,
    "--task": value_sources.list_unclosed_tasks,
    "--type": value_sources.list_task_types,
    "--unlabel": value_sources.list_labels,
}
# Arguments go by how they are shown.
ARGUMENT_SOURCES: dict[str, ValueSource] = {
    "ID": value_sources.list_command_tasks,
    "OTHER": value_sources.list_dependency_tasks,
    "KEY": value_sources.list_config_keys,
    "VALUE": value_sources.list_config_values,
}
# Their values may be lists with commas.
COMMA_LIST_OPTIONS = ("--agent", "--depends-on", "--harness", "--label", "--targets", "--unlabel")


def list_candidates(completion: CompletionContext, *, with_descriptions: bool) -> list[Candidate]:
    """What may stand at a place, in the order in which it is to be shown.

    Without `with_descriptions`, nothing is loaded only to say what a word means.
    """
    if completion.parameter is not None:
        found = _values(completion, completion.parameter)
    elif completion.current_word.startswith("-"):
        found = _option_names(completion)
    elif isinstance(completion.command, TyperGroup):
        found = _command_names(completion, completion.command, described=with_descriptions)
    else:
        found = iter(())
    return [
        (completion.word_prefix + word, _one_line(about)) for word, about in found if _is_safe(word)
    ]


def _values(completion: CompletionContext, parameter: CompletableParameter) -> Iterator[Candidate]:
    source = find_value_source(parameter)
    if source is None:
        for item in parameter.shell_complete(completion.context, completion.current_word):
            if item.type == "plain":
                yield str(item.value), item.help or ""
        return
    done = ""
    if any(name in COMMA_LIST_OPTIONS for name in parameter.opts):
        done, comma, completion.current_word = completion.current_word.rpartition(",")
        done += comma
    taken = {*done.split(",")}
    for word, about in source(completion):
        if word.startswith(completion.current_word) and word not in taken:
            yield done + word, about


def find_value_source(parameter: CompletableParameter) -> ValueSource | None:
    """Where the values of a parameter come from; None where its type, or nobody, tells."""
    if isinstance(parameter, TyperOption):
        return next(
            (OPTION_SOURCES[name] for name in parameter.opts if name in OPTION_SOURCES), None
        )
    return ARGUMENT_SOURCES.get((parameter.metavar or "").strip("[].").partition("...")[0])


def _option_names(completion: CompletionContext) -> Iterator[Candidate]:
    for option in completion.list_options():
        for name in (*option.opts, *option.secondary_opts):
            if name.startswith(completion.current_word) and (
                name.startswith("--") or len(completion.current_word) == 1
            ):
                yield name, option.help or ""


def _command_names(
    completion: CompletionContext, group: TyperGroup, *, described: bool
) -> Iterator[Candidate]:
    names = [
        name
        for name in group.list_commands(completion.context)
        if name.startswith(completion.current_word)
    ]
    for name in names:
        # Of the commands of cub itself, each is a module to be loaded; none of them is hidden.
        if not described and completion.context.parent is None:
            yield name, ""
            continue
        command = group.get_command(completion.context, name)
        if command is not None and not command.hidden:
            yield name, (command.help or "").strip().partition("\n")[0]


def _is_safe(word: str) -> bool:
    """Whether a word can be typed as it is shown."""
    return word.isprintable() and escape_invisible(word) == word


def _one_line(text: str) -> str:
    """What a word means, as one line of what can be seen."""
    line = escape_invisible(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return line if len(line) <= 80 else f"{line[:79]}…"
