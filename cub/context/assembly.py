"""Assemble a context: select rules and a task file, then put their texts together in order.

Each text goes in once: a file with several names, a file that another one imports, and cub's own
section, of which several files have a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cub.context.agent_rules import MAX_IMPORT_DEPTH, find_agent_rules
from cub.context.expansion import TextExpansion
from cub.context.front_matter import MarkdownText, list_field, read_flag, split_front_matter
from cub.context.rules import RuleFile, RuleSearch
from cub.context.selectors import (
    Selectors,
    explain_mismatch,
    explain_path_mismatch,
    format_value,
    merge_selectors,
)
from cub.context.task_files import RESUME, TaskFile, find_task_file
from cub.context.text_reader import FileIdentity, TextReader
from cub.edit.document import Document
from cub.edit.plan import PlanWarning
from cub.edit.section_writer import remove_section
from cub.edit.sections import find_section_or_none
from cub.errors import CubError
from cub.tokens import estimate_tokens

RunCommand = Callable[[str], str | None]
_TASK_NAME, _OPT_IN = "task_name", "include_unmatched"


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Hold what a context is to have: "" for no task file, no prompt, no agent, no path."""

    task: str = ""
    prompt: str = ""
    resumes: bool = False
    selectors: Selectors = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    path: str = ""


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


class ContextSource(NamedTuple):
    """Hold one part of a context: where it is from, and its text.

    `kind` is rule, task, command or prompt; `reason` says why it is left out, "" if it is in.
    """

    kind: str
    name: str
    scope: str
    agents: tuple[str, ...]
    text: str
    reason: str = ""


class AssembledContext(NamedTuple):
    """Hold the text of a context, its parts, and warnings."""

    text: str
    sources: list[ContextSource]
    warnings: list[PlanWarning]


def plan_context(reader: TextReader, request: ContextRequest) -> ContextPlan:
    """Choose the rules and the task file. Raises CubError for a task that can't be chosen."""
    task = None
    if request.task:
        implicit = {RESUME: ("true",)} if request.resumes else {}
        task = find_task_file(reader, request.task, merge_selectors(request.selectors, implicit))
        if task.text.error:
            raise task.text.error
    search, depth = RuleSearch(reader), MAX_IMPORT_DEPTH
    if request.agent:
        search, depth = find_agent_rules(reader, request.agent)
    elif not request.resumes:
        search.find_all()
    choices = [
        RuleChoice(rule, _explain_choice(rule, request, task, reader.root)) for rule in search.rules
    ]
    return ContextPlan(request, choices, task, depth, search.warnings)


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
        own = {**_read_task_selectors(task), _TASK_NAME: (task.path.stem,)}
        selectors = merge_selectors(selectors, own)
    reason = explain_mismatch(rule.text.fields, selectors, is_opt_in=is_opt_in)
    if request.path and not reason:
        base = root if rule.location.scope == "user" else rule.folder
        path = Path(request.path)
        relative = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
        reason = explain_path_mismatch(rule.text.fields, relative.as_posix())
    return reason


def _read_task_selectors(task: TaskFile) -> Selectors:
    """Return what a task file asks rules for, in its field `selectors`."""
    values = task.text.fields.get("selectors")
    if not isinstance(values, dict):
        return {}
    return {key: tuple(map(format_value, list_field(values, key))) for key in values}


def assemble_context(
    reader: TextReader,
    plan: ContextPlan,
    blocks: Sequence[tuple[str, str]] = (),
    run_command: RunCommand | None = None,
) -> AssembledContext:
    """Put the texts together: rules, `blocks` of commands (name and text), task file, prompt.

    `run_command` runs a command of the task file; without it, they stay as they are written.
    Raises CubError for a parameter that the task file requires.
    """
    texts = _TextCollector(reader, plan)
    sources = [texts.take_rule(choice) for choice in plan.choices]
    sources += [ContextSource("command", name, "", (), text) for name, text in blocks]
    if plan.task:
        sources.append(texts.take_task(plan.task, run_command))
    parts = [source.text for source in sources if source.text]
    if prompt := plan.request.prompt:
        expansion = TextExpansion("--prompt", plan.request.parameters)
        sources.append(ContextSource("prompt", "--prompt", "", (), expansion.expand(prompt)))
        texts.warnings += expansion.warnings
    text = "".join(f"{part}\n\n" for part in parts) + (sources[-1].text if prompt else "")
    return AssembledContext(text, sources, [*plan.warnings, *texts.warnings])


