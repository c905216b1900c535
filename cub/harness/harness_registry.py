"""Load harnesses by the names that a person gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cub.errors import UsageError
from cub.harness.base import Harness
from cub.harness.custom_harness import CONFIG_PATH, make_custom_harness
from cub.harness.scripted_harness import DEFAULT_SCRIPT, SCRIPTED, load_scripted_harness
from cub.text import suggest_similar

AUTO = "auto"
HarnessConfigs = Mapping[str, Mapping[str, Any]]


def load_harnesses(names: Sequence[str], configured: HarnessConfigs, root: Path) -> list[Harness]:
    """Return the harnesses with these names, each once, in their order.

    `auto` stands for all in the configuration; `scripted:FILE` plays another script than
    .cub/script.yaml, relative to `root`. Raises UsageError for an unknown name.
    """
    expanded = dict.fromkeys(full for name in names for full in _expand_name(name, configured))
    return [_load_harness(name, configured, root) for name in expanded]


def _expand_name(name: str, configured: HarnessConfigs) -> Iterable[str]:
    if name != AUTO:
        return (name,)
    if not configured:
        raise UsageError(
            "no agent is configured",
            hint=f"describe one in {CONFIG_PATH}, as harnesses: {{NAME: {{argv: [COMMAND]}}}}",
        )
    return configured


def _load_harness(name: str, configured: HarnessConfigs, root: Path) -> Harness:
    if name in configured:
        return make_custom_harness(name, configured[name])
    kind, _, file = name.partition(":")
    if kind == SCRIPTED:
        path = file or DEFAULT_SCRIPT
        return load_scripted_harness(root.absolute() / path, path)
    names = [*configured, SCRIPTED, AUTO]
    similar = suggest_similar(name, names)
    hint = f"did you mean {similar}?" if similar else f"there are {', '.join(names)}"
    raise UsageError(f"there is no agent {name!r}", hint=hint)
