"""Format the events of a run as lines for a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from cub.cli.event_format import format_duration, format_same_attempt, format_usage
from cub.cli.terminal import add_style
from cub.cli.time_format import format_local_time
from cub.store.events import Event, describe_outcome, get_usage

_ENDS = {
    "done": "Done: no ready tasks left",
    "once": "Stopped after 1 attempt (--once)",
    "iterations": "Stopped: the maximum number of attempts is reached",
    "nothing_ready": "Nothing is ready",
    "nothing_more": "No ready tasks left",
    "budget": "The budget is used up",
    "interrupted": "Stopped",
    "broken": "Stopped: cub could not finish the last attempt",
    "branch_gone": "Stopped: there is no branch to work on",
    "unverified": "Stopped: no check can decide whether a task is done",
    "not_mended": "Stopped: the checks failed before the attempt, and no known failure is fixed",
    "untrusted": "Stopped: files that agents execute are not trusted",
    "machine": "Stopped: this machine has no room, or has reached a limit",
    "agent": "Stopped: the agent can't work ({1})",
    "failures": "Stopped: {0} attempts in a row failed outside the tasks ({1})",
}
# The reasons of these ends are lines of the last attempt already.
_SAID_BY_ATTEMPT = ("unverified", "not_mended", "untrusted", "broken", "branch_gone", "machine")
_STATUSES = {"retry": "to be tried again", "open": "open again"}


def format_event_lines(event: Event, *, names_tasks: bool = False) -> Iterator[str]:
    """Yield the lines for an event; none for most of what an agent reports.

    `names_tasks` has each line about an attempt name its task: several attempts run at once.
    """
    formatter = _FORMATTERS.get(event["ev"])
    lines = formatter(event) if formatter else ()
    yield from _name_task(event, lines) if names_tasks else lines


def _name_task(event: Event, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines with the task in front, unless they name it; no blank line above a start."""
    task = event.get("task", "")
    for line in lines:
        if event["ev"] == "attempt_start":
            yield from [line] * bool(line)
        elif task and line.startswith("  ") and not line.startswith(f"  {task} "):
            yield f"  {task}: {line[2:]}"
        else:
            yield line


def _format_event_usage(event: Event) -> str:
    usage = get_usage(event)
    return format_usage(usage.token_count, usage.usd, is_estimated=usage.is_estimated)


def _format_run_start(event: Event) -> Iterator[str]:
    names, versions = event["harness"].split(","), event.get("versions") or {}
    agents = format_agents(names, versions, event.get("choice", ""))
    model = f", model {event['model_choice']}" if event.get("model_choice") else ""
    jobs = f", {event['jobs']} attempts at a time" if event.get("jobs") else ""
    yield f"Run {event['run']} with {agents}{model}{jobs}"
    if event.get("permissions") == "bypass":
        yield add_style("The agent runs without permission prompts.", "yellow")


def format_agents(names: Sequence[str], versions: Mapping[str, str], choice: str) -> str:
    """Return agents with their versions, and why `auto` chose them."""
    agents = ", ".join(f"{name} {versions.get(name, '')}".strip() for name in names)
    return agents + (f" (auto: {choice})" if choice else "")


def _format_attempt_start(event: Event) -> Iterator[str]:
    which = f" (attempt {event['n']})" if event["n"] > 1 else ""
    yield ""
    title = add_style(f"{event['task']}: {event['title']}", "bold")
    progress = format_progress(event.get("task_number", 0), event.get("task_count", 0))
    yield f"{format_local_time(event['ts'], '%H:%M:%S')} {progress}{title}{which}"


def format_progress(number: int, count: int) -> str:
    """Return which task of a run this is, in front of its name; "" if there is only one."""
    return f"task {number} of {count}: " if count > 1 else ""


def _format_check_end(event: Event) -> Iterator[str]:
    before = " before the attempt" if event["base"] else ""
    failed = "failed" + format_same_attempt(event)
    failed += f", {event['n']} failing" if event.get("n") else ""
    result = {0: "passed", None: "did not end"}.get(event["exit"], failed)
    yield f"  check{before}: {event['cmd']} {result} ({format_duration(event['dur_s'])})"


def _format_attempt_end(event: Event) -> Iterator[str]:
    spent = format_duration(event["dur_s"])
    if event["dur_s"]:  # else no agent was started
        spent += f", {_format_event_usage(event)}"
    change = event.get("git") or {}
    files = len(change.get("files") or ())
    lines = f" +{change.get('ins', 0)} -{change.get('del', 0)}" if "ins" in change else ""
    what = f"{files} file{'s' * (files != 1)}{lines}" if files else "no change"
    if event["ok"]:
        commit = f", commit {change['head'][:8]}" if change.get("head") else ""
        yield f"  {add_style(describe_outcome(event), 'green')}: {what}{commit} ({spent})"
        if event.get("unverified"):
            yield f"  {add_style('no check has decided', 'yellow')}: {event['unverified']}"
        return
    fail = event["fail"]
    reason = f": {fail['reason']}" if fail.get("reason") else ""
    reason = format_same_attempt(fail) or reason
    reason = "" if fail["class"] == "interrupted" else reason  # the last line says it
    free = "" if fail.get("charge") else " (not counted as an attempt)"
    yield f"  {add_style(fail['class'], 'red')}{reason}{free} ({what}, {spent})"
    if change.get("patch"):
        yield f"  the changes are kept in {change['patch']}"


