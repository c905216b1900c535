"""Find what a command of the project needs and that is not installed, without running it.

Look where the check would find a program: in PATH, for scripts of a package.json in
`node_modules/.bin` as well, and for `python -m` in that Python. If in doubt, a program counts as
installed: the check itself then says what is wrong.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from cub.files.read_files import read_prefix, read_small_file
from cub.repomap.data import load_table
from cub.repomap.stack.command_lines import detect_ecosystem
from cub.repomap.stack.command_purposes import detect_command_purpose
from cub.repomap.stack.facts import ProjectCommand
from cub.repomap.stack.formats import as_table, parse_json

_MAX_BYTES = 1_000_000
_MODULE_SECONDS = 20  # of a busy machine
_NAME = re.compile(r"[A-Za-z][\w.+-]*")
_PYTHON = re.compile(r"python[\d.]*|py")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_REQUIRED = re.compile(
    r"""(?:\brequire\(\s*|^(?:import|export)\b[^'"]*)['"](@[\w.-]+/[\w.-]+|\w[\w.-]*)(?=['"/])""",
    re.MULTILINE,
)
_SEPARATOR = re.compile(r"[();|&]+")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)")  # of a shell, or a variable of a Makefile
# Words that a shell knows on its own, and those that it reads as a part of its language.
_SHELL_WORDS = frozenset({
    "alias", "break", "case", "continue", "do", "done", "echo", "elif", "else", "esac", "eval",
    "exit", "export", "false", "fi", "for", "function", "if", "in", "local", "printf", "pwd",
    "read", "return", "select", "set", "shift", "source", "test", "then", "time", "trap", "true",
    "type", "ulimit", "umask", "unset", "until", "wait", "while",
})  # fmt: skip
_WRAPPERS = frozenset({"command", "cross-env", "env", "exec"})  # each before another command
_TARGET_RUNNERS = frozenset({"gmake", "just", "make", "task"})
# Options with which a script is another package's.
_ELSEWHERE = ("-w", "-C", "-r", "--prefix", "--workspace", "--cwd", "--dir", "--filter", "--recurs")
_NODE_MODULES = frozenset({
    "assert", "async_hooks", "buffer", "child_process", "console", "constants", "crypto", "dns",
    "events", "fs", "http", "http2", "https", "module", "net", "os", "path", "perf_hooks",
    "process", "querystring", "readline", "stream", "string_decoder", "timers", "tls", "tty", "url",
    "util", "v8", "vm", "worker_threads", "zlib",
})  # fmt: skip
# A file of the project may be called as a module that this imports: it is not to run.
_FIND_MODULE = """
import os, sys
path = sys.path[:]
sys.path[:] = filter(os.path.isabs, path)
import importlib.util
sys.path[:] = path
sys.exit(importlib.util.find_spec(sys.argv[1]) is None)
"""


@dataclass(frozen=True, slots=True)
class CheckPrograms:
    """Look up programs as a check in the project at `root` would, whose variables are `environ`."""

    root: Path
    environ: Mapping[str, str]
    _scripts: set[tuple[Path, str]] = field(default_factory=set)  # that have been looked at

    def find_missing(self, command: ProjectCommand) -> str:
        """Return the first program or module that a command lacks; "" if it can run."""
        folder = self.root / command.folder
        program = next(iter(command.text.split()), "")
        if "/" in program and not (folder / program).exists():
            return program
        self._scripts.clear()
        runs = command.runs if program in _TARGET_RUNNERS else ""
        return self._check_lines(command.text, folder) or self._check_lines(runs, folder)

    def _check_lines(self, text: str, folder: Path, *, in_script: bool = False) -> str:
        for line in text.split("\n"):
            inner = folder
            for words in _split_words(line):
                if words[0] == "cd" and len(words) == 2:
                    inner = inner / words[1]
                elif detect_command_purpose(" ".join(words)) == "install":
                    return ""  # what comes next may be what this installs
                elif missing := self._check_words(words, inner, in_script=in_script):
                    return missing
        return ""

    def _check_words(self, words: list[str], folder: Path, *, in_script: bool) -> str:
        """Return what is missing of one command, with what it runs in turn."""
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if not words or words[0] in _SHELL_WORDS or not _NAME.fullmatch(words[0]):
            return ""
        program, rest = words[0], words[1:]
        if program == "aud" or not self._is_installed(program, folder, in_script=in_script):
            return program
        if program in _WRAPPERS:
            return self._check_words(rest, folder, in_script=in_script)
        return self._check_arguments(program, rest, folder)

    def _check_arguments(self, program: str, words: list[str], folder: Path) -> str:
        """Return what is missing of that which a program runs."""
        if _PYTHON.fullmatch(program):
            return self._check_python(program, words, folder)
        if program == "node":
            return _find_missing_package(folder, next(iter(words), ""))
        if program in ("npx", "bunx"):
            return _check_local_program(words, folder)
        if program in load_table("tools")["node_managers"]:
            return self._check_script(program, words, folder)
        return ""

    def _check_python(self, python: str, words: list[str], folder: Path) -> str:
        """Return the module that `python -m` lacks."""
        while words and words[0].startswith("-") and words[0] != "-m":
            words = words[2:] if words[0] in ("-W", "-X") else words[1:]
        if len(words) < 2 or words[0] != "-m" or not _NAME.fullmatch(words[1]):
            return ""
        module, rest = words[1].partition(".")[0], words[2:]
        if not self._has_module(python, module, folder):
            return module
        return self._check_python(python, rest[1:], folder) if module == "coverage" else ""

    def _check_script(self, manager: str, words: list[str], folder: Path) -> str:
        """Return what a script of package.json lacks, with what is run before and after it."""
        if any(word.startswith(_ELSEWHERE) for word in words):
            return ""
        if words[:1] == ["audit"]:
            return f"{manager} audit"
        names = [word for word in words if not word.startswith("-")]
        is_run = names[:1] in (["run"], ["run-script"])
        names = names[1:] if is_run else names
        if not is_run and names[:1] in (["exec"], ["x"], ["dlx"]):
            return _check_local_program(words[words.index(names[0]) + 1 :], folder)
        lines = as_table(read_package(folder).get("scripts"))
        scripts = {name: line for name, line in lines.items() if isinstance(line, str)}
        name = next(iter(names), "")
        if name not in scripts:
            own_words = load_table("tools")["node"]["own_words"]
            is_program = manager in ("pnpm", "yarn") and not is_run and name not in own_words
            return _check_local_program(names, folder) if is_program else ""
        for script in (f"pre{name}", name, f"post{name}"):
            if (folder, script) not in self._scripts and script in scripts:
                self._scripts.add((folder, script))
                if missing := self._check_lines(scripts[script], folder, in_script=True):
                    return missing
        return ""

    def _is_installed(self, program: str, folder: Path, *, in_script: bool) -> bool:
        if in_script and _is_local_program(program, folder):
            return True
        found = self.find_program(program)
        # A shim of a version manager is there for a program of any version.
        is_shim = Path(found).parent.name == "shims" and not _PYTHON.fullmatch(program)
        if is_shim and detect_ecosystem(program) == "python":
            return self._has_module("python", program.replace("-", "_"), folder)
        return bool(found)

    def find_program(self, program: str) -> str:
        """Return the path of a program in PATH; "" if there is none."""
        # What a relative folder of PATH has is the repository's: it is not to be started.
        folders = self.environ.get("PATH", os.defpath).split(os.pathsep)
        path = os.pathsep.join(filter(os.path.isabs, folders))
        return shutil.which(program, path=path) or ""

    def _has_module(self, python: str, module: str, folder: Path) -> bool:
        """Tell if a Python can import a module, without importing it."""
        if module in sys.stdlib_module_names:
            return True
        program = self.find_program(python)
        try:
            process = subprocess.run(  # noqa: S603 - the person's own Python
                [program, "-c", _FIND_MODULE, module],
                cwd=folder,
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_MODULE_SECONDS,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return False
        return process.returncode == 0


def needs_network(program: str) -> bool:
    """Tell whether what `find_missing` returns is there, but works only with a network."""
    return program == "aud" or program.endswith(" audit")


def describe_missing(program: str) -> str:
    """Say what is wrong with what `find_missing` returns."""
    return f"{program} {'needs the network' if needs_network(program) else 'is not installed'}"


def _split_words(line: str) -> Iterator[list[str]]:
    """Yield the words of each command in a line; none for a line that no shell would take."""
    lexer = shlex.shlex(_SUBSTITUTION.sub("$", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    with suppress(ValueError):
        for is_separator, words in groupby(lexer, _SEPARATOR.fullmatch):
            if not is_separator:
                yield list(words)


def read_package(folder: Path) -> dict[str, Any]:
    """Return what the package.json in a folder says; {} if it can't be read."""
    try:
        data = read_prefix(os.fspath(folder), "package.json", _MAX_BYTES)
        return parse_json(data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _check_local_program(words: list[str], folder: Path) -> str:
    """Return the program that `npx` would have to download first."""
    while words and words[0] in ("-y", "--yes", "--no", "--no-install", "--"):
        words = words[1:]
    if not words or words[0].startswith("-") or _is_local_program(words[0], folder):
        return ""
    return words[0]


def _is_local_program(program: str, folder: Path) -> bool:
    return _has_node_module(f".bin/{program}", folder)


def _has_node_module(name: str, folder: Path) -> bool:
    return any((place / "node_modules" / name).exists() for place in (folder, *folder.parents))


def _find_missing_package(folder: Path, script: str) -> str:
    """Return a package that a script of Node.js requires and that is not installed."""
    text = read_small_file(folder, script, _MAX_BYTES).decode("utf-8", "replace")
    packages = (name for name in _REQUIRED.findall(text) if name not in _NODE_MODULES)
    return next((name for name in packages if not _has_node_module(name, folder)), "")