class _TextCollector:
    """Take each text once, with its imports."""

    def __init__(self, reader: TextReader, plan: ContextPlan) -> None:
        self.reader, self.plan = reader, plan
        self.warnings: list[PlanWarning] = []
        self.names: dict[FileIdentity, str] = {}
        self.bodies: dict[str, str] = {}
        self.section_name = ""

    def take_rule(self, choice: RuleChoice) -> ContextSource:
        """Return a rule with its text, or with the reason why it is left out."""
        rule, reason = choice
        text = ""
        if not reason:
            if holder := self.names.get(rule.identity):
                reason = f"{holder} imports it"
            else:
                self.names[rule.identity] = rule.name
                text, reason = self._expand_rule(rule)
        agents = rule.location.agents
        return ContextSource("rule", rule.name, rule.location.scope, agents, text, reason)

    def take_task(self, task: TaskFile, run_command: RunCommand | None) -> ContextSource:
        """Return the task file with everything in it expanded."""
        expansion = TextExpansion(task.name, first_line=task.text.line)
        if task.expands:
            expansion.parameters = self.plan.request.parameters
            expansion.load_import = self._make_loader(task.path.parent, task.name, MAX_IMPORT_DEPTH)
        if task.commands:
            expansion.run_command = run_command
        text = expansion.expand(task.text.body)
        self.warnings += expansion.warnings
        scope = "project" if task.is_project else "user"
        return ContextSource("task", task.name, scope, (), _trim(text))

    def _expand_rule(self, rule: RuleFile) -> tuple[str, str]:
        """Return a rule's text, and why there is none."""
        flag, depth = read_flag(rule.text.fields, "expand"), self.plan.import_depth
        expansion = TextExpansion(
            rule.name,
            self.plan.request.parameters if flag else None,
            self._make_loader(rule.path.parent, rule.name, depth) if flag is not False else None,
            first_line=rule.text.line,
        )
        text = _trim(expansion.expand(self._take_section_once(rule.text, rule.name)))
        self.warnings += expansion.warnings
        if not text:
            return (
                "",
                f"{self.section_name} has all of it" if rule.text.body.strip() else "it is empty",
            )
        if (holder := self.bodies.setdefault(text, rule.name)) != rule.name:
            return "", f"{holder} has the same text"
        return text, ""

    def _take_section_once(self, text: MarkdownText, name: str) -> str:
        """Return a file's text; from the second file on, without cub's own section."""
        if "<!--" not in text.body:
            return text.body
        document = Document(text.body.encode("utf-8", "replace"), name)
        section = find_section_or_none(document)
        if section is None:
            return text.body
        if not self.section_name:
            self.section_name = name
            return text.body
        return remove_section(document, section).decode("utf-8", "replace")

    def _make_loader(
        self, folder: Path, name: str, depth: int
    ) -> Callable[[str, bool], str | None] | None:
        """Return a function that loads the imports of a file in `folder`."""
        return (lambda path, alone: self._load(path, alone, folder, name, depth)) if depth else None

    def _load(self, path: str, alone: bool, folder: Path, name: str, depth: int) -> str | None:
        within = self.reader.root if folder.is_relative_to(self.reader.root) else folder
        for start in dict.fromkeys((folder, self.reader.start)):
            full = self._resolve(path, start)
            try:
                file = self.reader.read(full, within) if full else None
            except CubError as error:
                message = f"@{path}: {error.message}; it is not imported"
                self.warnings.append(PlanWarning(message, name))
                return None
            if file is None or b"\0" in file.data:
                continue
            if file.identity in self.names:
                return "" if alone else path
            target = self.reader.describe(file.real)
            self.names[file.identity] = name
            text = split_front_matter(file.data, target)
            loader = self._make_loader(file.real.parent, target, depth - 1)
            expansion = TextExpansion(target, load_import=loader)
            return expansion.expand(self._take_section_once(text, target)).strip("\n")
        return None

    def _resolve(self, path: str, base: Path) -> Path | None:
        if path.startswith("~/"):
            return self.reader.home / path[2:] if self.reader.home else None
        return base / path


def _trim(text: str) -> str:
    return text.strip("\n") if text.strip() else ""


def estimate_simple_tokens(text: str) -> int:
    """Return characters / 4 + words / 0.75, the rule of thumb of other context assemblers."""
    return round(len(text) / 4 + len(text.split()) / 0.75)


ESTIMATORS: Mapping[str, Callable[[str], int]] = {
    "cub": estimate_tokens,
    "simple": estimate_simple_tokens,
}
