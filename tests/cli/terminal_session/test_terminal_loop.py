"""Reading at the terminal, in this process: what comes between two prompts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cub.agent.agent_types import AgentType
from cub.agent.session_budget import SessionBudget
from cub.agent.subagents import SubagentRun
from cub.cli.terminal_session.input_completion import InputCompleter, UsageCounts
from cub.cli.terminal_session.input_line import InputLine
from cub.cli.terminal_session.terminal_loop import _TerminalLoop
from cub.cli.terminal_session.terminal_state import TerminalState


def test_a_ctrl_c_before_the_prompt_gets_the_keys_is_one_at_the_prompt() -> None:
    completer = InputCompleter(dict, list, UsageCounts(None))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        line = InputLine(None, completer, list, lambda: None)
        with pytest.raises(KeyboardInterrupt):
            line.read(lambda: True)
        keys.send_text("on\r")
        assert line.read(lambda: False) == "on"
        line.abort()
        with pytest.raises(EOFError):
            line.read(lambda: True)


def test_ctrl_c_twice_quits_also_if_the_second_one_comes_before_the_next_prompt(
    state: TerminalState, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = state.surroundings.stop
    stop.request()  # work was cancelled before

    class Line:
        """Ctrl-C at the prompt, and the second one as a signal, before the next prompt."""

        count = 0

        def read(self, begin: Callable[[], bool]) -> str:
            assert not begin() or self.count
            self.count += 1
            if self.count == 2:
                stop.request()
                assert begin()
            raise KeyboardInterrupt

    line = Line()
    _TerminalLoop(state, cast("InputLine", line)).run()
    assert line.count == 2
    assert capsys.readouterr().err.count("Press Ctrl-C again to quit.") == 1


def test_an_agent_that_ends_just_before_the_prompt_is_announced_with_it(
    state: TerminalState, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = AgentType("helper", "", "")
    runs = [SubagentRun(number, agent, f"task {number}", SessionBudget()) for number in (1, 2, 3)]
    said = list[int]()

    class Line:
        """One agent ends when the prompt has its keys, two before."""

        is_waiting = False

        def read(self, begin: Callable[[], bool]) -> str:
            end(runs[1])
            self.is_waiting = True
            begin()
            end(runs[2])
            said.extend(map(int, re.findall(r"task (\d)", capsys.readouterr().err)))
            raise EOFError

    def end(run: SubagentRun) -> None:
        state.prepared.subagents.unread.append(run)
        loop.announce_agent(run)

    loop = _TerminalLoop(state, cast("InputLine", Line()))
    end(runs[0])
    loop.run()
    assert said == [1, 2, 3]
