"""Templates of a person's with words in braces, as `cub/{run}`: names alone, never a format of
Python's, which could name attributes and widths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

LONGEST = 1000  # characters of a template
_PART = re.compile(r"\{\{|\}\}|\{(\w+)\}|([{}])", re.ASCII)


def fill_template(template: str, words: Mapping[str, str]) -> str:
    """A template with its words; `{{` and `}}` stand for braces.

    ValueError, with what is wrong, for anything else in braces.
    """
    if problem := template_problem(template, tuple(words)):
        raise ValueError(problem)
    return _PART.sub(lambda found: words[found[1]] if found[1] else found[0][0], template)


def template_problem(template: str, names: Sequence[str]) -> str:
    """What is wrong with a template that may hold these names; "" if nothing is."""
    if len(template) > LONGEST:
        return f"a template has no more than {LONGEST:,} characters"
    for found in _PART.finditer(template):
        if found[2]:
            part = re.match(r"\{[^{}]*\}?|\}", template[found.start() :])
            shown = part[0] if part else found[0]
            shown = shown if len(shown) <= 40 else f"{shown[:39]}…"
            return f"{shown!r} is no word of this template"
        if found[1] and found[1] not in names:
            return f"{found[0]!r} is no word of this template"
    return ""


def template_pattern(names: Sequence[str]) -> str:
    """A regular expression of what `template_problem` takes, for a JSON Schema."""
    return rf"^(?:[^{{}}]|\{{\{{|\}}\}}|\{{(?:{'|'.join(names)})\}})*$"


def template_hint(names: Sequence[str]) -> str:
    """What a template may hold, for a person who wrote something else."""
    *most, last = (f"{{{name}}}" for name in names)
    return f"it may hold {', '.join(most)} and {last}; {{{{ and }}}} stand for braces"
