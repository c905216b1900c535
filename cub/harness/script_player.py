"""Play a step of a script: `python -I -S script_player.py step.json`, in a project's folder.

This module imports little, to start fast, and nothing of cub, to run from anywhere. It prints cub's
event protocol; a step that can't be played ends it with exit code 1.
"""

from __future__ import annotations

import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

# Characters that some file systems ignore in a name.
_IGNORED_CHARS = dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xAD]
)
_LEADS_OUT, _LEADS_TO_GIT = (
    "leads out of the project",
    "leads into git's directory, which a script can't change",
)
_PIECE_BYTES = 1 << 20


def main(path: str) -> int:
    """Play the step of a file; return the exit code."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes long to import
        step = json.load(file)
    while sys.stdin.buffer.read(_PIECE_BYTES):
        pass
    if step["missing"]:
        _fail(step["missing"])
    return _play_step(step)


def _play_step(step: Mapping[str, Any]) -> int:
    _print_event("session", id=f"scripted-{os.getpid()}")
    for text in step.get("say", ()):
        _print_event("text", text=text)
    for file, text in step.get("files", {}).items():
        _print_event("tool", text=f"{'delete' if text is None else 'write'} {file}")
        _write_file(file, text)
    for edit in step.get("replace", ()):
        _print_event("tool", text=f"edit {edit['file']}")
        _replace_text(edit["file"], edit["old"], edit["new"])
    if "denied" in step:
        _print_event("denied", text=step["denied"])
    if "usage" in step:
        _print_event("usage", **step["usage"])
    if "usd" in step:
        _print_event("cost", usd=step["usd"])
    if "close" in step:
        _close_task(step)
    code = step.get("exit", 1 if "limit" in step else 0)
    if "limit" in step:
        sys.stderr.write(step["limit"] + "\n")
    _print_event("result", text=step.get("final", ""), failed=code != 0)
    return int(code)


def _print_event(kind: str, **fields: object) -> None:
    sys.stdout.buffer.write((json.dumps({"type": kind, **fields}) + "\n").encode())
    sys.stdout.buffer.flush()


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"scripted: {message}\n")
    sys.stderr.flush()
    raise SystemExit(1)


def explain_forbidden_path(file: str) -> str:
    """Return why a script may not name a path; "" if it may, unless links lead elsewhere."""
    if any(map(_is_git_folder, file.replace("\\", "/").split("/"))):
        return _LEADS_TO_GIT
    path = os.path.normpath(file).replace(os.sep, "/") + "/"
    return _LEADS_OUT if path.startswith("../") else ""


def _is_git_folder(name: str) -> bool:
    """Return whether any system takes a name for `.git`.

    This includes other case, dots, spaces or a stream after it, its short name, and ignored
    characters.
    """
    plain = name.translate(_IGNORED_CHARS).partition(":")[0].rstrip(". ").casefold()
    return plain == ".git" or (plain[:4] == "git~" and plain[4:].isdigit())


def _is_repository(folder: str) -> bool:
    names = ("HEAD", "objects", "commondir")
    head, objects, common = (os.path.lexists(f"{folder}/{name}") for name in names)
    return head and (objects or common)


def _resolve_path(file: str) -> str:
    """Return the real path of a file; end with an error if it leads out, or to git's folder."""
    if problem := explain_forbidden_path(file):
        _fail(f"{file} {problem}")
    root, real = os.path.realpath("."), os.path.realpath(file)
    try:
        is_inside = os.path.commonpath([root, real]) == root != real
    except ValueError:  # another drive
        is_inside = False
    if not is_inside:
        _fail(f"{file} {_LEADS_OUT}")
    folder = real
    while folder != root:
        folder, name = os.path.split(folder)
        if _is_git_folder(name) or _is_repository(f"{folder}/{name}"):
            _fail(f"{file} {_LEADS_TO_GIT}")
    return real


def _write_file(file: str, text: str | None) -> None:
    real = _resolve_path(file)
    try:
        if text is not None:
            os.makedirs(os.path.dirname(real), exist_ok=True)  # noqa: PTH103, PTH120
            with open(real, "w", encoding="utf-8", newline="") as out:  # noqa: PTH123
                out.write(text)
        elif os.path.lexists(real):
            os.unlink(real)  # noqa: PTH108
    except (OSError, UnicodeError) as error:
        _fail(f"{file} can't be written: {error}")


def _replace_text(file: str, old: str, new: str) -> None:
    try:
        with open(_resolve_path(file), encoding="utf-8", newline="") as source:  # noqa: PTH123
            text = source.read()
    except (OSError, UnicodeError) as error:
        _fail(f"{file} can't be read: {error}")
    count = text.count(old) if old else 0
    if count != 1:
        _fail(f"{file} has {old!r} {count} times, not once")
    _write_file(file, text.replace(old, new))


def _close_task(step: Mapping[str, Any]) -> None:
    import subprocess

    words = ["task", "close", step["task"], "--reason", step["close"]]
    _print_event("tool", text=" ".join(["cub", *words]))
    process = subprocess.run(  # noqa: S603 - cub itself
        [step["python"], "-m", "cub", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if process.returncode:
        error = process.stderr.decode("utf-8", "replace").strip()
        _fail(f"cub task close ended with {process.returncode}: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
