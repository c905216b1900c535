"""The checks of a project: run, read, kept by what they were run on, and compared.

Syntax errors in the files that an attempt changed: evidence against it, whatever checks say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from cub.actions.run.workspace import Workspace
from cub.checks.failing_items import (
    FailingItem,
    compare_items,
    fingerprint_items,
    fingerprint_output,
    truncate_item,
)
from cub.checks.failure_reasons import find_reason
from cub.checks.terminal_text import take_tail, to_plain_text
from cub.checks.tool_output import has_passing_test, parse_output, reports_no_test
from cub.files.signed_state import read_signed, write_signed
from cub.git.snapshot import FileChange
from cub.masking import mask_text
from cub.processes.command import StopRequest, TimeLimits, make_shell_command
from cub.processes.runner import run_and_capture
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.symbols.syntax_errors import find_syntax_error
from cub.store.events import Event

MAX_TAIL = 1500  # characters
_MOST = 1_000_000  # bytes of output that are read
NOT_RUN_EXIT_CODES = (126, 127)  # of a shell: no such command, or none that can be run


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check's result. `exit` is None where it had to be stopped, for `cause`; `whole` tells
    one output from another, but for times and addresses. Of a check that failed, `passes` says that
    tests passed beside those that failed, `finds_no_test` that there was none to run, and `reason`
    what is wrong, in one line of what it printed.
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

    @property
    def is_passing(self) -> bool:
        """Whether it succeeded."""
        return self.exit == 0

    @property
    def fingerprint(self) -> str:
        """What tells this failure from another one."""
        return "" if self.is_passing else fingerprint_items(self.items, self.tail or self.cause)

    @property
    def is_repeatable(self) -> bool:
        """Whether it tells something about the files, and not about the machine."""
        return self.exit is not None and self.exit not in NOT_RUN_EXIT_CODES


@dataclass(frozen=True, slots=True)
class CheckComparison:
    """A check after an attempt, and what of it is new or fixed; `is_ok`: nothing is worse."""

    check: CheckResult
    is_ok: bool
    new: tuple[FailingItem, ...] = ()
    fixed: tuple[FailingItem, ...] = ()

    def to_json(self) -> Event:
        """What the ledger is told."""
        check = self.check
        items = [*self.new, *(item for item in check.items if item not in self.new)]
        return {
            "cmd": check.command,
            "exit": check.exit,
            "dur_s": round(check.seconds, 2),
            "n": len(check.items),
            "new": len(self.new),
            "fixed": len(self.fixed),
            "items": [list(item) for item in items[:8]],
            "fp": check.fingerprint,
            "tail": "" if check.is_passing else check.tail,
            **({"cause": check.cause} if check.cause else {}),
        }


def compare_check(check: CheckResult, before: CheckResult | None, *, own: bool) -> CheckComparison:
    """A check against the one at the base.

    What failed there already, and in no new way, is not the attempt's fault. A check that the
    task brought along has to succeed, or to fail less than before.
    """
    then = before or CheckResult(check.command, 0)
    new, fixed, _ = compare_items(then.items, check.items)
    if check.is_passing:
        return CheckComparison(check, True, fixed=fixed)
    if then.is_passing:
        return CheckComparison(check, False, check.items)
    if check.items and then.items:
        return CheckComparison(check, not new and (bool(fixed) or not own), new, fixed)
    same = check.cause == then.cause and (bool(check.cause) or check.whole == then.whole)
    return CheckComparison(check, same and not own, () if same else check.items)


@dataclass(slots=True)
class CheckRunner:
    """Runs checks in `folder`; results are kept in the folder `cache_folder`, which no agent
    reaches, the last one of each check.
    """

    cache_folder: Path
    folder: Path
    environ: Mapping[str, str]
    limits: TimeLimits
    stop: StopRequest
    results: dict[tuple[str, str], CheckResult] = field(default_factory=dict)

    def run_check(
        self, command: str, log: BinaryIO | None, end_time_file: Path | None = None, mark: str = ""
    ) -> CheckResult:
        """Run a check to its end, or to the limit of its time."""
        what = make_shell_command(command, self.folder, self.environ, mark=mark)
        if log:
            log.write(f"$ {command}\n".encode("utf-8", "surrogateescape"))
        done = run_and_capture(what, self.limits, self.stop, _MOST, log, end_time_file)
        ended = done.result
        if log:
            log.write(f"\n[exit {ended.exit_code}, {ended.seconds:.1f} s {ended.cause}]\n".encode())
        # Whole, before anything is read or cut: half of a secret is not known as one.
        text = mask_text(to_plain_text(done.output.decode("utf-8", "replace")))
        code = ended.exit_code if not ended.signal or ended.cause else 128 + ended.signal
        if ended.cause:
            return CheckResult(
                command, None, ended.seconds, ended.cause, (), take_tail(text, MAX_TAIL)
            )
        if code == 0:
            return CheckResult(command, 0, ended.seconds)
        found = parse_output(text), take_tail(text, MAX_TAIL), fingerprint_output(text)
        tests = has_passing_test(text), reports_no_test(text)
        return CheckResult(command, code, ended.seconds, "", *found, *tests, find_reason(text))

    def find_result(self, tree: str, command: str) -> CheckResult | None:
        """What a check said of these very files, if it was asked before."""
        if found := self.results.get((tree, command)):
            return found
        kept = read_signed(self._file(command))
        if kept.get("tree") != tree:
            return None
        try:
            row = kept["check"]
            items = tuple(FailingItem(*item) for item in row.pop("items"))
            return CheckResult(**row, items=items)
        except (KeyError, TypeError, AttributeError):
            return None

    def store_result(self, tree: str, check: CheckResult) -> None:
        """Remember what a check said of files; beyond this run only if it said something."""
        self.results = {key: old for key, old in self.results.items() if key[1] != check.command}
        if check.cause != "stopped":
            self.results[tree, check.command] = check
        if check.is_repeatable:
            kept = {"tree": tree, "check": asdict(check)}
            write_signed(self._file(check.command), kept, is_lasting=False)

    def _file(self, command: str) -> Path:
        name = blake2b(command.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
        return self.cache_folder / f"{name}.json"


def checks_to_json(checks: list[CheckComparison]) -> list[dict[str, Any]]:
    """What the ledger is told of all of them, the failed ones first: their number is limited."""
    return [one.to_json() for one in sorted(checks, key=lambda one: one.is_ok)]


SYNTAX_CHECK = "syntax of the changed files"
_MAX_FILES = 200  # files
_LARGEST = 1 << 20  # bytes
# Folders of files that are input to a test or to a template engine, and may be broken on purpose.
_DATA = re.compile(
    r"(?:.*/)?(?:.*[-_.])?(?:data|testdata|fixtures?|__fixtures__|golden|goldens|snapshots?"
    r"|__snapshots__|samples?|corpus|cases|inputs?|templates?|skeletons?|archetypes?)/.*",
    re.IGNORECASE,
)


def check_syntax(
    workspace: Workspace, before: Any, changed: Sequence[FileChange]
) -> CheckComparison | None:
    """Parse the changed sources that cub has a reliable grammar for.

    What was broken before stays out of it. None where there is no new syntax error.
    """
    files = [one for one in changed if one.kind != "D" and not one.is_submodule]
    items = tuple(_find_errors(workspace, before, files))
    return (
        CheckComparison(CheckResult(SYNTAX_CHECK, 1, items=items), False, items) if items else None
    )


def _find_errors(
    workspace: Workspace, before: Any, files: Sequence[FileChange]
) -> Iterator[FailingItem]:
    judged = ((one, language) for one in files if (language := _judged_language(one.path)))
    for one, language in islice(judged, _MAX_FILES):
        fault = find_syntax_error(language, workspace.read_file(one.path, _LARGEST))
        if fault is None:
            continue
        old = workspace.read_file_before(before, one.path) if one.kind == "M" else b""
        if find_syntax_error(language, old) is None:
            yield truncate_item(FailingItem("build", f"{one.path}:{fault.line}", fault.message))


def _judged_language(path: str) -> str:
    """The grammar that a file is judged by; "" where it is none of people's sources."""
    language = detect_language(path)
    if language is None or not language.syntax_checked or _DATA.fullmatch(path):
        return ""
    foreign = FileClassifier(()).classify(path) in (FileKind.VENDORED, FileKind.GENERATED)
    return "" if foreign else language.grammar
