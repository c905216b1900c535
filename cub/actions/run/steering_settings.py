"""Select what of a settings file steers checks, and restore that part in a later version.

The rest of such a file changes in daily work: the dependencies of a package, the sources that a
Makefile builds. Of other files, all counts.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

# Of a package of npm: dependencies, versions and what describes the package itself.
_UNRELATED_KEYS = frozenset(
    ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "version",
     "bundleDependencies", "bundledDependencies", "peerDependenciesMeta", "overrides",
     "resolutions", "name", "description", "keywords", "homepage", "bugs", "license", "author",
     "contributors", "funding", "files", "exports", "main", "module", "browser", "bin", "man",
     "types", "typings", "type", "sideEffects", "directories", "repository", "engines", "os", "cpu",
     "devEngines", "private", "publishConfig", "packageManager")
)  # fmt: skip
_UNRELATED_TOOLS = ("poetry", "uv", "pdm", "hatch", "setuptools")
_TABLE = re.compile(r"^(?=\[)", re.MULTILINE)
_TOOL_TABLE = re.compile(r"\[{1,2}\s*tool\s*\.\s*[\"']?([\w-]+)")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = re.compile(r"([^\s#:=][^:=#]*)::?(?!=)(.*)")
_ASSIGNMENT = re.compile(r"(?:override |export )*([\w.-]+)\s*(?:[:+?!]{0,3}=)")
_REFERENCE = re.compile(r"\$[({]([\w.-]+)")
_BUILDS_FILE = re.compile(r"\$[@<^]|\s-o\s")  # in a recipe
_NESTS = re.compile(r"^(?:ifn?eq|ifn?def|define)\b", re.MULTILINE)
_GENERAL_VARIABLES = ("SHELL", "MAKEFLAGS", "GNUMAKEFLAGS")


def select_steering(path: str, data: bytes) -> bytes:
    """Return what of a file steers checks, in a form that is the same for the same meaning."""
    name = PurePosixPath(path).name
    try:
        if name == "package.json":
            return _dump(_select_keys(json.loads(data)))
        if name == "pyproject.toml":
            return _dump(_select_tools(data.decode()))
        if name in _MAKEFILES:
            return "".join(rule.text for rule in _select_rules(data.decode())).encode()
    except (ValueError, AttributeError, RecursionError):
        pass
    return data


def restore_steering(path: str, old: bytes, new: bytes) -> bytes:
    """Return the new version of a file with what steers checks as it was in the old one."""
    name = PurePosixPath(path).name
    try:
        if name == "package.json":
            after = json.loads(new)
            kept = {key: value for key, value in after.items() if key in _UNRELATED_KEYS}
            return _dump({**kept, **_select_keys(json.loads(old))})
        if name == "pyproject.toml":
            text = _restore_tables(old.decode(), new.decode())
            return text.encode() if _select_tools(text) == _select_tools(old.decode()) else old
        if name in _MAKEFILES:
            return _restore_rules(old.decode(), new.decode()).encode()
        if name == "conftest.py" and _differ_by_imports(old, new):
            return new
    except (ValueError, AttributeError, RecursionError, SyntaxError):
        pass
    return old


def _differ_by_imports(old: bytes, new: bytes) -> bool:
    """Return whether two versions of a Python file differ only in what they import, and from where.

    Such a file follows a function that was renamed or moved. A hook of pytest is no such name.
    """
    versions = [_CodeWithoutImports(), _CodeWithoutImports()]
    dumps = [code.dump(data) for code, data in zip(versions, (old, new), strict=True)]
    names = [code.names for code in versions]
    renamed = {name for pair in zip(*names, strict=False) if pair[0] != pair[1] for name in pair}
    is_steered = any(name.startswith(("pytest", "collect_ignore", "*")) for name in renamed)
    return dumps[0] == dumps[1] and len(names[0]) == len(names[1]) and not is_steered


class _CodeWithoutImports(ast.NodeTransformer):
    """Replace imports by their number, and each name that they bind by its place among them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def dump(self, data: bytes) -> str:
        """Return the code in a form that is the same for the same meaning."""
        tree = ast.parse(data)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.names += [one.asname or one.name.partition(".")[0] for one in node.names]
        return ast.dump(self.visit(tree))

    def visit_Import(self, _: ast.Import) -> ast.Pass:
        return ast.Pass()

    def visit_ImportFrom(self, _: ast.ImportFrom) -> ast.Pass:
        return ast.Pass()

    def visit_Name(self, node: ast.Name) -> ast.Name:
        is_imported = node.id in self.names
        place = f"<{self.names.index(node.id)}>" if is_imported else node.id
        return ast.Name(place, node.ctx)


