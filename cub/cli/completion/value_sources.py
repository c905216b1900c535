"""What can be named that a table of cub's, or a configuration, has: agents, keys, statuses, …

The tasks of a project as words to be typed: those that are open first, with their titles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cub.cli.completion.command_line import CompletionContext
    from cub.project.config import ConfigLayer
    from cub.store.task_index import TaskIndex, TaskSummary


Candidate = tuple[str, str]  # the word, and what it means; "" for nothing to say


_PRIORITIES = ("comes first", "high", "what counts where there is none", "low", "comes last")


def find_completion_root(completion: CompletionContext) -> Path:
    """The project that the command line is about."""
    from cub.project.project import find_project_root

    return find_project_root(completion.directory)


def list_shells(_completion: CompletionContext) -> Iterator[Candidate]:
    """The shells that cub completes in."""
    from cub.cli.completion.shells import SHELL_SCRIPTS

    return ((name, "") for name in SHELL_SCRIPTS)


def list_task_types(_completion: CompletionContext) -> Iterator[Candidate]:
    """The types of tasks."""
    from cub.store.task_schema import TASK_TYPES

    return ((name, "") for name in TASK_TYPES)


def list_task_statuses(_completion: CompletionContext) -> Iterator[Candidate]:
    """The statuses of tasks, and the words for several."""
    from cub.store.task_schema import DELETED, STATUSES

    yield from ((name, "") for name in STATUSES)
    yield "all", "all but deleted ones"
    yield DELETED, ""


def list_priorities(_completion: CompletionContext) -> Iterator[Candidate]:
    """The priorities."""
    return ((str(number), about) for number, about in enumerate(_PRIORITIES))


def list_formats(completion: CompletionContext) -> Iterator[Candidate]:
    """The formats of other tools."""
    from cub.store.formats import AUTO_FORMAT, FORMATS

    yield from ((name, "") for name in FORMATS)
    if completion.command_path[-1] == "import":
        yield AUTO_FORMAT, "as the file looks"


def list_targets(_completion: CompletionContext) -> Iterator[Candidate]:
    """The instruction files that cub knows."""
    from cub.project.targets import TARGETS

    return ((target.path, ", ".join(target.agents)) for target in TARGETS)


def list_agents(_completion: CompletionContext) -> Iterator[Candidate]:
    """The agents whose settings `cub init` can change."""
    from cub.project.agent_settings import AGENT_SETTINGS

    return ((agent.name, agent.title) for agent in AGENT_SETTINGS)


def list_harnesses(completion: CompletionContext) -> Iterator[Candidate]:
    """The agents that a run may use."""
    from cub.harness.harness_registry import AUTO
    from cub.harness.scripted_harness import SCRIPTED

    found: dict[str, str] = {}
    for layer in _layers(completion):
        found |= dict.fromkeys(_members(layer, "harnesses"), "as configured")
    yield from found.items()
    yield AUTO, "all that are configured"
    yield SCRIPTED, "plays .cub/script.yaml"


def list_profiles(completion: CompletionContext) -> Iterator[Candidate]:
    """The profiles of the configuration."""
    names = dict.fromkeys(name for layer in _layers(completion) for name in layer.profiles)
    return ((name, "") for name in names)


def list_config_keys(completion: CompletionContext) -> Iterator[Candidate]:
    """The keys of the configuration, those of agents with their names."""
    from cub.project.settings import SETTINGS

    agents = dict.fromkeys(
        name for one in _layers(completion) for name in _members(one, "harnesses")
    )
    for setting in SETTINGS:
        if "*" not in setting.key:
            yield setting.key, setting.description
            continue
        yield from ((setting.key.replace("*", name), setting.description) for name in agents)


def list_config_values(completion: CompletionContext) -> Iterator[Candidate]:
    """The values that a key may have, or else the one that it has by default."""
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


def _layers(completion: CompletionContext) -> Iterator[ConfigLayer]:
    """The project's configuration, and the person's; one that is damaged tells nothing."""
    from cub.errors import CubError
    from cub.files import read_file
    from cub.project.config import CONFIG_FILE
    from cub.project.config_layers import parse_layer_bytes, read_user_config

    with suppress(CubError):
        yield parse_layer_bytes(
            read_file(find_completion_root(completion), CONFIG_FILE), CONFIG_FILE
        )
    with suppress(CubError):
        yield parse_layer_bytes(read_user_config(), "")


def _members(layer: ConfigLayer, section: str) -> list[str]:
    start = f"{section}."
    return [key[len(start) :] for key in layer.values if key.startswith(start)]


# A person waits: of a store of many thousand tasks, this much is looked at.
_BYTES = 1 << 19
_LINES = 20_000
_MOST = 500  # words that are shown
_UNCLOSED = ("claim", "start", "close", "done", "park")


def list_command_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """The tasks that a command can do something with."""
    command = completion.command_path[-1]
    if command == "reopen":
        yield from _ids(completion, lambda row: row.status != "open" or row.is_deleted)
    elif command in _UNCLOSED:
        yield from list_unclosed_tasks(completion)
    else:
        yield from _ids(completion, lambda row: not row.is_deleted)


def list_unclosed_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """The tasks that are to be done."""
    yield from _ids(completion, lambda row: not row.is_closed and not row.is_deleted)


def list_epics(completion: CompletionContext) -> Iterator[Candidate]:
    """The epics."""
    yield from _ids(completion, lambda row: row.is_epic and not row.is_deleted)


def list_parent_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """What a task may be a part of: epics, and then anything else."""
    yield from list_epics(completion)
    yield from _ids(completion, lambda row: not row.is_epic and not row.is_deleted)


def list_dependency_tasks(completion: CompletionContext) -> Iterator[Candidate]:
    """What a task may wait for; to be removed, what it waits for."""
    if completion.command_path[-1] != "remove":
        yield from list_unclosed_tasks(completion)
        return
    tasks = _tasks(completion, "")
    row = tasks[tasks.find_id(completion.arguments[0])]
    known = [tasks[key] for key in row.depends_on if key in tasks]
    yield from _offered(completion, tasks, known)
    yield from ((key, "there is no such task") for key in row.depends_on if key not in tasks)


def list_labels(completion: CompletionContext) -> Iterator[Candidate]:
    """The labels of tasks, the most frequent ones first."""
    tasks = _tasks(completion, "")
    found = Counter(
        label for row in tasks for label in tasks.read_raw_record(row.id).get("labels") or ()
    )
    for label, count in found.most_common():
        yield label, "1 task" if count == 1 else f"{count:,} tasks"


def _ids(
    completion: CompletionContext, wanted: Callable[[TaskSummary], bool]
) -> Iterator[Candidate]:
    tasks = _tasks(completion, completion.current_word)
    rows = filter(wanted, [*tasks, *tasks.deleted_summaries.values()])
    yield from _offered(completion, tasks, rows)


def _offered(
    completion: CompletionContext, tasks: TaskIndex, rows: Iterable[TaskSummary]
) -> Iterator[Candidate]:
    """Tasks in the way in which their ids are typed: with the project's name, or without."""
    shown = 0
    for row in sorted(rows, key=_order):
        word = row.id if row.id.startswith(completion.current_word) else row.id.rpartition("-")[2]
        if not word.startswith(completion.current_word) or {word, row.id} & {*completion.arguments}:
            continue
        status = "deleted" if row.is_deleted else row.status
        title = str(tasks.read_raw_record(row.id).get("title", ""))
        yield word, title if status == "open" else f"{status}: {title}"
        shown += 1
        if shown == _MOST:
            return


