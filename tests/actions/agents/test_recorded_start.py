from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from cub.actions.agents.recorded_start import AgentLaunch, RecordedStart, record_starts
from cub.errors import CubError
from tests.actions.agents.fake_agents import install_fake_claude

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs namespaces")


def record(tmp_path: Path, *launches: AgentLaunch, agent: str = "claude") -> list[RecordedStart]:
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    inside = [launch._replace(folder=str(folder)) for launch in launches]
    return record_starts(agent, [[one] for one in inside], home, os.environ["PATH"])


def shell(line: str) -> AgentLaunch:
    return AgentLaunch(("sh", "-c", line), "", {}, "")


def test_each_launch_is_recorded(tmp_path: Path) -> None:
    program = str(install_fake_claude(tmp_path / "bin") / "claude")
    launches = [AgentLaunch((program,), text, {}, "") for text in ("one", "two")]
    starts = record(tmp_path, *launches)
    assert [start.texts for start in starts] == [("one",), ("two",)]


@pytest.mark.thorough
def test_an_agent_that_waits_after_its_request_is_ended(tmp_path: Path) -> None:
    more = "import atexit, time; atexit.register(time.sleep, 1000)"
    program = str(install_fake_claude(tmp_path / "bin", more=more) / "claude")
    (start,) = record(tmp_path, AgentLaunch((program,), "one", {}, ""))
    assert start.texts == ("one",)


def test_each_launch_has_a_home_of_its_own(tmp_path: Path) -> None:
    starts = record(tmp_path, *[shell('test -z "$(ls "$HOME/tmp")"; echo $?:$HOME')] * 2)
    homes = [f"0:{tmp_path}/home/{number}\n" for number in range(2)]
    assert [start.output for start in starts] == homes


def test_the_output_of_an_agent_that_sends_nothing(tmp_path: Path) -> None:
    first, second = record(tmp_path, shell("echo said; echo complained >&2"), shell("exit 3"))
    assert (first.texts, sorted(first.output.split())) == ((), ["complained", "said"])
    assert (second.texts, second.output) == ((), "")


@pytest.mark.thorough
def test_a_program_that_can_not_be_started(tmp_path: Path) -> None:
    (start,) = record(tmp_path, AgentLaunch(("/no/such/program",), "", {}, ""))
    assert start.output == "no such file or directory"


@pytest.mark.thorough
def test_variables_of_the_user_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("MINE", "secret")
    launch = AgentLaunch(("sh", "-c", "env"), "", {"ANTHROPIC_BASE_URL": "https://example.org"}, "")
    (start,) = record(tmp_path, launch)
    assert "secret" not in start.output
    assert "example.org" not in start.output
    assert f"HOME={tmp_path}/home" in start.output


def test_an_agent_gets_what_makes_it_start_faster(tmp_path: Path) -> None:
    (start,) = record(tmp_path, shell("echo $GEMINI_CLI_NO_RELAUNCH"), agent="gemini")
    assert start.output == "true\n"


@linux
def test_it_has_no_network_if_that_is_said(tmp_path: Path) -> None:
    (start,) = record(tmp_path, shell("cat /proc/net/dev"))
    names = re.findall(r"^ *([^ :]+):", start.output, re.MULTILINE)
    assert "lo" in names
    assert not start.is_offline or names == ["lo"]


@pytest.mark.thorough
def test_an_agent_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CubError, match="zebra could not be recorded: KeyError: 'zebra'"):
        record(tmp_path, shell("true"), agent="zebra")