def _dump(tree: Mapping[str, Any]) -> bytes:
    return json.dumps(tree, default=str, sort_keys=True, indent=2).encode()


def _select_keys(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key not in _UNRELATED_KEYS}


def _select_tools(text: str) -> dict[str, Any]:
    tools = tomllib.loads(text).get("tool", {})
    return {key: value for key, value in tools.items() if key not in _UNRELATED_TOOLS}


def _restore_tables(old: str, new: str) -> str:
    tables = [table for table in _TABLE.split(new) if not _steers_tool(table)]
    tables += [table for table in _TABLE.split(old) if _steers_tool(table)]
    return "".join(table if table.endswith("\n") else f"{table}\n" for table in tables)


def _steers_tool(table: str) -> bool:
    tool = _TOOL_TABLE.match(table)
    return tool is not None and tool[1] not in _UNRELATED_TOOLS


_Key = tuple[str, tuple[str, ...]]


class _Block(NamedTuple):
    """Hold a rule of a Makefile with its recipe, the value of a variable, or another line."""

    text: str
    targets: tuple[str, ...] = ()
    variable: str = ""

    @property
    def key(self) -> _Key:
        """Return what identifies the block beside its content."""
        return self.variable, self.targets or (() if self.variable else (self.text,))

    @property
    def builds_file(self) -> bool:
        """Return whether it is a rule for a file, and not for a name such as `test`."""
        is_path = any(not target.startswith(".") and re.search(r"[%./$]", target)
                      for target in self.targets)  # fmt: skip
        return bool(self.targets) and (is_path or _BUILDS_FILE.search(self.text) is not None)


def _select_rules(text: str) -> list[_Block]:
    """Return the rules that build no file, and the variables that are not only for files."""
    if _NESTS.search(text):  # lines belong together
        return [_Block(text)]
    blocks = list(_iter_blocks(text))
    used = {block.variable for block in blocks if block.variable.startswith(".")}
    used.update(_GENERAL_VARIABLES)
    for block in blocks:
        if block.targets and not block.builds_file:
            header, _, recipe = block.text.partition("\n")
            used.update(_REFERENCE.findall(recipe))
            used.update(_list_names(_REFERENCE.findall(header), blocks))
    for _ in blocks:  # a variable may use another one
        used.update(n for b in blocks if b.variable in used for n in _REFERENCE.findall(b.text))
    return [
        block
        for block in blocks
        if block.text.strip() and not block.text.startswith("#") and not block.builds_file
        if not block.variable or block.variable in used
    ]


def _restore_rules(old: str, new: str) -> str:
    """Replace the rules of a Makefile where they are: the first one may be the goal."""
    if _NESTS.search(new):
        return old
    rules = defaultdict[_Key, list[str]](list)
    for block in _select_rules(old):
        rules[block.key].append(block.text)
    steering, texts = {block.key for block in _select_rules(new)}, list[str]()
    known = set(rules)
    for block in _iter_blocks(new):
        if block.key in known:
            texts += rules.pop(block.key, [])
        elif block.key not in steering:
            texts.append(block.text)
    variables = [text for key, group in rules.items() if key[0] for text in group]
    texts = [*variables, *texts, *(t for key, group in rules.items() if not key[0] for t in group)]
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts)


def _list_names(variables: Iterable[str], blocks: Sequence[_Block]) -> list[str]:
    """Return the variables that hold names of rules, and no files."""
    values = {block.variable: block.text for block in blocks if block.variable}
    return [name for name in variables if not re.search(r"[.%]", values.get(name, ""))]


def _iter_blocks(text: str) -> Iterator[_Block]:
    """Yield the blocks of a Makefile: a line with those that continue it, and its recipe."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        is_next = line.startswith("\t") or bool(lines and lines[-1].rstrip("\n").endswith("\\"))
        if lines and not is_next:
            yield _parse_block("".join(lines))
            lines = []
        lines.append(line)
    if lines:
        yield _parse_block("".join(lines))


def _parse_block(text: str) -> _Block:
    if assignment := _ASSIGNMENT.match(text):
        return _Block(text, variable=assignment[1])
    if rule := _RULE.match(text):
        return _Block(text, tuple(rule[1].split()))
    return _Block(text)
