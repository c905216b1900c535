"""What architecture.md and AGENTS.md say of the code is so: who writes files, and who prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS
from tests.docs.test_tables import rows

ROOT = DOCS.parent
PAGE = DOCS / "explanation" / "architecture.md"
_MODULE = re.compile(r"`(cub/[\w/]+\.py)`")
# Functions that make, change, rename or delete files.
_OF_OS = frozenset(
    ("chmod", "chown", "fchmod", "fchown", "ftruncate", "lchmod", "lchown", "link", "makedirs",
     "mkdir", "mkfifo", "mknod", "remove", "removedirs", "removexattr", "rename", "renames",
     "replace", "rmdir", "setxattr", "symlink", "truncate", "unlink", "utime")
)  # fmt: skip
_OF_SHUTIL = frozenset(
    ("chown", "copy", "copy2", "copyfile", "copymode", "copystat", "copytree", "make_archive",
     "move", "rmtree", "unpack_archive")
)  # fmt: skip
_OF_PATHS = frozenset(
    ("chmod", "hardlink_to", "lchmod", "mkdir", "rename", "rmdir", "symlink_to", "touch", "unlink",
     "write_bytes", "write_text")
)  # fmt: skip
# By which modules write people's files that call none of these themselves.
_OF_CUB = frozenset(("Disk", "replace_single_file"))
# Commands by which git writes files, refs, objects or an index.
_OF_GIT = frozenset(
    ("checkout-index", "commit", "hash-object", "read-tree", "reset", "switch", "update-index",
     "update-ref", "worktree", "write-tree")
)  # fmt: skip
_WRITERS = _OF_OS | _OF_SHUTIL | _OF_PATHS | _OF_CUB | {"open", "tempfile"}
_WORDS_OF_GIT = {word for words in _OF_GIT for word in words.split("-")}
_PRINTERS = frozenset(("Console", "echo", "print", "secho"))
_NAME = re.compile(r"\w+")


def _nodes(path: Path, words: Collection[str]) -> list[ast.AST]:
    """The syntax of a module that has one of the words: most have none, and parsing takes time."""
    source = path.read_text(encoding="utf-8")
    return (
        [*ast.walk(ast.parse(source))] if not set(_NAME.findall(source)).isdisjoint(words) else []
    )


def _dotted(node: ast.expr) -> str:
    """A name with dots; "?" stands for what is no name."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str, ast.Call]]:
    """The calls of a module: what is before the last dot of the function, its name, the call."""
    for node in nodes:
        if isinstance(node, ast.Call):
            before, _, name = _dotted(node.func).rpartition(".")
            yield before, name, node


def _writes(path: Path) -> bool:
    is_git = path.parent.name == "git"
    nodes = _nodes(path, _WRITERS | _WORDS_OF_GIT if is_git else _WRITERS)
    imported = {
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    if not imported.isdisjoint(_OF_CUB) or any(_is_write(*call) for call in _calls(nodes)):
        return True
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return is_git and any(text in _OF_GIT for text in texts)


def _is_write(before: str, name: str, call: ast.Call) -> bool:
    arguments = [*call.args, *(word.value for word in call.keywords)]
    if name == "open":
        place = 1 if before in ("", "os") else 0
        mode = call.args[place : place + 1] + [w.value for w in call.keywords if w.arg == "mode"]
        of_null = "devnull" in ast.unparse(call)
        return not of_null and any(_is_mode_of_writing(one) for one in mode)
    if before == "os":
        return name in _OF_OS
    if before == "shutil":
        return name in _OF_SHUTIL
    if before == "tempfile":
        return True
    # Texts and times have a `replace` as well, with other arguments.
    is_renamed = name == "replace" and len(arguments) == len(call.args) == 1
    return is_renamed or (name in _OF_PATHS and len(call.args) <= 1)


def _is_mode_of_writing(mode: ast.expr) -> bool:
    if isinstance(mode, ast.Constant):
        return not set(str(mode.value)).isdisjoint("wax+")
    return "O_RDONLY" not in ast.unparse(mode)


def _prints(path: Path) -> bool:
    nodes = _nodes(path, _PRINTERS | {"write", "writelines"})
    for before, name, call in _calls(nodes):
        if name in _PRINTERS and before in ("", "typer", "click", "rich"):
            return True
        if (before, name) == ("os", "write") and _is_stream(call):
            return True
    chains = (_dotted(node) for node in nodes if isinstance(node, ast.Attribute))
    return any(re.fullmatch(r"sys\.std(out|err)(\.buffer)?\.write(lines)?", one) for one in chains)


def _is_stream(call: ast.Call) -> bool:
    """Whether it is a write to stdout or stderr, by number."""
    return isinstance(call.args[0], ast.Constant) and call.args[0].value in (1, 2)


def _modules(holds: Callable[[Path], bool]) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "cub").rglob("*.py") if holds(path)
    }


def test_the_modules_that_write_files_are_those_of_the_table() -> None:
    told = [name for row in rows(PAGE, "Writes") for name in _MODULE.findall(row[1])]
    assert len(told) == len(set(told))
    assert _modules(_writes) == set(told)


def test_the_modules_that_print_are_those_that_agents_are_told() -> None:
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    (point,) = re.findall(r"^- Commands print through .*?(?=^- )", text, re.DOTALL | re.MULTILINE)
    assert _modules(_prints) == set(_MODULE.findall(point))


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ("open(p, 'w')", True),
        ("open(p)", False),
        ("p.open(mode='ab')", True),
        ("p.open('rb')", False),
        ("os.open(p, os.O_WRONLY)", True),
        ("os.open(p, os.O_RDONLY | flags)", False),
        ("os.open(p, flags)", True),
        ("Path(p).replace(other)", True),
        ("text.replace(old, new)", False),
        ("when.replace(hour=1)", False),
        ("p.unlink(missing_ok=True)", True),
        ("draft.unlink(p, 'a reason')", False),
        ("from cub.files.single_file import replace_single_file", True),
        ("shutil.rmtree(p)", True),
        ("os.stat(p)", False),
    ],
)  # fmt: skip
def test_a_write_is_told_from_what_is_none(tmp_path: Path, code: str, writes: bool) -> None:
    (tmp_path / "module.py").write_text(code)
    assert _writes(tmp_path / "module.py") is writes


def test_every_room_is_in_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(cub/\w+(?:\.py)?)/?` \|", text, re.MULTILINE))
    there = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cub").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert named == there - {"cub/__init__.py", "cub/__main__.py"}