def _order(row: TaskSummary) -> tuple[object, ...]:
    return (
        row.is_deleted,
        row.is_closed,
        row.status == "parked",
        row.priority,
        row.created_at,
        row.id,
    )


def _tasks(completion: CompletionContext, word: str) -> TaskIndex:
    """The tasks whose lines have `word`. What beads keeps is not asked for: that takes a process,
    which may start another one.
    """
    from cub.errors import CubError
    from cub.files import read_file
    from cub.project.project import Project
    from cub.store.store_paths import TASKS_FILE, find_store_root
    from cub.store.task_index import TaskIndex

    root = find_completion_root(completion)
    try:
        if Project.load(root).config.backend != "jsonl":
            return TaskIndex()
    except CubError:
        pass  # the fault of the configuration is told by every command
    return TaskIndex.parse(
        _some(read_file(find_store_root(root), TASKS_FILE) or b"", word.encode())
    )


def _some(data: bytes, word: bytes) -> bytes:
    """Lines that have `word`, those of tasks that are not closed first."""
    if len(data) <= _BYTES:
        return data
    open_: list[bytes] = []
    closed: list[bytes] = []
    size = 0
    for line, _ in zip(_lines_with(data, word), range(_LINES), strict=False):
        is_closed = b'"status":"closed"' in line
        (closed if is_closed else open_).append(line)
        size += 0 if is_closed else len(line)
        if size >= _BYTES:
            return b"\n".join(open_)
    average = max(1, sum(map(len, closed)) // max(1, len(closed)))
    return b"\n".join([*open_, *closed[: (_BYTES - size) // average]])


def _lines_with(data: bytes, word: bytes) -> Iterator[bytes]:
    at = data.find(word)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[start:end]
        at = data.find(word, end + 1)
