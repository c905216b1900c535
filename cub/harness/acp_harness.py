"""Drive agents that speak the Agent Client Protocol: those in a table, and any by its command."""

from __future__ import annotations

import posixpath
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cub.agent_profiles.agent_profile import AgentProfile
from cub.agent_profiles.profiles import find_program_profile
from cub.agent_profiles.user_folders import AGENT_SETTINGS, UserFolder
from cub.errors import UsageError
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest, Transcript, encode_text
from cub.harness.codex import CodexHarness
from cub.harness.custom_harness import EventHarness, make_key_error, parse_environ
from cub.harness.event_protocol import EventProtocolReader
from cub.harness.opencode import OpencodeReader
from cub.syntax_errors import describe_quoting_error

ACP = "acp"
PERMISSIONS = ("auto", "bypass")
# The same of agents that were not tried.
_SETTINGS = (*AGENT_SETTINGS, "config*", "mcp*.json", "*hints", "recipes", "steering")
_ROOT = Path(__file__).parents[2]
# As `python -m cub.harness.acp`, but no file of the project and no variable can replace a module.
_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.harness.acp.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


class AcpAgent(NamedTuple):
    """Describe an agent: its command, and what the protocol does not tell of it.

    `modes` are by `auto` and `bypass`. `reads` is the agent whose files it reads. `is_tried`: cub
    was run with it. It writes `own_folders`; if there are none, those of that agent.
    """

    name: str
    argv: tuple[str, ...]
    modes: Mapping[str, str] = {}
    environ: Mapping[str, str] = {}
    reads: str = "agents_md"
    is_tried: bool = False
    own_folders: tuple[UserFolder, ...] = ()


def _list_folders(*paths: str) -> tuple[UserFolder, ...]:
    return tuple(UserFolder(path, read_only=_SETTINGS) for path in paths)


