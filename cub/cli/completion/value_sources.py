"""List the values that parameters may have: from cub's tables, the configuration and the tasks.

Tasks that are open come first, with their titles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cub.cli.completion.command_line import CompletionContext
    from cub.project.config import ConfigLayer
    from cub.store.task_index import TaskIndex, TaskSummary

Candidate = tuple[str, str]  # the word, and its description; "" for none

_PRIORITIES = ("comes first", "high", "what counts where there is none", "low", "comes last")
_MAX_TASKS = 500  # that are shown
_COMMANDS_ON_UNCLOSED = ("claim", "start", "close", "done", "park")


def list_shells(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the shells that cub completes in."""
    from cub.cli.completion.shells import SHELL_SCRIPTS

    return ((name, "") for name in SHELL_SCRIPTS)


def list_task_types(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the types of tasks."""
    from cub.store.task_schema import TASK_TYPES

    return ((name, "") for name in TASK_TYPES)


def list_task_statuses(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the statuses of tasks, and the words for several."""
    from cub.store.task_schema import DELETED, STATUSES

    yield from ((name, "") for name in STATUSES)
    yield "all", "all but deleted ones"
    yield DELETED, ""


def list_priorities(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the priorities."""
    return ((str(number), about) for number, about in enumerate(_PRIORITIES))


def list_formats(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the formats that a command reads or writes."""
    from cub.store.formats import AUTO_FORMAT, EXPORT_FORMATS, FORMATS

    if completion.command_path[-1] == "import":
        yield from ((name, "") for name in FORMATS)
        yield AUTO_FORMAT, "as the file looks"
    else:
        yield from ((name, "") for name in EXPORT_FORMATS)


def list_targets(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the instruction files that cub knows."""
    from cub.project.targets import TARGETS

    return ((target.path, ", ".join(target.agents)) for target in TARGETS)


def list_agents(_completion: CompletionContext) -> Iterator[Candidate]:
    """Return the agents that `cub init` can let read everything."""
    from cub.agent_profiles.profiles import AGENT_TITLES, ALL_AGENTS

    return iter([(ALL_AGENTS, "each of them"), *AGENT_TITLES.items()])


def list_harnesses(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the harnesses that a run may use."""
    from cub.harness.harness_registry import AUTO, NATIVE_HARNESSES
    from cub.harness.scripted_harness import SCRIPTED

    configured = _list_configured_harnesses(completion)
    yield from ((name, "as configured") for name in configured)
    facts = (harness.facts for harness in NATIVE_HARNESSES)
    yield from ((one.name, one.title) for one in facts if one.name not in configured)
    yield AUTO, "all that are configured, or else the first one installed"
    yield SCRIPTED, "plays .cub/script.yaml"


def list_profiles(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the profiles of the configuration."""
    layers = _iter_layers(completion)
    return ((name, "") for name in dict.fromkeys(chain(*(layer.profiles for layer in layers))))


def list_config_keys(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the keys of the configuration, those of harnesses with their names."""
    from cub.project.settings import SETTINGS

    harnesses = _list_configured_harnesses(completion)
    for setting in SETTINGS:
        for name in harnesses if "*" in setting.key else ("",):
            yield setting.key.replace("*", name), setting.description


def list_config_values(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the values that a key may have, or else its default."""
    from cub.config_edit.yaml_text import format_yaml
    from cub.project.settings import find_setting

    key = completion.arguments[0]
    setting = find_setting(tuple(key.split(".")))
    if setting is None:
        return
    default = format_yaml(setting.default)
    if key == "run.harness":
        yield from list_harnesses(completion)
    elif setting.kind == "targets":
        yield from list_targets(completion)
    elif words := ("true", "false") if setting.kind == "flag" else setting.choices:
        yield from ((word, "the default" if word == default else "") for word in words)
    elif setting.default not in (None, [], {}):
        yield default, "the default"


def list_command_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the tasks that a command can be used on."""
    command = completion.command_path[-1]
    if command in _COMMANDS_ON_UNCLOSED:
        return list_unclosed_tasks(completion)
    if command == "reopen":
        return _iter_tasks(completion, lambda task: task.status != "open" or task.is_deleted)
    return _iter_tasks(completion, lambda task: not task.is_deleted)


def list_unclosed_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the tasks that are to be done."""
    return _iter_tasks(completion, lambda task: not task.is_closed and not task.is_deleted)


def list_epics(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the epics."""
    return _iter_tasks(completion, lambda task: task.is_epic and not task.is_deleted)


def list_parent_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """Return what a task may be a part of: epics, and then anything else."""
    yield from list_epics(completion)
    yield from _iter_tasks(completion, lambda task: not task.is_epic and not task.is_deleted)


def list_dependency_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the tasks that a task may wait for; for `remove`, those that it waits for."""
    if completion.command_path[-1] != "remove":
        yield from list_unclosed_tasks(completion)
        return
    tasks = _read_tasks(completion)
    needs = tasks[tasks.find_id(completion.arguments[0])].depends_on
    yield from _describe_tasks(completion, tasks, [tasks[key] for key in needs if key in tasks])
    yield from ((key, "there is no such task") for key in needs if key not in tasks)


def list_labels(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the labels of tasks, the most frequent ones first."""
    tasks = _read_tasks(completion)
    counts = Counter(
        label for task in tasks for label in tasks.read_raw_record(task.id).get("labels") or ()
    )
    for label, count in counts.most_common():
        yield label, "1 task" if count == 1 else f"{count:,} tasks"


def list_task_files(completion: CompletionContext) -> Iterator[Candidate]:
    """Return the names of task files in the project."""
    from cub.actions.context_scripts import make_text_reader
    from cub.context.task_files import list_task_files as list_files
    from cub.project.project import Project

    project = Project.load(_find_root(completion))
    for file in list_files(make_text_reader(project, completion.directory)):
        yield file.path.stem, file.name


def _iter_tasks(
    completion: CompletionContext, matches: Callable[[TaskSummary], bool]
) -> Iterator[Candidate]:
    tasks = _read_tasks(completion)
    summaries = filter(matches, [*tasks, *tasks.deleted_summaries.values()])
    return islice(_describe_tasks(completion, tasks, summaries), _MAX_TASKS)


def _describe_tasks(
    completion: CompletionContext, tasks: TaskIndex, summaries: Iterable[TaskSummary]
) -> Iterator[Candidate]:
    """Yield tasks with ids as you type them: with the project's name, or without."""
    typed = completion.current_word
    for task in sorted(summaries, key=_sort_key):
        word = task.id if task.id.startswith(typed) else task.id.rpartition("-")[2]
        if word.startswith(typed) and {word, task.id}.isdisjoint(completion.arguments):
            status = "deleted" if task.is_deleted else task.status
            title = str(tasks.read_raw_record(task.id).get("title", ""))
            yield word, title if status == "open" else f"{status}: {title}"


def _sort_key(task: TaskSummary) -> tuple[object, ...]:
    is_parked = task.status == "parked"
    return task.is_deleted, task.is_closed, is_parked, task.priority, task.created_at, task.id


def _read_tasks(completion: CompletionContext) -> TaskIndex:
    """Return the tasks of the project's file.

    Tasks that beads keeps are left out: reading them takes a process, which may start another one.
    """
    from cub.errors import CubError
    from cub.files import read_file
    from cub.project.project import Project
    from cub.store.store_paths import TASKS_FILE, find_store_root
    from cub.store.task_index import TaskIndex

    root = _find_root(completion)
    with suppress(CubError):  # any command will report what is wrong with the configuration
        if Project.load(root).config.backend != "jsonl":
            return TaskIndex()
    return TaskIndex.parse(read_file(find_store_root(root), TASKS_FILE) or b"")


def _list_configured_harnesses(completion: CompletionContext) -> list[str]:
    keys = [key.split(".") for layer in _iter_layers(completion) for key in layer.values]
    return list(
        dict.fromkeys(".".join(key[1:]) for key in keys if key[0] == "harnesses" and key[1:])
    )


def _iter_layers(completion: CompletionContext) -> Iterator[ConfigLayer]:
    """Yield the project's configuration, and yours; none that is damaged."""
    from cub.errors import CubError
    from cub.files import read_file
    from cub.project.config import CONFIG_FILE
    from cub.project.config_layers import parse_layer_bytes, read_user_config

    with suppress(CubError):
        yield parse_layer_bytes(read_file(_find_root(completion), CONFIG_FILE), CONFIG_FILE)
    with suppress(CubError):
        yield parse_layer_bytes(read_user_config(), "")


def _find_root(completion: CompletionContext) -> Path:
    from cub.project.project import find_project_root

    return find_project_root(completion.directory)
