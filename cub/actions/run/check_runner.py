"""Run the checks of a project, store their results by the files that they ran on, and compare."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from cub.checks.failing_items import (
    FailingItem,
    fingerprint_items,
    fingerprint_output,
)
from cub.checks.failure_reasons import find_missing_modules, find_reason
from cub.checks.runner_totals import RunnerTotals, count_tests
from cub.checks.terminal_text import take_tail, to_plain_text
from cub.checks.tool_output import (
    find_missing_tool,
    has_passing_test,
    parse_output,
    reports_no_test,
)
from cub.files.read_files import read_small_file
from cub.files.signed_state import read_signed, write_signed
from cub.masking import mask_text
from cub.place.checkout import TreeGit
from cub.place.place import Place
from cub.processes.command import StopRequest, TimeLimits, make_shell_command
from cub.processes.runner import CapturedOutput, run_and_capture

_MAX_TAIL = 1500  # characters
_MAX_OUTPUT = 1_000_000  # bytes that are read
_MANIFESTS = (
    "pyproject.toml", "*requirements*.txt", "requirements/*.txt", "setup.cfg", "setup.py",
    "tox.ini", "Pipfile", "environment.yml", "package.json",
)  # fmt: skip
_MAX_MANIFEST = 1 << 20  # bytes
# What a shell prints of a program that it does not find.
_NOT_FOUND = re.compile(
    r"^(?:\S*sh: )?(?:(?:line )?\d+: )?([^\s:]+): (?:command )?not found$", re.MULTILINE
)
_WORD = re.compile(r"[\w./@+-]+")
_VARIABLES = (
    "PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "NODE_PATH", "NODE_OPTIONS",
)  # fmt: skip
NOT_RUN_EXIT_CODES = (126, 127)  # of a shell: no such command, or none that can be run


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Hold a check's result; `exit` is None if it had to be stopped, for `cause`.

    `whole` is a fingerprint of the output, except for times and addresses. If the check failed,
    `passes` says that tests passed beside those that failed, and `reason` what is wrong, in one
    line of the output. `finds_no_test` says that there was no test to run, however it ended, and
    `lacks_program` that a program or a module that the check needs is not installed. `totals` are
    those of test runners that sum up their tests; None if the output is not known as a whole.
    """

    command: str
    exit: int | None
    seconds: float = 0.0
    cause: str = ""
    items: tuple[FailingItem, ...] = ()
    tail: str = ""
    whole: str = ""
    passes: bool = False
    finds_no_test: bool = False
    reason: str = ""
    lacks_program: bool = False
    totals: tuple[RunnerTotals, ...] | None = None

    @property
    def can_run(self) -> bool:
        """Return whether the command could be started, with all that it needs."""
        return self.exit not in NOT_RUN_EXIT_CODES and not self.lacks_program

    @property
    def is_passing(self) -> bool:
        """Return whether the check succeeded."""
        return self.exit == 0

    @property
    def is_red(self) -> bool:
        """Return whether the check could run, and failed."""
        return self.can_run and not self.is_passing and not self.finds_no_test

    @property
    def fingerprint(self) -> str:
        """Return what identifies this failure; "" for a success."""
        return "" if self.is_passing else fingerprint_items(self.items, self.tail or self.cause)

    @property
    def is_repeatable(self) -> bool:
        """Return whether the result is about the files, and not about the environment."""
        return self.exit is not None and self.can_run


