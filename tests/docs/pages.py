"""What a page of the documentation tells its reader to type, and what it says they will see."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cub.config_edit.config_text import parse_config_text
from tests.conftest import environment
from tests.fork_server import get_cub_command

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"# (\S+\.\w+)\n")
_YAML = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_END = "\x1e"
_CODE = 'echo "exit code $?"'


@dataclass(frozen=True, slots=True)
class Command:
    """A line behind `$ `, and the lines that the page shows below it."""

    text: str
    shown: tuple[str, ...]


class Done(NamedTuple):
    """What came of a command: its exit code and its output lines."""

    code: int
    output: list[str]


def commands(page: Path, *, saving: bool = False) -> list[Command]:
    """All commands of a page but those that install something.

    `saving` has each block that begins with the name of a file saved, without it, as that file.
    """
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    told = [command for kind, text in found for command in _commands(kind, text, saving)]
    return [command for command in told if not command.text.startswith("pip install ")]


def _commands(kind: str, block: str, saving: bool) -> Iterator[Command]:
    if kind != "console":
        if saving and (named := _NAME.match(block)):
            yield Command(f"cat > {named[1]} <<'END'\n{block[named.end() :]}END", ())
        return
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        text, *shown = part.splitlines()
        yield Command(text, tuple(shown))


def typed(lines: list[str], folder: Path, home: Path) -> list[Done]:
    """What came of each line, all typed into one bash; programs in `home/bin` come first."""
    environ = environment(home)
    environ["PATH"] = os.pathsep.join([str(home / "bin"), environ["PATH"]])
    script = f'cub() {{ {shlex.join(get_cub_command())} "$@"; }}\nexec 2>&1\n'
    for line in lines:
        script += f"{line}\ncode=$?; printf '%s%d%s' '{_END}' $code '{_END}'; (exit $code)\n"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    parts = done.stdout.split(_END)[:-1]
    return [
        Done(int(code), output.splitlines())
        for output, code in zip(parts[::2], parts[1::2], strict=True)
    ]


def follow(page: Path, folder: Path, home: Path, *, saving: bool = False) -> list[str]:
    """Type in all of a page: the commands that fail, each of which the page says so of.

    A page says it by `echo "exit code $?"` as the next command. For `saving` see `commands`.
    """
    told = commands(page, saving=saving)
    results = typed([command.text for command in told], folder, home)
    assert len(results) == len(told), results[-1:]
    failed = []
    for number, (command, done) in enumerate(zip(told, results, strict=True)):
        wrong = difference(command.shown, done.output)
        assert wrong == "", f"{command.text}:\n" + "\n".join([*done.output, "is not shown:", wrong])
        if done.code:
            after = told[number + 1].text if number + 1 < len(told) else ""
            assert after == _CODE, f"{command.text} exits {done.code}, and {page.name} is silent"
            failed.append(command.text)
    return failed


def difference(shown: tuple[str, ...], real: list[str]) -> str:
    """The first shown line that is not where the page has it; "" if all of them are.

    Lines stand together as in the real output, except where a lone `…` leaves some out.
    """
    at, free = 0, False
    for line in shown:
        if line == "…":
            free = True
            continue
        found = next((n for n in range(at, len(real)) if _same(line, real[n])), None)
        if found is None or (found != at and not free):
            return line
        at, free = found + 1, False
    return "" if free or at == len(real) else f"nothing more, but there is: {real[at]}"


def _same(shown: str, real: str) -> bool:
    if shown.endswith("…"):
        return real.startswith(shown[:-1])
    return shown == real.rstrip()  # editors and git dislike blanks at the end of a line


def recipe(page: str, name: str) -> Any:
    """The YAML block of a how-to page that begins with a comment, its file's name."""
    text = (DOCS / "how-to" / page).read_text(encoding="utf-8")
    return parse_config_text(dict(_YAML.findall(text))[name].encode(), name).python_value
