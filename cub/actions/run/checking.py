"""The checks of a project: run, read, kept by what they were run on, and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from cub.checks.fingerprint import compare, fingerprint, whole_print
from cub.checks.items import Item
from cub.checks.parsers import parse
from cub.checks.plain import plain, tail
from cub.checks.reasons import find_reason
from cub.checks.tallies import finds_no_test, has_passed
from cub.files.signed import read_signed, write_signed
from cub.masking import masked
from cub.processes.captured import captured
from cub.processes.command import Limits, shell
from cub.processes.stop import Stop
from cub.store.events import Event

TAIL = 1500  # characters
_MOST = 1_000_000  # bytes of output that are read
NOT_RUN = (126, 127)  # of a shell: no such command, or none that can be run


@dataclass(frozen=True, slots=True)
class Check:
    """A check's result. `exit` is None where it had to be stopped, for `cause`; `whole` tells
    one output from another, but for times and addresses. Of a check that failed, `passes` says that
    tests passed beside those that failed, `finds_no_test` that there was none to run, and `reason`
    what is wrong, in one line of what it printed.
    """

    command: str
    exit: int | None
    seconds: float = 0.0
    cause: str = ""
    items: tuple[Item, ...] = ()
    tail: str = ""
    whole: str = ""
    passes: bool = False
    finds_no_test: bool = False
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether it succeeded."""
        return self.exit == 0

    @property
    def print(self) -> str:
        """What tells this failure from another one."""
        return "" if self.passed else fingerprint(self.items, self.tail or self.cause)

    @property
    def repeatable(self) -> bool:
        """Whether it tells something about the files, and not about the machine."""
        return self.exit is not None and self.exit not in NOT_RUN


@dataclass(frozen=True, slots=True)
class Compared:
    """A check after an attempt, and what of it is new or fixed; `ok`: nothing is worse."""

    check: Check
    ok: bool
    new: tuple[Item, ...] = ()
    fixed: tuple[Item, ...] = ()

    def told(self) -> Event:
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
            "fp": check.print,
            "tail": "" if check.passed else check.tail,
            **({"cause": check.cause} if check.cause else {}),
        }


def compared(check: Check, before: Check | None, *, own: bool) -> Compared:
    """A check against the one at the base.

    What failed there already, and in no new way, is not the attempt's fault. A check that the
    task brought along has to succeed, or to fail less than before.
    """
    then = before or Check(check.command, 0)
    new, fixed, _ = compare(then.items, check.items)
    if check.passed:
        return Compared(check, True, fixed=fixed)
    if then.passed:
        return Compared(check, False, check.items)
    if check.items and then.items:
        return Compared(check, not new and (bool(fixed) or not own), new, fixed)
    same = check.cause == then.cause and (bool(check.cause) or check.whole == then.whole)
    return Compared(check, same and not own, () if same else check.items)


@dataclass(slots=True)
class Checker:
    """Runs checks in `folder`; results are kept in the folder `cache`, which no agent reaches, the
    last one of each check.
    """

    cache: Path
    folder: Path
    environ: Mapping[str, str]
    limits: Limits
    stop: Stop
    known: dict[tuple[str, str], Check] = field(default_factory=dict)

    def run(
        self, command: str, log: BinaryIO | None, last: Path | None = None, mark: str = ""
    ) -> Check:
        """Run a check to its end, or to the limit of its time."""
        what = shell(command, self.folder, self.environ, mark=mark)
        if log:
            log.write(f"$ {command}\n".encode("utf-8", "surrogateescape"))
        done = captured(what, self.limits, self.stop, _MOST, log, last)
        ended = done.ended
        if log:
            log.write(f"\n[exit {ended.exit}, {ended.seconds:.1f} s {ended.cause}]\n".encode())
        # Whole, before anything is read or cut: half of a secret is not known as one.
        text = masked(plain(done.output.decode("utf-8", "replace")))
        code = ended.exit if not ended.signal or ended.cause else 128 + ended.signal
        if ended.cause:
            return Check(command, None, ended.seconds, ended.cause, (), tail(text, TAIL))
        if code == 0:
            return Check(command, 0, ended.seconds)
        found = parse(text), tail(text, TAIL), whole_print(text)
        tests = has_passed(text), finds_no_test(text)
        return Check(command, code, ended.seconds, "", *found, *tests, find_reason(text))

    def recall(self, tree: str, command: str) -> Check | None:
        """What a check said of these very files, if it was asked before."""
        if found := self.known.get((tree, command)):
            return found
        kept = read_signed(self._file(command))
        if kept.get("tree") != tree:
            return None
        try:
            row = kept["check"]
            items = tuple(Item(*item) for item in row.pop("items"))
            return Check(**row, items=items)
        except (KeyError, TypeError, AttributeError):
            return None

    def keep(self, tree: str, check: Check) -> None:
        """Remember what a check said of files; beyond this run only if it said something."""
        self.known = {key: old for key, old in self.known.items() if key[1] != check.command}
        if check.cause != "stopped":
            self.known[tree, check.command] = check
        if check.repeatable:
            kept = {"tree": tree, "check": asdict(check)}
            write_signed(self._file(check.command), kept, is_lasting=False)

    def _file(self, command: str) -> Path:
        name = blake2b(command.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
        return self.cache / f"{name}.json"


def told(checks: list[Compared]) -> list[dict[str, Any]]:
    """What the ledger is told of all of them, the failed ones first: their number is limited."""
    return [one.told() for one in sorted(checks, key=lambda one: one.ok)]
