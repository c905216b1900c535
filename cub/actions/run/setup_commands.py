"""Run the commands of `run.setup`, which make in a place what an attempt can't share."""

from __future__ import annotations

from collections.abc import Generator
from typing import BinaryIO

from cub.actions.run.attempt_values import AttemptSpec
from cub.actions.run.check_runner import MAX_TAIL, NOT_RUN_EXIT_CODES, CheckResult
from cub.actions.run.run_context import RunContext
from cub.checks.terminal_text import take_tail, to_plain_text
from cub.masking import mask_text
from cub.place.checkout import TreeGit
from cub.place.place import Place
from cub.processes.command import make_shell_command
from cub.processes.runner import run_and_capture
from cub.store.events import Event

_MAX_OUTPUT = 1_000_000  # bytes that are read


def run_setup(
    context: RunContext,
    spec: AttemptSpec,
    tree: TreeGit,
    log: BinaryIO | None = None,
    mark: str = "",
) -> Generator[Event, None, CheckResult | None]:
    """Run the setup commands in one of the trees of an attempt's place if they are due there.

    Returns None, or the result of the command that failed: nothing can be checked without it.
    """
    place = spec.place
    if not place.get_setup(tree).is_due:
        return None
    for command in place.settings.setup_commands:
        yield context.make_event("notice", task=spec.task_id, text=f"run.setup: `{command}`")
        if result := _run_command(context, place, tree, command, log, mark):
            return result
    place.finish_setup(tree)
    return None


def _run_command(
    context: RunContext, place: Place, tree: TreeGit, command: str, log: BinaryIO | None, mark: str
) -> CheckResult | None:
    """Run one command, within the limits of a check; return its result if it fails."""
    runner, folder = context.check_runner, place.get_inner_root(tree)
    process = place.confine(make_shell_command(command, folder, runner.environ, mark=mark), tree)
    if log:
        log.write(f"$ {command}\n".encode("utf-8", "surrogateescape"))
    captured = run_and_capture(process, runner.limits, runner.stop, _MAX_OUTPUT, log)
    end = captured.result
    if end.exit_code == 0 and not end.cause:
        return None
    text = mask_text(to_plain_text(captured.out.decode("utf-8", "replace")))
    code = 128 + end.signal if end.signal else end.exit_code
    reason = f"`{command}` of run.setup failed: {end.cause or f'exit code {code}'}"
    return CheckResult(
        command, None if end.cause else NOT_RUN_EXIT_CODES[0], end.seconds, end.cause,
        tail=take_tail(text, MAX_TAIL), reason=mask_text(reason), lacks_program=True,
    )  # fmt: skip
