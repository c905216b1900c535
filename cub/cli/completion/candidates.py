"""List the words that may come next, each with its description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from typer.core import TyperGroup, TyperOption

from cub.cli.completion import value_sources
from cub.cli.completion.command_line import CompletableParameter, CompletionContext
from cub.cli.completion.value_sources import Candidate
from cub.cli.terminal import escape_invisible

ValueSource = Callable[[CompletionContext], Iterable[Candidate]]

# An option takes the same values in all commands.
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
# Arguments are found by their metavar.
ARGUMENT_SOURCES: dict[str, ValueSource] = {
    "ID": value_sources.list_command_tasks,
    "TASKFILE": value_sources.list_task_files,
    "RUN|TASK": value_sources.list_command_tasks,
    "OTHER": value_sources.list_dependency_tasks,
    "KEY": value_sources.list_config_keys,
    "VALUE": value_sources.list_config_values,
}
# Options that take lists with commas.
COMMA_LIST_OPTIONS = ("--agent", "--depends-on", "--harness", "--label", "--targets", "--unlabel")


def list_candidates(completion: CompletionContext, *, with_descriptions: bool) -> list[Candidate]:
    """Return the words that may come next, in the order in which they are to be shown.

    Without `with_descriptions`, no module is loaded only for a description.
    """
    words: Iterable[Candidate] = ()
    if completion.parameter is not None:
        words = _iter_values(completion, completion.parameter)
    elif completion.current_word.startswith("-"):
        words = _iter_option_names(completion)
    elif isinstance(completion.command, TyperGroup):
        words = _iter_command_names(completion, completion.command, described=with_descriptions)
    return [
        (completion.word_prefix + word, _make_one_line(about))
        for word, about in words
        if word.isprintable() and escape_invisible(word) == word  # can be typed as it is shown
    ]


def _iter_values(
    completion: CompletionContext, parameter: CompletableParameter
) -> Iterator[Candidate]:
    source = find_value_source(parameter)
    if source is None:
        for item in parameter.shell_complete(completion.context, completion.current_word):
            if item.type == "plain":
                yield str(item.value), item.help or ""
        return
    typed = ""
    if any(name in COMMA_LIST_OPTIONS for name in parameter.opts):
        typed, comma, completion.current_word = completion.current_word.rpartition(",")
        typed += comma
    taken = {*typed.split(",")}
    for word, about in source(completion):
        if word.startswith(completion.current_word) and word not in taken:
            yield typed + word, about


def find_value_source(parameter: CompletableParameter) -> ValueSource | None:
    """Return where the values of a parameter come from; None if only its type may know any."""
    if isinstance(parameter, TyperOption):
        sources = (OPTION_SOURCES.get(name) for name in parameter.opts)
        return next(filter(None, sources), None)
    return ARGUMENT_SOURCES.get((parameter.metavar or "").strip("[].").partition("...")[0])


def _iter_option_names(completion: CompletionContext) -> Iterator[Candidate]:
    word = completion.current_word
    for option in completion.list_options():
        for name in (*option.opts, *option.secondary_opts):
            if name.startswith(word) and (name.startswith("--") or len(word) == 1):
                yield name, option.help or ""


def _iter_command_names(
    completion: CompletionContext, group: TyperGroup, *, described: bool
) -> Iterator[Candidate]:
    for name in group.list_commands(completion.context):
        if not name.startswith(completion.current_word):
            continue
        # Each top-level command is a module to be loaded; none of them is hidden.
        if not described and completion.context.parent is None:
            yield name, ""
            continue
        command = group.get_command(completion.context, name)
        if command is not None and not command.hidden:
            yield name, (command.help or "").strip().partition("\n")[0]


def _make_one_line(text: str) -> str:
    line = escape_invisible(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return line if len(line) <= 80 else f"{line[:79]}…"
