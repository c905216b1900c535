"""The process of the scripted client: `python -I -S player.py step.json`, in a project's folder.

It imports little, so that it starts fast, and nothing of cub's, so that it runs from anywhere.
What it prints is cub's event protocol; a step that can't be played ends it with exit 1.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

# Characters that some disks pass over in a name, so that a name with them is one without.
_UNSEEN = dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xAD]
)
_OUT, _GIT = "leads out of the project", "leads into git's own folder, which is no script's"
_FLOOD = 50_000_000  # bytes
_PIECE = 1 << 20


def main(path: str) -> int:
    """Play the step of a file; the exit code."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes long to import
        step = json.load(file)
    while sys.stdin.buffer.read(_PIECE):
        pass
    if step["missing"]:
        _fail(step["missing"])
    return _play(step)


def _play(step: Mapping[str, Any]) -> int:
    _tell("session", id=f"scripted-{os.getpid()}")
    for text in step.get("say", ()):
        _tell("text", text=text)
    for file, text in step.get("files", {}).items():
        _tell("tool", text=f"{'delete' if text is None else 'write'} {file}")
        _write(file, text)
    for one in step.get("replace", ()):
        _tell("tool", text=f"edit {one['file']}")
        _replace(one["file"], one["old"], one["new"])
    if "denied" in step:
        _tell("denied", text=step["denied"])
    if "usage" in step:
        _tell("usage", **step["usage"])
    if "usd" in step:
        _tell("cost", usd=step["usd"])
    if "fault" in step:
        _FAULTS[step["fault"]](step)
    if "close" in step:
        _close(step)
    return _end(step)


def _end(step: Mapping[str, Any]) -> int:
    code = step.get("exit", 1 if "limit" in step else 0)
    if "limit" in step:
        sys.stderr.write(step["limit"] + "\n")
    _tell("result", text=step.get("final", ""), failed=code != 0)
    return int(code)


def _tell(kind: str, **fields: object) -> None:
    _print((json.dumps({"type": kind, **fields}) + "\n").encode())


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"scripted: {message}\n")
    sys.stderr.flush()
    raise SystemExit(1)


def explain_forbidden_path(file: str) -> str:
    """Why a script may not name a path, as far as its words tell; "" if it may."""
    if any(map(_is_git, file.replace("\\", "/").split("/"))):
        return _GIT
    out = os.path.normpath(file).replace(os.sep, "/") + "/"
    return _OUT if out.startswith("../") else ""


def _is_git(name: str) -> bool:
    """Whether a name is `.git` to any system: in other case, with dots, blanks or a stream behind
    it, by its short name, or with characters that count for nothing.
    """
    plain = name.translate(_UNSEEN).partition(":")[0].rstrip(". ").casefold()
    return plain == ".git" or (plain[:4] == "git~" and plain[4:].isdigit())


def _is_repository(folder: str) -> bool:
    """Whether a folder holds a repository, whatever its name."""
    has = [os.path.lexists(f"{folder}/{n}") for n in ("HEAD", "objects", "commondir")]
    return has[0] and (has[1] or has[2])


def _inside(file: str) -> str:
    """The real path of a file; the client fails if it leads out of this folder, or to git's."""
    if problem := explain_forbidden_path(file):
        _fail(f"{file} {problem}")
    root, real = os.path.realpath("."), os.path.realpath(file)
    try:
        inside = os.path.commonpath([root, real]) == root != real
    except ValueError:  # another drive
        inside = False
    if not inside:
        _fail(f"{file} {_OUT}")
    folder = real
    while folder != root:
        folder, name = os.path.split(folder)
        if _is_git(name) or _is_repository(f"{folder}/{name}"):
            _fail(f"{file} {_GIT}")
    return real


def _write(file: str, text: str | None) -> None:
    real = _inside(file)
    try:
        if text is not None:
            os.makedirs(os.path.dirname(real), exist_ok=True)  # noqa: PTH103, PTH120
            with open(real, "w", encoding="utf-8", newline="") as out:  # noqa: PTH123
                out.write(text)
        elif os.path.lexists(real):
            os.unlink(real)  # noqa: PTH108
    except (OSError, UnicodeError) as error:
        _fail(f"{file} can't be written: {error}")


def _replace(file: str, old: str, new: str) -> None:
    try:
        with open(_inside(file), encoding="utf-8", newline="") as source:  # noqa: PTH123
            text = source.read()
    except (OSError, UnicodeError) as error:
        _fail(f"{file} can't be read: {error}")
    times = text.count(old) if old else 0
    if times != 1:
        _fail(f"{file} has {old!r} {times} times, not once")
    _write(file, text.replace(old, new))


def _close(step: Mapping[str, Any]) -> None:
    """As an agent would: by the command, with the folder and the environment that it has."""
    import subprocess

    words = ["task", "close", step["task"], "--reason", step["close"]]
    _tell("tool", text=" ".join(["cub", *words]))
    done = subprocess.run(  # noqa: S603 - cub itself
        [step["python"], "-m", "cub", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        _fail(f"cub task close ended with {done.returncode}: {said}")


def _crash(_: Mapping[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    _silent(_)


def _hang(_: Mapping[str, Any]) -> None:
    number = 0
    while True:
        number += 1
        _tell("text", text=f"still at work: {number}")
        time.sleep(0.05)


def _silent(_: Mapping[str, Any]) -> None:
    while True:
        time.sleep(3600)


def _deaf(step: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _tell("text", text="deaf")
    _silent(step)


def _orphan(step: Mapping[str, Any]) -> None:
    """Leave a process of another session behind, which has stdout open; say which one."""
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(into, str(os.getpid()).encode())
            os.close(into)
            _silent(step)
        os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    _tell("text", text=f"orphan {os.read(out, 20).decode()}")


def _flood(step: Mapping[str, Any]) -> None:
    line = (json.dumps({"type": "text", "text": "flood " * 160}) + "\n").encode()
    size = step.get("size", _FLOOD)
    many = line * (_PIECE // len(line))
    while size > 0:
        _print(many[: max(size, 0)])
        size -= len(many)
    _print(b"\n")


def _binary(_: Mapping[str, Any]) -> None:
    _print(b"\xff\xfe\x00\x80\xc3(\n" + bytes(range(256)) + b'\n{"type": "text", "text": "\xff"}\n')


def _print_broken(_: Mapping[str, Any]) -> None:
    _tell("text", text="before")
    _print(b'{"type": "text", "te\n{"type": "usage", "input": NaN}\n{}\n[]\n{"type": 1}\n')
    _tell("text", text="after")


_FAULTS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "crash": _crash,
    "hang": _hang,
    "silent": _silent,
    "deaf": _deaf,
    "orphan": _orphan,
    "flood": _flood,
    "binary": _binary,
    "broken": _print_broken,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
