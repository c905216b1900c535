"""Load the instructions that people have written for agents: the memory of the built-in agent.

They come from the locations that `cub context` reads, those of the lowest priority first: of the
user, of the project, its modular rules, and the user's own for this project. Rules that are for
some paths are given to the model with the first file that they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from cub.context.assembly import ContextRequest, RuleChoice, plan_context
from cub.context.expansion import MAX_IMPORT_DEPTH
from cub.context.rules import RuleFile
from cub.context.selectors import explain_path_mismatch, list_patterns
from cub.context.text_collector import TextCollector
from cub.context.text_reader import TextReader
from cub.edit.document import Document
from cub.edit.plan import PlanWarning
from cub.edit.sections import find_section_or_none

MAX_OWN_TEXT = 10_000  # characters of what a person wrote in one file, before its imports
_LOCAL_FILE = "CLAUDE.local.md"


@dataclass(slots=True)
class Memory:
    """Hold the instructions for the system prompt, and rules that wait for a path of theirs."""

    root: Path
    instructions: str = ""
    warnings: list[PlanWarning] = field(default_factory=list)
    _rules: tuple[RuleChoice, ...] = ()  # that are for some paths
    _take: Callable[[RuleChoice], str] = lambda _: ""
    _given: set[str] = field(default_factory=set)  # names of those that the model has

    def take_rules(self, path: Path) -> str:
        """Return the rules for a file that the model does not have; "" if there are none."""
        waiting = [choice for choice in self._rules if choice.rule.name not in self._given]
        matching = [choice for choice in waiting if _is_for(choice.rule, path, self.root)]
        self._given.update(choice.rule.name for choice in matching)
        return "\n\n".join(filter(None, map(self._take, matching)))

    def restore_rules(self) -> None:
        """Let all rules be taken again: the model has lost what it was given."""
        self._given.clear()

    def copy(self) -> Memory:
        """Return the rules for a model that has none of them yet."""
        return replace(self, _given=set())


def load_memory(reader: TextReader) -> Memory:
    """Return the memory of a session that starts where the reader does.

    Each text is in it once, whatever it is called, linked or imported. Raises CubError for a folder
    of rules that can't be listed.
    """
    plan = plan_context(reader, ContextRequest())
    collector = TextCollector(reader, {}, MAX_IMPORT_DEPTH)
    collected, lock = dict[str, str](), Lock()

    def take(choice: RuleChoice) -> str:
        """Return a rule's text, which is collected once: sub-agents take the same rules."""
        with lock:
            if choice.rule.name not in collected:
                collected[choice.rule.name] = collect(choice)
            return collected[choice.rule.name]

    def collect(choice: RuleChoice) -> str:
        rule = choice.rule
        body = _limit_own_text(rule.text.body, rule.name)
        rule = replace(rule, text=rule.text._replace(body=body))
        text = collector.take_rule(rule, choice.reason).text
        return f'<instructions file="{rule.name}">\n{text}\n</instructions>' if text else ""

    choices = sorted(plan.choices, key=lambda choice: _rank(choice.rule))
    waiting = tuple(c for c in choices if not c.reason and list_patterns(c.rule.text.fields))
    texts = [take(choice) for choice in choices if choice not in waiting]
    instructions = "\n\n".join(filter(None, texts))
    warnings = list(dict.fromkeys([*plan.warnings, *collector.warnings]))
    return Memory(reader.root, instructions, warnings, waiting, take)


def _rank(rule: RuleFile) -> tuple[int, int]:
    """Return what orders rules: by the document's priorities, then from the root downwards."""
    location = rule.location
    if location.scope == "project":
        rank = 4 if location.path == _LOCAL_FILE else 3 if location.is_folder else 2
    else:
        rank = 0 if location.scope == "user" else 1
    return rank, len(rule.folder.parts)


def _is_for(rule: RuleFile, path: Path, root: Path) -> bool:
    base = root if rule.location.scope == "user" else rule.folder
    if not path.is_relative_to(base):
        return False
    return not explain_path_mismatch(rule.text.fields, path.relative_to(base).as_posix())


def _limit_own_text(body: str, name: str) -> str:
    """Return a file's text with at most `MAX_OWN_TEXT` characters of a person's.

    The managed section is never cut.
    """
    if len(body) <= MAX_OWN_TEXT:
        return body
    document = Document(body.encode("utf-8", "replace"), name)
    section = find_section_or_none(document)
    if section is None:
        return _cut(body, MAX_OWN_TEXT, name)
    before = document.get_bytes_before(section.start).decode("utf-8", "replace")
    managed = document.get_bytes_before(section.end).decode("utf-8", "replace")[len(before) :]
    after = body[len(before) + len(managed) :]
    head = _cut(before, MAX_OWN_TEXT, name)
    return head + managed + _cut(after, max(0, MAX_OWN_TEXT - len(before)), name)


def _cut(text: str, limit: int, name: str) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut after {MAX_OWN_TEXT:,} characters: read {name} for the rest]\n"
