"""Turn `/NAME ARGUMENTS` at the start of a prompt into the instructions of a skill."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection
from typing import NamedTuple

from cub.agent.definition_files import SKILL_FILE
from cub.agent.skills import Skill, SkillSet
from cub.errors import UsageError
from cub.files.read_files import list_names
from cub.text import list_similar

_COMMAND = re.compile(r"/(\w(?:[\w.:-]*\w)?)(?:\s+(.*))?", re.DOTALL)
# A number is no placeholder in `$10`, `$5.00` or `\\$1`.
_PLACEHOLDER = re.compile(
    r"(?<![\\\w$])\$(?:ARGUMENTS\[(?P<index>\d)\]|(?P<digit>\d)(?!\w|[.,]\d)|(?P<all>ARGUMENTS)(?!\w)"
    r"|\{CLAUDE_SKILL_DIR\})"
)


class SkillInvocation(NamedTuple):
    """Hold a skill that was called for, the prompt that does, and the text for the model."""

    skill: Skill
    prompt: str
    text: str


def find_invocation(
    skills: SkillSet, prompt: str, commands: Collection[str] = ()
) -> SkillInvocation | None:
    """Return the skill that a prompt calls for; None for a prompt that begins with no command.

    A path such as `/etc/hosts` or `/tmp` is none, and neither is a text with whitespace in front.
    Raises UsageError for an unknown name, with similar ones, also of `commands` (without slash),
    and for a skill that is not for the user.
    """
    match = _COMMAND.fullmatch(prompt)
    if match is None:
        return None
    name, arguments = match[1], (match[2] or "").strip()
    skill = skills.find_skill(name)
    if skill and not skill.is_for_user:
        hint = f"remove `user-invocable: false` from {SKILL_FILE}, or ask for what you need"
        raise UsageError(f"/{skill.name} is not for users: only the model can load it", hint=hint)
    if skill:
        return SkillInvocation(skill, prompt, write_instructions(skill, arguments))
    if os.path.lexists(f"/{name}"):
        return None
    similar = list_similar(name, [*commands, *(skill.name for skill in skills.for_user)])
    hint = "put a space in front of the slash to send the text as it is"
    if similar:
        hint = f"did you mean {' or '.join(f'/{near}' for near in similar)}? If not, {hint}"
    raise UsageError(f"unknown command /{name}", hint=hint)


def write_instructions(skill: Skill, arguments: str = "") -> str:
    """Return what the model reads of a skill.

    `$ARGUMENTS` becomes all arguments, and `$0` or `$ARGUMENTS[0]` the first of them, split as in a
    shell; one that is not given stays as it is. Without `$ARGUMENTS` and `$0`, the arguments are
    appended. The folder is named if there is more in it.
    """
    items, takes_all = _split_arguments(arguments), not arguments

    def replace(match: re.Match[str]) -> str:
        nonlocal takes_all
        number = match["index"] or match["digit"]
        takes_all = takes_all or number == "0" or match["all"] is not None
        if number:
            return items[int(number)] if int(number) < len(items) else match[0]
        return arguments if match["all"] else skill.folder.as_posix()

    text = _PLACEHOLDER.sub(replace, skill.instructions)
    if len(list_names(skill.folder)) > 1:
        text += f"\n\nThe files of this skill are in {skill.folder.as_posix()}."
    return text if takes_all else f"{text}\n\nArguments: {arguments}"


def _split_arguments(arguments: str) -> list[str]:
    """Return the words of a text; quotes are letters if they are not closed, as in `it's`."""
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
