"""Start an agent against a model server, and return the texts that it sent to the model.

A process of its own does that, since it leaves the network, if the system allows that.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.actions.agents.session_moments import Moment, find_texts, make_server
from cub.agent_profiles.profiles import find_profile, redirect_agent
from cub.errors import CubError
from cub.model_server.server import ModelServer
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import RunningCommand

_ROOT = Path(__file__).parents[3]
# Imported, not run as a file: cub's folder comes last in the path.
_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.actions.agents.recorded_start import main
main()
"""
_START_SECONDS = 90.0
_TICK_SECONDS = 0.05
_MAX_OUTPUT = 4_000  # bytes, from the end


class AgentLaunch(NamedTuple):
    """Hold a command line of an agent, with its stdin, additional variables, and its folder."""

    argv: tuple[str, ...]
    stdin: str
    environ: Mapping[str, str]
    folder: str


class RecordedStart(NamedTuple):
    """Hold what an agent sent to the model first, or after a moment: no texts if it sent nothing.

    `output` is the end of what it printed; `has_asked`: it has sent something, at any time;
    `is_offline`: it had no network.
    """

    texts: tuple[str, ...]
    output: str
    has_asked: bool
    is_offline: bool


def record_starts(
    agent: str,
    sessions: Sequence[Sequence[AgentLaunch]],
    home: Path,
    path: str,
    *,
    after: Moment = "",
) -> list[RecordedStart]:
    """Start an agent for each launch of some sessions; return what the last of each sent first.

    `after`: what it sent first after a moment. Each session has a HOME of its own in the folder
    `home`; `path` is the agent's PATH.
    """
    home.mkdir(exist_ok=True)
    environ = {"PATH": path, "LANG": "C.UTF-8", "TMPDIR": home.as_posix()}
    job = (agent, after, environ, home.as_posix(), sessions)
    argv = (sys.executable, "-I", "-S", "-c", _MAIN, str(_ROOT))
    command = CommandSpec(argv, home, environ, json.dumps(job).encode())
    limits = TimeLimits(_START_SECONDS * (sum(map(len, sessions)) + 1))
    out, err = bytearray(), bytearray()
    with RunningCommand(command, limits) as running:
        for chunk in running.iter_output():
            (out if chunk.stream == "out" else err).extend(chunk.data)
    if running.result.exit_code != 0:
        lines = err.decode("utf-8", "replace").splitlines()[-1:] or ["it was stopped"]
        raise CubError(f"{agent} could not be recorded: {lines[0]}")
    return [RecordedStart(tuple(texts), *rest) for texts, *rest in json.loads(out)]


def main() -> None:
    """Carry out the job on stdin, and print the result."""
    agent, after, environ, home, given = json.loads(sys.stdin.buffer.read())
    is_offline = _leave_network()
    sessions = [[AgentLaunch(*launch) for launch in session] for session in given]
    homes = [Path(home, str(number)) for number in range(len(sessions))]
    # Side by side: agents take seconds to start, and mostly on one core.
    with ThreadPoolExecutor(len(sessions)) as pool:
        found = pool.map(partial(_record_session, agent, after, environ), sessions, homes)
        starts = [(*seen, is_offline) for seen in found]
    sys.stdout.buffer.write(json.dumps(starts).encode())


def _record_session(
    agent: str,
    after: Moment,
    environ: Mapping[str, str],
    launches: Sequence[AgentLaunch],
    home: Path,
) -> tuple[tuple[str, ...], str, bool]:
    home.mkdir()
    profile = find_profile(agent)
    with make_server(profile, after) as server:
        redirected = {**redirect_agent(agent, server.url, home).environ, **profile.steps.environ}
        texts: tuple[str, ...] = ()
        for launch in launches:
            find = _make_finder(server, after) if launch is launches[-1] else tuple
            variables = {**environ, **launch.environ, **redirected}
            texts, output = _record_launch(launch._replace(environ=variables), find)
        return texts, output, bool(server.requests)


def _make_finder(server: ModelServer, after: Moment) -> Callable[[], tuple[str, ...]]:
    """Return a function that looks at the requests from now on, at each only once."""
    passed = len(server.requests)

    def find() -> tuple[str, ...]:
        nonlocal passed
        new = server.requests[passed:]
        passed += len(new)
        return find_texts(new, after)

    return find


def _record_launch(
    launch: AgentLaunch, find: Callable[[], tuple[str, ...]]
) -> tuple[tuple[str, ...], str]:
    """Start an agent until the texts are found, or it ends; return them, or what it printed."""
    output = bytearray()
    stdin = launch.stdin.encode("utf-8", "replace")
    command = CommandSpec(launch.argv, Path(launch.folder), launch.environ, stdin)
    with RunningCommand(command, TimeLimits(_START_SECONDS), tick_seconds=_TICK_SECONDS) as running:
        for chunk in running.iter_output():
            output += chunk.data
            del output[:-_MAX_OUTPUT]
            if texts := find():
                return texts, ""
    return find(), running.result.start_error or output.decode("utf-8", "replace")


_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000  # unshare(2); Python has it since 3.12
_SET_FLAGS, _UP = 0x8914, 0x1  # netdevice(7)


def _leave_network() -> bool:
    """Move this process to a network that has nothing but a loopback address; return if it could.

    A child tries it first: there is no way back if the loopback address can't be used.
    """
    if sys.platform != "linux":
        return False
    if not (pid := os.fork()):
        os._exit(0 if _enter_own_network() else 1)
    return os.waitpid(pid, 0)[1] == 0 and _enter_own_network()


def _enter_own_network() -> bool:
    import fcntl
    import socket
    import struct

    user, group = os.geteuid(), os.getegid()
    try:
        unshare = ctypes.CDLL(None).unshare
        if unshare(_NEW_NETWORK):  # only root may do that without a user namespace
            if unshare(_NEW_USER | _NEW_NETWORK):
                return False
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                Path("/proc/self", name).write_text(text, encoding="ascii")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as file:
            fcntl.ioctl(file, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP))
    except (OSError, AttributeError):
        return False
    return True
