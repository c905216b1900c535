"""From the names that a person gives to clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cub.errors import UsageError
from cub.harness.base import Harness
from cub.harness.custom_harness import CONFIG_PATH, make_custom_harness
from cub.harness.scripted_harness import DEFAULT_SCRIPT, SCRIPTED, load_scripted_harness

AUTO = "auto"
HarnessConfigs = Mapping[str, Mapping[str, Any]]


def load_harnesses(names: Sequence[str], configured: HarnessConfigs, root: Path) -> list[Harness]:
    """The clients of some names, each once, in their order.

    `auto` are all that the configuration has; `scripted:FILE` is the scripted client with
    another file than .cub/script.yaml, relative to `root`. UsageError for an unknown name.
    """
    wanted = dict.fromkeys(one for name in names for one in _expand_name(name, configured))
    return [_harness(name, configured, root) for name in wanted]


def _expand_name(name: str, configured: HarnessConfigs) -> Iterable[str]:
    if name != AUTO:
        return (name,)
    if not configured:
        raise UsageError(
            "no client is configured",
            hint=f"describe one in {CONFIG_PATH}, as harnesses: {{NAME: {{argv: [COMMAND]}}}}",
        )
    return configured


def _harness(name: str, configured: HarnessConfigs, root: Path) -> Harness:
    if name in configured:
        return make_custom_harness(name, configured[name])
    kind, _, file = name.partition(":")
    if kind == SCRIPTED:
        shown = file or DEFAULT_SCRIPT
        return load_scripted_harness(root.absolute() / shown, shown)
    raise UsageError(
        f"there is no client {name!r}", hint=_hint(name, [*configured, SCRIPTED, AUTO])
    )


def _hint(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
