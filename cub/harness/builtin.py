"""Drive cub's own agent: `cub code` as a process that speaks cub's event protocol."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from cub.agent_profiles.builtin import BUILTIN
from cub.harness.base import LaunchCommand, LaunchRequest, Transcript, encode_text
from cub.harness.event_protocol import EventProtocolReader
from cub.harness.native_harness import NativeHarness
from cub.harness.refusals import Refusal, find_refusal
from cub.harness.reported_refusals import find_reported_refusal
from cub.installation import find_installation

_ROOT = Path(__file__).parents[2]
# As `python -m cub`, but no file of the project and no variable can replace a module.
_MAIN = """\
import sys
sys.path.append(sys.argv.pop(1))
from cub.__main__ import main
main()
"""
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "auto": ("--permissions", "accept-edits", "--allow", "Bash"),
    "bypass": ("--permissions", "bypass"),
}
_PACKAGE = "httpx2"
_SCRIPTED = "scripted/"


class BuiltinHarness(NativeHarness):
    """Start the built-in agent. It loads the project's instructions by itself, each once."""

    facts: ClassVar = BUILTIN
    reader: ClassVar = EventProtocolReader

    @property
    def installation(self) -> str:
        """Return the command that installs the packages of the extra, where this cub is."""
        return find_installation().suggest_extra("agent")

    @property
    def reads(self) -> str:
        """Return "": it is handed nothing over."""
        return ""

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command for an attempt, with the prompt on its stdin.

        The run has asked for trust already, has run the context commands, and keeps the log.
        """
        argv = [sys.executable, "-I", "-c", _MAIN, str(_ROOT), "code"]
        argv += ["--output-format", "stream-json", "--trust", "--no-context-exec", "--no-save"]
        argv += _OPTIONS[request.permissions]
        if model := self.choose_model(request):
            argv += ["--model", model]
        if request.system_prompt.strip():
            argv += ["--append-system-prompt-file", str(request.folder / "system.md")]
        argv += self.options.arguments
        return LaunchCommand(tuple(argv), encode_text(request.prompt), self.environ)

    def find_refusal(self, transcript: Transcript, stderr: str, now: datetime) -> Refusal | None:
        """Return what the model's service reported, or that there is no key for it.

        Before the first event, errors are on stderr; no model writes there.
        """
        return find_reported_refusal(transcript, now) or find_refusal(stderr, now)

    def explain_missing(self, model: str | None) -> str:
        """Return why the agent can't work with a model; "" if it can, as far as that shows."""
        is_scripted = (model or self.options.model or "").startswith(_SCRIPTED)
        return "" if is_scripted or find_spec(_PACKAGE) else "its packages are not installed"
