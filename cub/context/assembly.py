"""Assemble a context: select rules and a task file, then put their texts together in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cub.context.context_commands import clean_output
from cub.context.expansion import MAX_IMPORT_DEPTH, TextExpansion
from cub.context.front_matter import list_field, read_flag
from cub.context.output_blocks import OutputBlock
from cub.context.rules import RuleFile, RuleSearch
from cub.context.selectors import (
    Selectors,
    explain_agent_mismatch,
    explain_mismatch,
    explain_path_mismatch,
    format_value,
    list_patterns,
)
from cub.context.task_files import RESUME, TaskFile, find_task_file
from cub.context.text_collector import ContextPart, RunCommand, TextCollector
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.text import suggest_similar
from cub.tokens import estimate_tokens

_TASK_NAME, _OPT_IN = "task_name", "include_unmatched"


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Hold what a context is to have: "" for no task file, no prompt, no agent, no path.

    `piped` is text from stdin.
    """

    task: str = ""
    prompt: str = ""
    resumes: bool = False
    selectors: Selectors = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    path: str = ""
    piped: str = ""


class RuleChoice(NamedTuple):
    """Hold a rule, and why it is left out; "" if it is taken."""

    rule: RuleFile
    reason: str


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """Hold what a context will be made of; nothing has run yet."""

    request: ContextRequest
    choices: Sequence[RuleChoice]
    task: TaskFile | None
    import_depth: int
    warnings: Sequence[PlanWarning]

    @property
    def rules(self) -> list[RuleFile]:
        """Return the rules that are taken."""
        return [rule for rule, reason in self.choices if not reason]

    @property
    def rule_count(self) -> int:
        """Return the number of rule files; those with several names count once."""
        return sum(not rule.same_as for rule, _ in self.choices)


class AssembledContext(NamedTuple):
    """Hold the text of a context, its parts, and warnings."""

    text: str
    sources: list[ContextPart]
    warnings: list[PlanWarning]

    @property
    def data(self) -> bytes:
        """Return the text as bytes; invalid ones are as they were in the files."""
        return self.text.encode("utf-8", "surrogateescape")


def plan_context(reader: TextReader, request: ContextRequest) -> ContextPlan:
    """Choose the rules and the task file. Raises CubError for a task that can't be chosen."""
    task = None
    if request.task:
        implicit = {RESUME: ("true",)} if request.resumes else {}
        task = find_task_file(reader, request.task, {**implicit, **request.selectors})
        if task.text.error:
            raise task.text.error
    search, depth = RuleSearch(reader), MAX_IMPORT_DEPTH
    if request.agent and not request.resumes:
        from cub.context.agent_rules import find_agent_rules

        search, depth = find_agent_rules(reader, request.agent)
    elif not request.resumes:
        search.find_all()
    choices = [
        RuleChoice(rule, _explain_choice(rule, request, task, reader.root)) for rule in search.rules
    ]
    texts = [rule.text for rule in search.rules] + ([task.text] if task else [])
    near = _find_near_selectors(request.selectors, [text.fields for text in texts])
    warnings = tuple(dict.fromkeys([*reader.warnings, *near]))
    return ContextPlan(request, choices, task, depth, warnings)


def _find_near_selectors(
    selectors: Selectors, fields: Sequence[Mapping[str, Any]]
) -> Iterator[PlanWarning]:
    """Yield warnings about keys and values that no file has, while a file has a similar one."""
    keys = dict.fromkeys(key for row in fields for key in row)
    for key, wanted in selectors.items():
        values = [format_value(v) for row in fields for v in list_field(row, key)]
        for value in wanted:
            asked = f"{key}={value}"
            if key not in keys and (near := suggest_similar(key, keys)):
                hint = f"did you mean -s {near}={value}?"
                yield PlanWarning(f"no file has the field {key!r}", f"-s {asked}", hint=hint)
            elif value not in values and (near := suggest_similar(value, values)):
                hint = f"did you mean -s {key}={near}?"
                yield PlanWarning(f"no file has this value of {key!r}", f"-s {asked}", hint=hint)


def _explain_choice(
    rule: RuleFile, request: ContextRequest, task: TaskFile | None, root: Path
) -> str:
    """Return why a rule is left out; "" if it is taken."""
    if rule.same_as:
        return f"it is the same file as {rule.same_as}"
    selectors = request.selectors
    is_opt_in = read_flag(rule.text.fields, _OPT_IN) is False
    if task:
        is_opt_in |= read_flag(task.text.fields, _OPT_IN) is False
        selectors = {**task.rule_selectors, _TASK_NAME: (task.path.stem,), **selectors}
    reason = explain_mismatch(rule.text.fields, selectors, is_opt_in=is_opt_in)
    reason = reason or explain_agent_mismatch(rule.text.fields, request.agent)
    if request.path and not reason:
        if rule.text.error and not list_patterns(rule.text.fields):
            return "its front matter can't be read"
        base = root if rule.location.scope == "user" else rule.folder
        path = Path(request.path)
        inside = path.is_relative_to(base)
        relative = path.relative_to(base).as_posix() if inside else path.name
        reason = explain_path_mismatch(rule.text.fields, relative)
    return reason


def assemble_context(
    reader: TextReader,
    plan: ContextPlan,
    blocks: Sequence[tuple[str, str]] = (),
    run_command: RunCommand | None = None,
) -> AssembledContext:
    """Put the texts together: rules, `blocks` (name and text), stdin, task file, prompt.

    `run_command` runs a command of the task file; without it, they stay as they are written.
    Raises CubError for a parameter that the task file requires.
    """
    texts = TextCollector(reader, plan.request.parameters, plan.import_depth)
    sources = [texts.take_rule(*choice) for choice in plan.choices]
    sources += [ContextPart("command", name, "", (), text) for name, text in blocks]
    if piped := clean_output(plan.request.piped.encode("utf-8", "surrogateescape")):
        texts.mask(plan.request.piped, "stdin")
        block = OutputBlock("stdin", "", piped)
        sources.append(ContextPart("stdin", "stdin", "", (), block.format()))
    if plan.task:
        sources.append(texts.take_task(plan.task, run_command))
    parts = [source.text for source in sources if source.text]
    if prompt := plan.request.prompt:
        expansion = TextExpansion("--prompt", plan.request.parameters)
        text = texts.mask(expansion.expand(prompt), "--prompt")
        sources.append(ContextPart("prompt", "--prompt", "", (), text))
        texts.warnings += expansion.warnings
    text = "".join(f"{part}\n\n" for part in parts) + (sources[-1].text if prompt else "")
    return AssembledContext(text, sources, [*plan.warnings, *texts.warnings])


def estimate_simple_tokens(text: str) -> int:
    """Return characters / 4 + words / 0.75, the rule of thumb of other context assemblers."""
    return round(len(text) / 4 + len(text.split()) / 0.75)


ESTIMATORS: Mapping[str, Callable[[str], int]] = {
    "cub": estimate_tokens,
    "simple": estimate_simple_tokens,
}