def _format_task_state(event: Event) -> Iterator[str]:
    why = f": {event['why']}" if event.get("why") else ""
    task = event["task"]
    if question := event.get("question"):  # the line of the attempt has it
        why = why.removesuffix(f": {question}")
    yield f"  {task} is {_STATUSES.get(event['status'], event['status'])}{why}"
    if question:
        yield f"  answer with `cub task edit {task} --note TEXT`, then `cub task reopen {task}`"


def _format_waiting(event: Event) -> Iterator[str]:
    until = format_local_time(event["until"], "%Y-%m-%d %H:%M:%S")
    yield f"  waiting until {until}: {event['why']}"


def _format_run_end(event: Event) -> Iterator[str]:
    yield ""
    counts = ", ".join(
        f"{count} {_STATUSES.get(status, status)}" for status, count in event["tasks"].items()
    )
    why = f" ({event['why']})" if event.get("why") else ""
    if event["end"] in _SAID_BY_ATTEMPT:
        why = ""
    end = "nothing_more" if event["end"] == "done" and not event["ok"] else event["end"]
    if event.get("failures"):
        end = "agent" if event["failures"] == 1 else "failures"
    text = _ENDS.get(end, end).format(event.get("failures"), event.get("class"))
    yield f"{text}{why}." + (f" {counts}." if counts else "")
    if event.get("hint"):
        yield f"hint: {event['hint']}"
    if event.get("no_agent"):
        yield f"No agent can start: {event['no_agent']}"
    if attempts := event["attempts"]:
        left = f", {event['ready']} ready" if event["ready"] else ""
        count = f"{attempts} attempt{'s' * (attempts != 1)}"
        yield f"{count}, {_format_event_usage(event)}{left}"
    yield from _format_commits(event.get("commits"), event.get("branch"))
    if parked := event.get("left_parked"):
        yield from format_parked_tasks(parked["tasks"], parked["n"])


def _format_commits(
    made: Mapping[str, Any] | None, branch: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield lines about the commits that a run made, or all of its branch, each with its task."""
    tasks = {f"{one['id']} {one['subject']}": one["task"] for one in made["list"]} if made else {}
    if branch:
        yield from _format_branch(branch, tasks)
    elif made:
        yield ""
        yield f"{made['n']} commit{'s' * (made['n'] != 1)}:"
        yield from _list_commits(tasks, tasks, made["n"])


def _list_commits(lines: Collection[str], tasks: Mapping[str, str], count: int) -> Iterator[str]:
    for line in lines:
        task = tasks.get(line, "")
        yield f"  {line}" + (f" ({task})" if task not in line else "")
    if count > len(lines):
        yield f"  and {count - len(lines)} more"


def _format_branch(branch: Mapping[str, Any], tasks: Mapping[str, str]) -> Iterator[str]:
    name, count = branch["name"], branch["n"]
    if not count:
        yield f"There is nothing to merge: {name} has no commit that is not here."
        return
    yield ""
    yield f"{count} commit{'s are' if count != 1 else ' is'} on {name}:"
    yield from _list_commits(branch["commits"], tasks, count)
    yield from ("", f"  {branch['merge']}")


def format_parked_tasks(tasks: Sequence[Mapping[str, str]], count: int) -> Iterator[str]:
    """Yield lines about `count` parked tasks, of which `tasks` are named, and what to type next."""
    yield ""
    if count == 1:
        yield f"1 task is parked. To retry it, run `cub task reopen {quote(tasks[0]['id'])}`."
    else:
        yield f"{count} tasks are parked. To retry one, run `cub task reopen ID`."
    for task in tasks:
        key = quote(task["id"])
        why = ": ".join(filter(None, [task.get("why"), task.get("question")]))
        yield f"  {task['id']}: {task['title']}"
        if why:
            yield f"    {why}"
        if task.get("remedy"):
            yield f"    hint: {task['remedy']}"
        if task.get("question"):
            yield f'    cub task edit {key} --note "…" && cub task reopen {key}'
        elif why:
            yield f"    cub run show {key}"
    if count > len(tasks):
        yield f"  and {count - len(tasks)} more: `cub task list --status parked`"


_FORMATTERS: dict[str, Callable[[Event], Iterable[str]]] = {
    "run_start": _format_run_start,
    "attempt_start": _format_attempt_start,
    "check_end": _format_check_end,
    "attempt_end": _format_attempt_end,
    "task_state": _format_task_state,
    "notice": lambda event: [f"  {event['text']}"],
    "recovered": lambda event: [f"{event['task']}: {event['text']}"],
    "waiting": _format_waiting,
    "run_end": _format_run_end,
}
