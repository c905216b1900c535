"""List the values that parameters may have: from cub's tables, the configuration and the tasks.

Tasks that are open come first, with their titles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument, TyperOption

from cub.agent_profiles.profiles import AGENT_TITLES, ALL_AGENTS
from cub.cli.completion.install import SHELL_SCRIPTS
from cub.config_edit.yaml_text import format_yaml
from cub.errors import CubError
from cub.files.read_files import read_file
from cub.project.config import CONFIG_FILE, ConfigLayer
from cub.project.config_layers import parse_layer_bytes, read_user_config
from cub.project.project import Project, find_project_root
from cub.project.settings import SETTINGS, find_setting
from cub.project.targets import TARGETS
from cub.store.task_schema import DELETED, STATUSES, TASK_TYPES

if TYPE_CHECKING:
    from cub.store.task_index import TaskIndex, TaskSummary

CompletableParameter = TyperArgument | TyperOption
Candidate = tuple[str, str]  # the word, and its description; "" for none


@dataclass(slots=True)
class CompletionPlace:
    """Hold the command of a word, what was typed of it, and what stands before it.

    `parameter` takes the word as its value; None for the name of a command or an option.
    """

    context: Any
    current_word: str = ""
    parameter: CompletableParameter | None = None
    arguments: list[str] = field(default_factory=list)
    directory: Path = field(default_factory=Path)

    @property
    def command_path(self) -> tuple[str, ...]:
        """Return the names of the command, without the program's."""
        return tuple(self.context.command_path.split()[1:])


ListValues = Callable[[CompletionPlace], Iterable[Candidate]]
ValueSource = ListValues | Sequence[Candidate]
_MAX_TASKS = 500  # that are shown
_COMMANDS_ON_UNCLOSED = ("claim", "start", "close", "done", "park")
_AGENTS = [(ALL_AGENTS, "each of them"), *AGENT_TITLES.items()]
_TARGETS = [(target.path, ", ".join(target.agents)) for target in TARGETS]
_PRIORITIES = ("comes first", "high", "what counts where there is none", "low", "comes last")


def _make_candidates(words: Iterable[str]) -> list[Candidate]:
    return [(word, "") for word in words]


def _list_formats(completion: CompletionPlace) -> Iterator[Candidate]:
    from cub.store.formats.format_registry import AUTO_FORMAT, EXPORT_FORMATS, FORMATS

    if completion.command_path[-1] == "import":
        yield from _make_candidates(FORMATS)
        yield AUTO_FORMAT, "as the file looks"
    else:
        yield from _make_candidates(EXPORT_FORMATS)


def _list_harnesses(completion: CompletionPlace) -> Iterator[Candidate]:
    from cub.harness.harness_registry import AUTO, NATIVE_HARNESSES
    from cub.harness.scripted_harness import SCRIPTED

    configured = _list_configured_harnesses(completion)
    yield from ((name, "as configured") for name in configured)
    facts = (harness.facts for harness in NATIVE_HARNESSES)
    yield from ((one.name, one.title) for one in facts if one.name not in configured)
    yield AUTO, "all that are configured, or else the first one installed"
    yield SCRIPTED, "plays .cub/script.yaml"


def _list_profiles(completion: CompletionPlace) -> list[Candidate]:
    layers = _iter_layers(completion)
    return _make_candidates(dict.fromkeys(chain(*(layer.profiles for layer in layers))))


def _list_config_keys(completion: CompletionPlace) -> Iterator[Candidate]:
    harnesses = _list_configured_harnesses(completion)
    for setting in SETTINGS:
        for name in harnesses if "*" in setting.key else ("",):
            yield setting.key.replace("*", name), setting.description


def _list_config_values(completion: CompletionPlace) -> Iterator[Candidate]:
    key = completion.arguments[0]
    setting = find_setting(tuple(key.split(".")))
    if setting is None:
        return
    default = format_yaml(setting.default)
    if key == "run.harness":
        yield from _list_harnesses(completion)
    elif setting.kind == "targets":
        yield from _TARGETS
    elif words := ("true", "false") if setting.kind == "flag" else setting.choices:
        yield from ((word, "the default" if word == default else "") for word in words)
    elif setting.default not in (None, [], {}):
        yield default, "the default"


def _list_command_ids(completion: CompletionPlace) -> Iterator[Candidate]:
    command = completion.command_path[-1]
    if "sessions" in completion.command_path:
        return _list_sessions(completion)
    if command in _COMMANDS_ON_UNCLOSED:
        return _list_unclosed_tasks(completion)
    if command == "reopen":
        return _iter_tasks(completion, lambda task: task.status != "open" or task.is_deleted)
    return _iter_tasks(completion, lambda task: not task.is_deleted)


def _list_sessions(completion: CompletionPlace) -> Iterator[Candidate]:
    from cub.agent.session_store import find_session_store

    with suppress(CubError):
        for row in find_session_store(_find_root(completion)).list_sessions()[0]:
            if row.id not in completion.arguments:
                yield row.id, row.prompt


