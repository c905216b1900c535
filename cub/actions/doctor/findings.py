"""Define the findings of `cub doctor`: a severity for each code, and the selection of codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
from cub.text import list_similar

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
DOCS_PAGE = "docs/reference/doctor.md"
# The first digits of the codes, and what each group is about.
GROUPS = {
    "D1": "git",
    "D2": "agents",
    "D3": "checks and trust",
    "D4": "instruction files",
    "D5": "configuration",
    "D6": "tasks and ledger",
}
RUN_GROUPS = ("D1", "D2", "D3")  # an error in one of them stops a run


# The severity of each code.
CODES: dict[str, Severity] = {
    "D101": "error",  # git is not installed
    "D102": "error",  # git is too old
    "D103": "error",  # the project is not in a git repository
    "D104": "error",  # the repository has no commit yet
    "D105": "error",  # git has no identity for commits
    "D106": "error",  # HEAD is detached
    "D107": "warning",  # changes are not committed
    "D201": "error",  # no agent can be started
    "D202": "warning",  # one of several agents can't be started
    "D203": "warning",  # the agent is older than the oldest tested version
    "D204": "info",  # the agent that a run uses
    "D301": "error",  # no check decides whether a task is done
    "D302": "warning",  # no check is configured, and none was found
    "D303": "error",  # the program of a check is not installed
    "D304": "error",  # the project's commands are not trusted
    "D305": "info",  # the checks that a run uses
    "D401": "error",  # a managed section is broken, or its file can't be read
    "D402": "error",  # a newer cub wrote the section
    "D403": "warning",  # the section is out of date
    "D404": "warning",  # the section was edited manually
    "D405": "warning",  # a section or a file is missing
    "D406": "warning",  # no target includes the section
    "D407": "warning",  # a file name differs only in case
    "D408": "warning",  # a symbolic link was checked out as text
    "D409": "warning",  # an import names a missing file
    "D410": "warning",  # an import leads out of the project
    "D411": "warning",  # an agent does not read a file to its end
    "D412": "warning",  # a file hides another one from an agent
    "D413": "warning",  # two files contain the same text
    "D414": "warning",  # git ignores a file that is referenced
    "D415": "warning",  # git tracks a file that is configured as local
    "D416": "warning",  # the map is out of date
    "D417": "info",  # the files that an agent reads
    "D501": "error",  # the configuration can't be used
    "D502": "warning",  # the configuration has a questionable setting
    "D503": "warning",  # the project has an older layout
    "D601": "error",  # a line of the task file is not a task
    "D602": "warning",  # a task has several lines
    "D603": "error",  # tasks depend on each other in a cycle
    "D604": "error",  # a task depends on a missing task
    "D605": "warning",  # the parent of a task is missing
    "D606": "warning",  # the lease of a task has expired
    "D607": "warning",  # invalid lines were set aside
    "D608": "warning",  # a change was interrupted
    "D609": "error",  # the task file can't be read
    "D610": "warning",  # a line of the ledger is not an event
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Describe one problem, its place, and a fix that the reader can copy; "" if there is none.

    `changed_paths` are the files that are not committed, relative to the project.
    """

    code: str
    message: str
    path: str = ""
    line: int | None = None
    fix: str = ""
    changed_paths: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """Return the severity of the code."""
        return CODES[self.code]

    @property
    def location(self) -> str:
        """Return `file` or `file:line`, "" without a file."""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    @property
    def docs(self) -> str:
        """Return where the code is described."""
        return f"{DOCS_PAGE}#{self.code.lower()}"

    @property
    def stops_run(self) -> bool:
        """Tell whether `cub run` refuses to start because of this."""
        return self.severity == "error" and self.code.startswith(RUN_GROUPS)

    @classmethod
    def from_warning(cls, code: str, warning: PlanWarning) -> Finding:
        """Return the finding for a warning of another command."""
        return cls(code, warning.message, warning.path, warning.line, warning.hint)

    @classmethod
    def from_error(cls, code: str, error: CubError) -> Finding:
        """Return the finding for an error that another command would end with."""
        line = error.line
        path = error.where if line is None else error.where.split(f":{line}", 1)[0]
        return cls(code, error.message, path, line, error.hint)


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, errors first, then by code, in the order of their discovery."""
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda one: (SEVERITIES.index(one.severity), one.code))


def select_findings(
    findings: Iterable[Finding], select: Sequence[str], ignore: Sequence[str]
) -> list[Finding]:
    """Return the findings that the codes and prefixes select; of two that match, the longer wins.

    Without `select`, all are selected. Raises UsageError for an unknown code.
    """
    select, ignore = _parse_codes("--select", select), _parse_codes("--ignore", ignore)
    return [one for one in findings if _is_selected(one.code, select or ("D",), ignore)]


def _is_selected(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    chosen = max((len(prefix) for prefix in select if code.startswith(prefix)), default=0)
    left_out = max((len(prefix) for prefix in ignore if code.startswith(prefix)), default=0)
    return chosen > left_out


def _parse_codes(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return the codes and prefixes in `words`, which may list several with commas."""
    codes = [part.strip() for word in words for part in word.split(",") if part.strip()]
    for code in codes:
        if not any(known.startswith(code.upper()) for known in CODES):
            similar = " or ".join(map(repr, list_similar(code.upper(), [*CODES, *GROUPS])))
            groups = ", ".join(f"{group} ({title})" for group, title in GROUPS.items())
            hint = f"did you mean {similar}?" if similar else f"choose from {groups}"
            raise UsageError(f"unknown code {code!r}", where=option, hint=hint)
    return tuple(code.upper() for code in codes)
