"""The words that may come next, each with what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from typer.core import TyperGroup, TyperOption

from cub.cli.completion import configured, tasks
from cub.cli.completion.place import Parameter, Place
from cub.cli.visible import visible

Offer = tuple[str, str]  # the word, and what it means; "" for nothing to say
Source = Callable[[Place], Iterable[Offer]]

# What an option of a name takes is the same for all commands.
OPTIONS: dict[str, Source] = {
    "--client": configured.settings_clients,
    "--depends-on": tasks.not_closed,
    "--epic": tasks.epics,
    "--format": configured.formats,
    "--harness": configured.harnesses,
    "--install-completion": configured.shells,
    "--label": tasks.labels,
    "--parent": tasks.parents,
    "--priority": configured.priorities,
    "--profile": configured.profiles,
    "--show-completion": configured.shells,
    "--status": configured.statuses,
    "--targets": configured.targets,
    "--task": tasks.not_closed,
    "--type": configured.types,
    "--unlabel": tasks.labels,
}
# Arguments go by how they are shown.
ARGUMENTS: dict[str, Source] = {
    "ID": tasks.named,
    "OTHER": tasks.others,
    "KEY": configured.keys,
    "VALUE": configured.values,
}
# Their values may be lists with commas.
LISTS = ("--client", "--depends-on", "--harness", "--label", "--targets", "--unlabel")


def offers(place: Place, *, described: bool) -> list[Offer]:
    """What may stand at a place, in the order in which it is to be shown.

    Without `described`, nothing is loaded only to say what a word means.
    """
    if place.parameter is not None:
        found = _values(place, place.parameter)
    elif place.word.startswith("-"):
        found = _option_names(place)
    elif isinstance(place.command, TyperGroup):
        found = _command_names(place, place.command, described=described)
    else:
        found = iter(())
    return [(place.before + word, _one_line(about)) for word, about in found if _is_safe(word)]


def _values(place: Place, parameter: Parameter) -> Iterator[Offer]:
    source = source_of(parameter)
    if source is None:
        for item in parameter.shell_complete(place.context, place.word):
            if item.type == "plain":
                yield str(item.value), item.help or ""
        return
    done = ""
    if any(name in LISTS for name in parameter.opts):
        done, comma, place.word = place.word.rpartition(",")
        done += comma
    taken = {*done.split(",")}
    for word, about in source(place):
        if word.startswith(place.word) and word not in taken:
            yield done + word, about


def source_of(parameter: Parameter) -> Source | None:
    """Where the values of a parameter come from; None where its type, or nobody, tells."""
    if isinstance(parameter, TyperOption):
        return next((OPTIONS[name] for name in parameter.opts if name in OPTIONS), None)
    return ARGUMENTS.get((parameter.metavar or "").strip("[].").partition("...")[0])


def _option_names(place: Place) -> Iterator[Offer]:
    for option in place.options():
        for name in (*option.opts, *option.secondary_opts):
            if name.startswith(place.word) and (name.startswith("--") or len(place.word) == 1):
                yield name, option.help or ""


def _command_names(place: Place, group: TyperGroup, *, described: bool) -> Iterator[Offer]:
    names = [name for name in group.list_commands(place.context) if name.startswith(place.word)]
    for name in names:
        # Of the commands of cub itself, each is a module to be loaded; none of them is hidden.
        if not described and place.context.parent is None:
            yield name, ""
            continue
        command = group.get_command(place.context, name)
        if command is not None and not command.hidden:
            yield name, (command.help or "").strip().partition("\n")[0]


def _is_safe(word: str) -> bool:
    """Whether a word can be typed as it is shown."""
    return word.isprintable() and visible(word) == word


def _one_line(text: str) -> str:
    """What a word means, as one line of what can be seen."""
    line = visible(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return line if len(line) <= 80 else f"{line[:79]}…"
