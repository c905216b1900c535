"""Split YAML into the events of ruamel.yaml: its parser in C where that can, or the one in Python.

Events have places, and nothing is constructed. Both parsers give the same events: the one in C
reads YAML 1.1, so a text that it refuses, or splits into other lines, is read in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from cub.syntax_errors import describe_yaml_error

_MAX_EVENTS = 20_100  # in Python, 2 seconds
_READ_OTHERWISE = re.compile("[\ufeff\x85\u2028\u2029]")


@dataclass
class YamlSyntaxError(Exception):
    """Say in plain words what is wrong; `offset` is None if the place is unknown."""

    message: str
    hint: str = ""
    offset: int | None = None


def iter_yaml_events(text: str, *, takes_tabs: bool = False) -> Iterator[Any]:
    """Yield the events of a text; YamlSyntaxError for what is not YAML.

    Of a text that only the parser in Python can read, no more than 10,000 values are read. With
    `takes_tabs`, tabs between values are read where the parser in C is installed.
    """
    is_for_c = not _READ_OTHERWISE.search(text) and (takes_tabs or "\t" not in text)
    return _explain_errors(_try_both(text) if is_for_c else parse_in_python(text))


def parse_in_python(text: str) -> Iterator[Any]:
    """Yield the events of ruamel.yaml's own parser, which reads YAML 1.2."""
    from ruamel.yaml import YAML

    return islice(YAML(typ="base", pure=True).parse(text), _MAX_EVENTS)


def parse_in_c(text: str) -> Iterator[Any]:
    """Yield the events of the parser in C; ImportError where it is not installed."""
    from ruamel.yaml.cyaml import CParser  # type: ignore[attr-defined]

    parser = CParser(text)
    while parser.check_event():
        yield parser.get_event()


def is_event(event: Any, kind: str) -> bool:
    """Return whether an event is of this kind, such as `Scalar`."""
    return type(event).__name__ == f"{kind}Event"


def _try_both(text: str) -> Iterator[Any]:
    """Go on in Python where the parser in C gives up: that one reads more, or says more."""
    from ruamel.yaml.error import YAMLError

    kinds: list[type] = []
    failure: Exception | None = None
    try:
        for event in parse_in_c(text):
            yield event
            kinds.append(type(event))
    except (ImportError, YAMLError, ValueError) as error:
        failure = error
    if failure:
        events = parse_in_python(text)
        if [type(event) for event in islice(events, len(kinds))] != kinds:
            raise failure
        yield from events


def _explain_errors(events: Iterator[Any]) -> Iterator[Any]:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        yield from events
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = " ".join(str(error.problem or error.context).split())
        raise YamlSyntaxError(*describe_yaml_error(words), mark.index if mark else None) from None
    except (YAMLError, ValueError, OverflowError):  # escapes that are no characters
        raise YamlSyntaxError("invalid YAML after this") from None
