"""The errors of the argument parser: all in cub's form, with a hint, and in no library's words."""

from __future__ import annotations

import re
import shlex

import pytest

from cub.cli.app import run_command_line

_USAGE = "run `cub {} --help` to see its usage"
ERRORS = [
    ("stauts", "unknown command 'stauts'; did you mean 'status'?",
     "run `cub --help` to list its commands"),
    ("task lst", "unknown command 'lst'; did you mean 'list'?",
     "run `cub task --help` to list its commands"),
    ("task dep ad", "unknown command 'ad'; did you mean 'add'?",
     "run `cub task dep --help` to list its commands"),
    ("task strt", "unknown command 'strt'; did you mean 'stats'?",
     "run `cub task --help` to list its commands"),
    ("agents qqq", "unknown command 'qqq'", "run `cub agents --help` to list its commands"),
    ("run --harnes codex", "unknown option '--harnes'; did you mean '--harness'?",
     "run `cub run --help` to list its options"),
    ("init -x", "unknown option '-x'", "run `cub init --help` to list its options"),
    ("task add", "missing TITLE", 'pass a title, such as cub task add "Fix the login"'),
    ("task show", "missing ID", "run `cub task list` to list tasks"),
    ("code sessions show", "missing ID", "run `cub code sessions` to list sessions"),
    ("task dep add k3f9a", "missing OTHER", "run `cub task list` to list tasks"),
    ("config get", "missing KEY", "run `cub config show` to list keys"),
    ("config set run.checks", "missing VALUE", "run `cub config set KEY VALUE`"),
    ("task import", "missing FILE", "run `cub task import FILE`"),
    ("ledger archive", "missing --before", "pass --before DATE"),
    ("task add Fix the typo", "unexpected argument 'the typo'",
     'quote the title: cub task add "Fix the typo"'),
    ("task add Pay 'with $5'", "unexpected argument 'with $5'",
     "quote the title: cub task add 'Pay with $5'"),
    ("code fix the typo", "unexpected argument 'fix the typo'",
     'pass the prompt with -p: cub code -p "fix the typo"'),
    ("config set code.model a b", "unexpected argument 'b'",
     'quote the value: cub config set code.model "a b"'),
    ("diff a b", "unexpected argument 'b'", _USAGE.format("diff")),
    ("version x", "unexpected argument 'x'", _USAGE.format("version")),
    ("init --targets", "--targets needs a value", "pass a value after --targets"),
    ("init --json=3", "--json takes no value", "pass --json alone"),
    ("init --edited moved", "unknown value 'moved' for --edited; did you mean 'move'?",
     "choose from refuse, move, replace"),
    ("task close a -r nope", "unknown value 'nope' for --reason",
     "choose from done, no_change, wontfix, duplicate"),
    ("run --max-iterations many", "--max-iterations must be an integer, not 'many'",
     _USAGE.format("run")),
    ("run --max-iterations 1.5", "--max-iterations must be an integer, not '1.5'",
     _USAGE.format("run")),
    ("ledger tail -n -1", "--lines must be at least 0, not '-1'", _USAGE.format("ledger tail")),
    ("run --task a --epic b", "--task cannot be used with --epic or --label", "pass one of them"),
    ("run --check x --no-checks", "--check cannot be used with --no-checks", "pass one of them"),
    ("map --check --stdout", "--stdout cannot be used with --check", "pass one of them"),
    ("status -qv", "--quiet cannot be used with --verbose", "pass one of them"),
    ("-q status -v", "--quiet cannot be used with --verbose", "pass one of them"),
    ("run --budget-usd x", "--budget-usd must be a number, not 'x'", _USAGE.format("run")),
]  # fmt: skip
RAW = re.compile(
    r"No such|Did you mean|Got unexpected|Missing|Invalid value|Option '|Possible|Value error|"
    r"Input should|requires an argument|is not one of|\(s\)|\.$",
    re.MULTILINE,
)


@pytest.mark.parametrize(("command", "message", "hint"), ERRORS, ids=[row[0] for row in ERRORS])
def test_errors_of_the_parser_are_in_the_form_of_all_errors(
    capsys: pytest.CaptureFixture[str], command: str, message: str, hint: str
) -> None:
    assert run_command_line(shlex.split(command)) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {message}\nhint: {hint}\n")
    assert not RAW.search(err)


def test_json_is_a_format_of_the_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["code", "-p", "x", "--json"]) == 2
    assert "hint: pass `--output-format json`\n" in capsys.readouterr().err
