"""Read the build files of Elixir and Erlang: mix.exs and rebar.config."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose
from cub.repomap.stack.facts import EntryPoint, Fact
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.manifest import Manifest

_FIELD = re.compile(r'(app|elixir|description|apps_path):[ \t]*+(?::(\w++)|"([^"\n]++)")')
_MODULE = re.compile(r"(?:mod: \{|main_module: )[ \t]*+([A-Z][\w.]*+)")
_DEPENDENCY = re.compile(r'\{:(\w++),[ \t]*+(?:"([^"\n]++)")?')
_ALIAS = re.compile(r'"?([a-z][\w.]*+)"?(?:"?:[ \t]|[ \t]++=>)')
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")


def read_mix_exs(manifest: Manifest) -> Iterator[Fact]:
    """Read a project of Mix."""
    lines = list(iter_code_lines(manifest.text))
    matches = [match.groups("") for line in lines for match in _FIELD.finditer(line)]
    fields = {key: atom or text for key, atom, text in reversed(matches)}
    packages = [(m[1], m[2] or "") for line in lines for m in _DEPENDENCY.finditer(line)]
    yield manifest.make_technology("Elixir", "language", fields.get("elixir", ""))
    yield from manifest.find_known("hex", packages)
    if not manifest.exists_above("mix.exs"):
        for name in _iter_aliases(lines):
            if purpose := detect_name_purpose(name):
                yield manifest.make_command(purpose, f"mix {name}", "target")
        yield from manifest.make_tool_commands("hex", dict(packages))
        yield from manifest.make_commands(lint="mix format --check-formatted", format="mix format")
    yield from _list_modules(lines, manifest)
    yield manifest.make_package(fields.get("app", ""), fields.get("description", ""))
    if apps := fields.get("apps_path"):
        yield from manifest.make_members([f"{apps}/*"], "mix.exs")


def _iter_aliases(lines: list[str]) -> Iterator[str]:
    """Yield the names in the function `aliases`, without those of assets and databases."""
    inside = False
    for line in lines:
        alias = _ALIAS.match(line) if inside else None
        if alias and not alias[1].startswith(("assets.", "ecto.")):
            yield alias[1]
        inside = line != "end" and (inside or bool(re.match(r"defp? aliases\b", line)))


def _list_modules(lines: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    """Yield the application that is started, or a script's module, in the file named like it."""
    for name in dict.fromkeys(name for line in lines for name in _MODULE.findall(line)):
        parts = ["_".join(_WORDS.findall(part)).lower() for part in name.split(".")]
        file = f"lib/{'/'.join(parts)}.ex"
        path = manifest.resolve_path(file) if manifest.find_beside(file) else name
        yield manifest.make_entry_point(name, path)


def read_rebar_config(manifest: Manifest) -> Iterator[Fact]:
    """Find the suites and the application of a project of rebar3."""
    suites = (path for path in manifest.list_below("test") if path.endswith("_SUITE.erl"))
    if any(suites) and not manifest.exists_above("rebar.config"):
        yield manifest.make_command("test", "rebar3 ct")
    names = [path for path in manifest.list_below("src") if path.endswith(".app.src")]
    yield manifest.make_package("".join(names[:1]).removesuffix(".app.src"))
