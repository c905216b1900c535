from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prctl")
NOBODY = 65534
# Hides its secrets, between two looks at itself through a program that it starts.
PROGRAM = """
import os, subprocess, sys
from cub.processes.own_secrets import hide_own_secrets
from cub.processes.process_tree import load_prctl

def look():
    program = f"tr '\\\\0' ' ' < /proc/{os.getpid()}/environ || echo refused"
    shown = subprocess.run(["/bin/sh", "-c", program], capture_output=True, env={})
    print(" ".join(shown.stdout.decode().split()))

prctl = load_prctl()
if user := int(sys.argv[1]):
    os.setuid(user)
    prctl(4, 1)
look()
print(hide_own_secrets(lambda assigned: assigned.startswith("MY_KEY=")), os.environ["MY_KEY"])
look()
subprocess.run(["/bin/sh", "-c", "echo $MY_KEY"])
"""


def run_program(user: int) -> list[str]:
    """What the program prints, run as another user unless that is 0."""
    words = [sys.executable, "-c", PROGRAM, str(user)]
    environ = {"PYTHONUNBUFFERED": "1", "MY_KEY": "secret", "OTHER": "plain"}
    return subprocess.check_output(words, env=environ, text=True, timeout=60).splitlines()


def test_a_command_of_the_same_user_can_t_read_this_process() -> None:
    lines = run_program(0 if os.getuid() else NOBODY)
    shown = "PYTHONUNBUFFERED=1 MY_KEY=secret OTHER=plain"
    assert lines == [shown, "True secret", "refused", "secret"]


@pytest.mark.skipif(os.getuid() != 0, reason="is about root")
def test_root_finds_no_secret_in_the_environment_of_this_process() -> None:
    lines = run_program(0)
    assert lines[2:] == ["PYTHONUNBUFFERED=1 MY_KEY= OTHER=plain", "secret"]
