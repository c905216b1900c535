"""Load harnesses by the names that a person gives them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cub.errors import UsageError
from cub.harness.acp_harness import ACP, load_acp_harness, make_acp_harness
from cub.harness.aider import AiderHarness
from cub.harness.base import Harness
from cub.harness.builtin import BuiltinHarness
from cub.harness.claude import ClaudeHarness
from cub.harness.codex import CodexHarness
from cub.harness.custom_harness import CONFIG_PATH, make_custom_harness, parse_environ
from cub.harness.gemini import GeminiHarness
from cub.harness.native_harness import NativeHarness, NativeOptions
from cub.harness.opencode import OpencodeHarness
from cub.harness.pi import PiHarness
from cub.harness.scripted_harness import (
    DEFAULT_SCRIPT,
    SCRIPTED,
    ScriptedHarness,
    read_script,
)
from cub.text import suggest_known

AUTO = "auto"
# In the order in which `auto` looks for them.
NATIVE_HARNESSES: tuple[type[NativeHarness], ...] = (
    ClaudeHarness, CodexHarness, GeminiHarness, OpencodeHarness, AiderHarness, PiHarness,
)  # fmt: skip
KNOWN_HARNESSES: tuple[type[NativeHarness], ...] = (*NATIVE_HARNESSES, BuiltinHarness)
BUILTIN = BuiltinHarness.facts.name
HarnessConfigs = Mapping[str, Mapping[str, Any]]


class ChosenHarnesses(NamedTuple):
    """Hold harnesses in the order of preference, and why `auto` chose them; "" if it did not."""

    harnesses: list[Harness]
    reason: str


def load_harnesses(
    names: Sequence[str], configured: HarnessConfigs, root: Path, environ: Mapping[str, str]
) -> ChosenHarnesses:
    """Return the harnesses with these names, each once, in their order.

    `auto` stands for all in the configuration, or else for the first agent that is installed;
    `scripted:FILE` plays another script than .cub/script.yaml, relative to `root`; `acp:COMMAND`
    starts an agent that speaks the Agent Client Protocol. Raises UsageError for an unknown name.
    """
    expanded: dict[str, None] = {}
    reason = ""
    for name in names:
        if name == AUTO:
            automatic, reason = _choose_automatically(configured, environ)
            expanded |= dict.fromkeys(automatic)
        else:
            expanded[name] = None
    return ChosenHarnesses([_load_harness(name, configured, root) for name in expanded], reason)


def find_installed_agents(environ: Mapping[str, str]) -> list[str]:
    """Return the names of cub's own agents whose programs are in PATH, in the order of `auto`."""
    facts = (harness.facts for harness in NATIVE_HARNESSES)
    return [one.name for one in facts if shutil.which(one.program, path=environ.get("PATH"))]


def _choose_automatically(
    configured: HarnessConfigs, environ: Mapping[str, str]
) -> tuple[Iterable[str], str]:
    if configured:
        return configured, f"configured in {CONFIG_PATH}"
    installed = find_installed_agents(environ)
    if not installed:
        return [BUILTIN], "no other agent is installed"
    others = ", ".join(installed[1:])
    return installed[:1], "the first one installed" + (f"; also installed: {others}" * bool(others))


def _load_harness(name: str, configured: HarnessConfigs, root: Path) -> Harness:
    settings = configured.get(name)
    if settings and settings.get(ACP):
        return make_acp_harness(name, settings)
    native = next((kind for kind in KNOWN_HARNESSES if kind.facts.name == name), None)
    if native and not (settings and settings.get("argv")):
        return native(_parse_options(name, settings or {}))
    if settings is not None:
        return make_custom_harness(name, settings)
    kind, _, file = name.partition(":")
    if kind == ACP:
        return load_acp_harness(name)
    if kind == SCRIPTED:
        path = file or DEFAULT_SCRIPT
        return ScriptedHarness(path, read_script(root.absolute() / path, path))
    known_names = (kind.facts.name for kind in KNOWN_HARNESSES)
    names = list(dict.fromkeys([*configured, *known_names, SCRIPTED, AUTO]))
    raise UsageError(f"unknown agent {name!r}", hint=suggest_known(name, names))


def _parse_options(name: str, settings: Mapping[str, Any]) -> NativeOptions:
    return NativeOptions(
        tuple(settings.get("args") or ()),
        parse_environ(name, settings),
        settings.get("model"),
        user_settings=settings.get("user_settings") is not False,
    )