def _list_unclosed_tasks(completion: CompletionPlace) -> Iterator[Candidate]:
    return _iter_tasks(completion, lambda task: not task.is_closed and not task.is_deleted)


def _list_epics(completion: CompletionPlace) -> Iterator[Candidate]:
    return _iter_tasks(completion, lambda task: task.is_epic and not task.is_deleted)


def _list_parent_tasks(completion: CompletionPlace) -> Iterator[Candidate]:
    yield from _list_epics(completion)
    yield from _iter_tasks(completion, lambda task: not task.is_epic and not task.is_deleted)


def _list_dependency_tasks(completion: CompletionPlace) -> Iterator[Candidate]:
    if completion.command_path[-1] != "remove":
        yield from _list_unclosed_tasks(completion)
        return
    tasks = _read_tasks(completion)
    needs = tasks[tasks.find_id(completion.arguments[0])].depends_on
    yield from _describe_tasks(completion, tasks, [tasks[key] for key in needs if key in tasks])
    yield from ((key, "there is no such task") for key in needs if key not in tasks)


def _list_labels(completion: CompletionPlace) -> Iterator[Candidate]:
    tasks = _read_tasks(completion)
    counts = Counter(
        label for task in tasks for label in tasks.read_raw_record(task.id).get("labels") or ()
    )
    for label, count in counts.most_common():
        yield label, "1 task" if count == 1 else f"{count:,} tasks"


def _list_task_files(completion: CompletionPlace) -> Iterator[Candidate]:
    from cub.actions.context_scripts import make_text_reader
    from cub.context.task_files import list_task_files

    project = Project.load(_find_root(completion))
    for file in list_task_files(make_text_reader(project, completion.directory)):
        yield file.path.stem, file.name


def _iter_tasks(
    completion: CompletionPlace, matches: Callable[[TaskSummary], bool]
) -> Iterator[Candidate]:
    tasks = _read_tasks(completion)
    summaries = filter(matches, [*tasks, *tasks.deleted_summaries.values()])
    return islice(_describe_tasks(completion, tasks, summaries), _MAX_TASKS)


def _describe_tasks(
    completion: CompletionPlace, tasks: TaskIndex, summaries: Iterable[TaskSummary]
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


def _read_tasks(completion: CompletionPlace) -> TaskIndex:
    """Return the tasks of the project's file.

    Tasks that beads keeps are left out: reading them takes a process, which may start another one.
    """
    from cub.store.store_paths import TASKS_FILE, find_store_root
    from cub.store.task_index import TaskIndex

    root = _find_root(completion)
    with suppress(CubError):  # any command will report what is wrong with the configuration
        if Project.load(root).config.backend != "jsonl":
            return TaskIndex()
    return TaskIndex.parse(read_file(find_store_root(root), TASKS_FILE) or b"")


def _list_configured_harnesses(completion: CompletionPlace) -> list[str]:
    keys = [key.split(".") for layer in _iter_layers(completion) for key in layer.values]
    return list(
        dict.fromkeys(".".join(key[1:]) for key in keys if key[0] == "harnesses" and key[1:])
    )


def _iter_layers(completion: CompletionPlace) -> Iterator[ConfigLayer]:
    """Yield the project's configuration, and yours; none that is damaged."""
    with suppress(CubError):
        yield parse_layer_bytes(read_file(_find_root(completion), CONFIG_FILE), CONFIG_FILE)
    with suppress(CubError):
        yield parse_layer_bytes(read_user_config(), "")


def _find_root(completion: CompletionPlace) -> Path:
    return find_project_root(completion.directory)


# An option takes the same values in all commands.
_SHELLS = _make_candidates(SHELL_SCRIPTS)
OPTION_SOURCES: dict[str, ValueSource] = {
    "--agent": _AGENTS,
    "--depends-on": _list_unclosed_tasks,
    "--epic": _list_epics,
    "--format": _list_formats,
    "--harness": _list_harnesses,
    "--install-completion": _SHELLS,
    "--label": _list_labels,
    "--parent": _list_parent_tasks,
    "--priority": [(str(number), about) for number, about in enumerate(_PRIORITIES)],
    "--profile": _list_profiles,
    "--resume": _list_sessions,
    "--show-completion": _SHELLS,
    "--status": [
        *_make_candidates(STATUSES),
        ("all", "all but deleted ones"),
        (DELETED, ""),
    ],
    "--targets": _TARGETS,
    "--task": _list_unclosed_tasks,
    "--type": _make_candidates(TASK_TYPES),
    "--unlabel": _list_labels,
}
# Arguments are found by their metavar.
ARGUMENT_SOURCES: dict[str, ListValues] = {
    "ID": _list_command_ids,
    "TASKFILE": _list_task_files,
    "RUN|TASK": _list_command_ids,
    "OTHER": _list_dependency_tasks,
    "KEY": _list_config_keys,
    "VALUE": _list_config_values,
}
# Options that take lists with commas.
COMMA_LIST_OPTIONS = ("--agent", "--depends-on", "--harness", "--label", "--targets", "--unlabel")