ACP_AGENTS = (
    AcpAgent(
        "claude", ("claude-agent-acp",),
        {"auto": "auto", "bypass": "bypassPermissions"},
        # Retries bounded, and no request after the turn that guesses the person's next words.
        {"CLAUDE_CODE_MAX_RETRIES": "3", "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false"},
        reads="claude", is_tried=True,
    ),
    AcpAgent(
        "codex", ("codex-acp",), {"auto": "agent", "bypass": "agent-full-access"},
        reads="codex", is_tried=True,
    ),
    AcpAgent(
        "gemini", ("gemini", "--acp"), {"auto": "default", "bypass": "yolo"},
        {"GEMINI_CLI_TRUST_WORKSPACE": "true"},  # else it ignores the project's settings
        reads="gemini", is_tried=True,
    ),
    AcpAgent(
        # Its log is all that it says while it tries a request again.
        "opencode", ("opencode", "acp", "--print-logs", "--log-level", "ERROR"),
        reads="opencode", is_tried=True,
    ),
    AcpAgent(
        "qwen", ("qwen", "--acp"), {"auto": "auto", "bypass": "yolo"},
        is_tried=True, own_folders=_list_folders("~/.qwen"),
    ),
    AcpAgent("copilot", ("copilot", "--acp", "--stdio"), own_folders=_list_folders("~/.copilot")),
    AcpAgent(
        "cursor", ("cursor-agent", "acp"),
        own_folders=_list_folders("~/.cursor", "~/.config/cursor"),
    ),
    AcpAgent(
        "goose", ("goose", "acp"),
        own_folders=_list_folders(
            "~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"
        ),
    ),
    AcpAgent(
        "kiro", ("kiro-cli", "acp"), own_folders=_list_folders("~/.kiro", "~/.local/share/kiro-cli")
    ),
    AcpAgent("kimi", ("kimi", "acp"), own_folders=_list_folders("~/.kimi")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AcpHarness(EventHarness):
    """Have a process of cub's own talk with the agent `argv`."""

    argv: tuple[str, ...]
    modes: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command of the process that talks with the agent; stdin has the prompt."""
        permissions = request.permissions
        if self.reads == CodexHarness.facts.name and not request.can_nest:
            permissions = "bypass"  # in its other modes, it would run no command
        mode, model = self.modes.get(permissions, ""), request.model or self.model or ""
        system_file = str(request.folder / "system.md") if request.system_prompt.strip() else ""
        start = (sys.executable, "-I", "-S", "-c", _MAIN, str(_ROOT))
        argv = (*start, permissions, mode, model, system_file, *self.argv)
        return LaunchCommand(argv, encode_text(request.prompt), self.environ)

    def open_reader(self) -> EventProtocolReader:
        """Return a reader of cub's event protocol, and of opencode's log."""
        return LoggedTurnReader() if self.reads == "opencode" else EventProtocolReader()

    def lacks_reply(self, transcript: Transcript) -> bool:
        """Return whether there was no tool and no last word of a model; text may be a notice."""
        return not transcript.has_reply


class LoggedTurnReader(EventProtocolReader):
    """Read events, and from opencode's log on stderr the requests that it tries again."""

    def __init__(self) -> None:
        super().__init__()
        self._log = OpencodeReader()
        self._is_refused = False

    def read(self, data: bytes) -> Iterator[AgentEvent]:
        """Yield the events of the lines that end in this piece."""
        for event in super().read(data):
            if self._is_refused and event.kind in ("text", "tool") and not event.failed:
                self._is_refused = False
                yield AgentEvent("model")  # it answers again
            yield event

    def read_error_line(self, line: bytes) -> Iterator[AgentEvent]:
        """Yield the error of a request."""
        for event in self._log.read_error_line(line):
            self._is_refused = True
            yield event


def make_acp_harness(name: str, settings: Mapping[str, Any]) -> AcpHarness:
    """Return the harness for `harnesses.NAME.acp`. Raises CubError for a value that is not valid.

    The name of a known agent stands for its command.
    """
    argv = settings[ACP]
    if not argv[0]:
        raise make_key_error(
            name, ACP, "this is not a command", "write a list of strings: [COMMAND]"
        )
    agent = _find_agent(argv) or AcpAgent("", (), reads="")
    if tuple(argv) == (agent.name,):
        argv = agent.argv
    known = find_program_profile(agent.reads or argv[0])
    facts = AgentProfile(
        title=name,
        name=name,
        program=argv[0],
        login=known.login,
        own_folders=agent.own_folders or known.own_folders,
    )
    return AcpHarness(
        tuple(argv),
        {**agent.modes, **_parse_modes(name, settings.get("modes") or {})},
        settings.get("model"),
        environ={**agent.environ, **parse_environ(name, settings)},
        facts=facts,
        reads=agent.reads,
    )


def load_acp_harness(name: str) -> AcpHarness:
    """Return the harness for `acp:COMMAND`. Raises UsageError if there is no such command."""
    try:
        argv = shlex.split(name.partition(":")[2])
    except ValueError as error:
        reason = describe_quoting_error(str(error))
        raise UsageError(f"{name!r} is not a command: {reason}", hint="close the quote") from None
    if not argv:
        tried, others = (
            ", ".join(f"{ACP}:{one.name}" for one in ACP_AGENTS if one.is_tried is is_tried)
            for is_tried in (True, False)
        )
        hint = f"write {ACP}:COMMAND; tried with cub: {tried}; not tried: {others}"
        raise UsageError("missing COMMAND", hint=hint)
    return make_acp_harness(name, {ACP: argv})


def _find_agent(argv: Sequence[str]) -> AcpAgent | None:
    """Return the agent that a command starts, by itself or as `npx PACKAGE@VERSION`; or None."""
    if len(argv) == 1 and (named := [agent for agent in ACP_AGENTS if agent.name == argv[0]]):
        return named[0]
    programs = [posixpath.basename(word).partition("@")[0] for word in argv]
    return next((agent for agent in ACP_AGENTS if agent.argv[0] in programs), None)


def _parse_modes(name: str, modes: Mapping[str, Any]) -> Mapping[str, str]:
    if not modes.keys() <= set(PERMISSIONS):
        hint = "write it like {auto: MODE, bypass: MODE}"
        raise make_key_error(name, "modes", "this does not map auto and bypass to modes", hint)
    if not all(isinstance(mode, str) for mode in modes.values()):
        raise make_key_error(name, "modes", "a mode is a string", "put it in quotes")
    return modes