@dataclass(slots=True)
class CheckRunner:
    """Run checks, and keep the last result of each in `cache_folder`.

    `folder` is the project's in the person's checkout: what checks need is installed there.
    `results` are those of this run, by tree and command.
    """

    cache_folder: Path
    folder: Path
    environ: Mapping[str, str]
    limits: TimeLimits
    stop: StopRequest
    results: dict[tuple[str, str], CheckResult] = field(default_factory=dict)

    def run_check(
        self, place: Place, command: str, log: BinaryIO | None, mark: str = ""
    ) -> CheckResult:
        """Run a check in a place's tree of checks, to its end or to its time limit."""
        captured, text = self._run_command(place, place.checks, command, log, mark)
        result = read_check_result(command, captured, text)
        manifests = place.checks.tree / place.settings.prefix
        lacks_program = lacks_needed_program(result, text, manifests, self.environ)
        return replace(result, lacks_program=lacks_program)

    def run_setup_command(
        self, place: Place, tree: TreeGit, command: str, log: BinaryIO | None, mark: str
    ) -> CheckResult | None:
        """Run a command of `run.setup` in one of a place's trees; return its result if it fails."""
        captured, text = self._run_command(place, tree, command, log, mark)
        end, tail = captured.result, take_tail(text, _MAX_TAIL)
        if end.exit_code == 0 and not end.cause:
            return None
        what = end.cause or f"exit code {end.shell_exit_code}"
        reason = mask_text(f"`{command}` of run.setup failed: {what}")
        code = None if end.cause else NOT_RUN_EXIT_CODES[0]  # nothing can be checked without it
        return CheckResult(
            command, code, end.seconds, end.cause, tail=tail, reason=reason, lacks_program=True
        )

    def _run_command(
        self, place: Place, tree: TreeGit, command: str, log: BinaryIO | None, mark: str
    ) -> tuple[CapturedOutput, str]:
        """Run a command in one of a place's trees; return its output as a text, too."""
        process = make_shell_command(command, place.get_inner_root(tree), self.environ, mark=mark)
        process = place.confine(process, tree)
        if log:
            log.write(f"$ {command}\n".encode("utf-8", "surrogateescape"))
        captured = run_and_capture(process, self.limits, self.stop, _MAX_OUTPUT, log)
        end = captured.result
        if log:
            log.write(f"\n[exit {end.exit_code}, {end.seconds:.1f} s {end.cause}]\n".encode())
        return captured, _read_output(captured.out, tree)

    def find_result(self, tree: str, command: str) -> CheckResult | None:
        """Return a check's stored result for the files of `tree`; None if there is none."""
        if result := self.results.get((tree, command)):
            return result
        stored = read_signed(self._cache_file(command))
        if stored.get("tree") != tree or stored.get("environment") != self._identify(command):
            return None
        return restore_check(stored.get("check"))

    def store_result(self, tree: str, check: CheckResult) -> None:
        """Store a check's result for the files of `tree`; beyond this run if it is repeatable."""
        self.results = {
            key: old for key, old in self.results.copy().items() if key[1] != check.command
        }
        if check.cause != "stopped" and check.can_run:
            self.results[tree, check.command] = check
        if check.is_repeatable:
            environment = self._identify(check.command)
            stored = {"tree": tree, "environment": environment, "check": asdict(check)}
            write_signed(self._cache_file(check.command), stored, is_lasting=False)

    def _identify(self, command: str) -> str:
        """Return what identifies the environment of a command beside the files of the project."""
        facts = identify_environment(command, self.folder, self.environ)
        return blake2b(
            "\n".join(facts).encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()

    def _cache_file(self, command: str) -> Path:
        name = blake2b(command.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
        return self.cache_folder / f"{name}.json"


def restore_check(fields: Any) -> CheckResult | None:
    """Return the check that `asdict` made these fields of; None for anything else."""
    try:
        items = tuple(FailingItem(*item) for item in fields["items"])
        totals = fields["totals"]
        totals = None if totals is None else tuple(RunnerTotals(*total) for total in totals)
        return CheckResult(**{**fields, "items": items, "totals": totals})
    except (KeyError, TypeError):
        return None


def read_check_result(command: str, captured: CapturedOutput, text: str) -> CheckResult:
    """Return what a check's output, which is `text` without secrets, says of the project."""
    end, tail = captured.result, take_tail(text, _MAX_TAIL)
    if end.cause:
        return CheckResult(command, None, end.seconds, end.cause, tail=tail)
    finds_no_test = reports_no_test(text)
    totals = None if captured.left_out else count_tests(text)
    if end.exit_code == 0:
        return CheckResult(command, 0, end.seconds, finds_no_test=finds_no_test, totals=totals)
    missing = find_missing_tool(text)
    return CheckResult(
        command,
        end.shell_exit_code,
        end.seconds,
        items=parse_output(text),
        tail=tail,
        whole=fingerprint_output(text),
        passes=has_passing_test(text),
        finds_no_test=finds_no_test,
        reason=missing or find_reason(text),
        lacks_program=bool(missing),
        totals=totals,
    )


def lacks_needed_program(
    check: CheckResult, text: str, manifests: Path, environ: Mapping[str, str]
) -> bool:
    """Return whether a check can't work before something is installed.

    `manifests` is the folder of the project's. That a module is missing which none of them names
    is not such a case: it may be the task's to write it.
    """
    if check.is_passing or check.cause:
        return False
    if check.exit in NOT_RUN_EXIT_CODES:
        missing = _NOT_FOUND.search(text)
        name = missing[1] if missing else next(iter(check.command.split()), "")
        return "/" not in name and shutil.which(name, path=environ.get("PATH")) is None
    if check.lacks_program:
        return True
    has_collected = check.passes or any(item.kind != "error" for item in check.items)
    return not has_collected and _names_any(manifests, find_missing_modules(text))


def identify_environment(command: str, folder: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the variables, programs and packages that a command depends on, with their versions.

    A version is the time of the last change: that of a folder of packages changes with each package
    that is installed or upgraded. Interpreters count for every command, because a Makefile or a
    script may call them.
    """
    yield from (f"{name}={environ.get(name)}" for name in _VARIABLES)
    words = [*_WORD.findall(command), "python", "python3", "node"]
    found = (shutil.which(word, path=environ.get("PATH")) for word in words if "/" not in word)
    tools = {Path(tool) for tool in found if tool} | {
        folder / word for word in words if "bin/" in word
    }
    tools |= {tool.resolve() for tool in tools}
    places = {folder / "node_modules", folder / "node_modules" / ".package-lock.json", *tools}
    for tool in tools:
        places |= {tool.parent, *tool.parent.parent.glob("lib/python*/*-packages")}
    for place in sorted(places):
        with suppress(OSError):
            status = place.stat()
            yield f"{place} {status.st_mtime_ns} {status.st_ino}"


def _read_output(output: bytes, tree: TreeGit) -> str:
    """Return what a command printed, without secrets, and with paths as they are in the checkout.

    The path of a place beside the checkout differs from run to run, while a failure is the same.
    """
    text = output.decode("utf-8", "replace")
    text = text.replace(tree.tree.as_posix(), tree.checkout.toplevel.as_posix())
    return mask_text(to_plain_text(text))  # before it is cut: half of a secret is not recognized


def _names_any(folder: Path, modules: Iterable[str]) -> bool:
    """Return whether a manifest of the project names one of the modules, with `-` or `_`."""
    patterns = [rf"\b{re.escape(name).replace('_', '[-_]')}\b" for name in modules]
    if not patterns:
        return False
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    files = (file for name in _MANIFESTS for file in sorted(folder.glob(name)))
    names = (file.relative_to(folder).as_posix() for file in files)
    texts = (read_small_file(folder, name, _MAX_MANIFEST) for name in names)
    return any(pattern.search(text.decode("utf-8", "replace")) for text in texts)
