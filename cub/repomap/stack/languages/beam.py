"""Elixir, Erlang and Gleam: mix.exs, rebar.config, gleam.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import above, below, beside, path_of
from cub.repomap.stack.commands.purposes import purpose_of_name
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.lines import code_lines
from cub.repomap.stack.formats.trees import table, text_at, toml_tree
from cub.repomap.stack.workspaces import members

_FIELD = re.compile(r'(app|elixir|description|apps_path):[ \t]*+(?::(\w++)|"([^"\n]++)")')
_MODULE = re.compile(r"(?:mod: \{|main_module: )[ \t]*+([A-Z][\w.]*+)")
_NEED = re.compile(r'\{:(\w++),[ \t]*+(?:"([^"\n]++)")?')
_ALIAS = re.compile(r'"?([a-z][\w.]*+)"?(?:"?:[ \t]|[ \t]++=>)')
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")
_ERLANG_NEED = re.compile(r'\{(\w++),[ \t]*+(?:"([^"\n]++)"|\{)')
_OTP = re.compile(r'\{minimum_otp_vsn,[ \t]*+"([^"\n]++)"')


def _mix(manifest: Manifest) -> Facts:
    lines = list(code_lines(manifest.text))
    found = [each.groups("") for line in lines for each in _FIELD.finditer(line)]
    fields = {key: atom or text for key, atom, text in reversed(found)}
    needs = [each.groups("") for line in lines for each in _NEED.finditer(line)]
    name = fields.get("app", "")
    package = Package(manifest.folder, name, fields.get("description", ""), manifest.path)
    apps = (
        members(manifest, [f"{fields['apps_path']}/*"], "mix.exs") if "apps_path" in fields else ()
    )
    return Facts(
        technologies=(
            Technology("Elixir", "language", fields.get("elixir", ""), manifest.path),
            Technology("Mix", "build", "", manifest.path),
            *known("hex", ((need, version) for need, version in needs), manifest.path),
        ),
        commands=tuple(_mix_commands(lines, {need for need, _ in needs}, manifest)),
        entry_points=tuple(_modules(lines, manifest)),
        packages=(
            *([package] if name else ()),
            *(Package(folder, "", "", manifest.path) for folder in apps),
        ),
    )


def _mix_commands(lines: list[str], needs: set[str], manifest: Manifest) -> Iterator[Command]:
    source, folder = manifest.path, manifest.folder
    if above(manifest, "mix.exs"):
        return
    for name in _aliases(lines):
        if purpose := purpose_of_name(name):
            yield Command(purpose, f"mix {name}", source, folder, "target")
    yield Command("install", "mix deps.get", source, folder)
    yield Command("build", "mix compile", source, folder)
    yield Command("test", "mix test", source, folder)
    if "credo" in needs:
        yield Command("lint", "mix credo", source, folder)
    yield Command("lint", "mix format --check-formatted", source, folder)
    yield Command("format", "mix format", source, folder)
    if "dialyxir" in needs:
        yield Command("typecheck", "mix dialyzer", source, folder)
    if "phoenix" in needs:
        yield Command("run", "mix phx.server", source, folder)


def _aliases(lines: list[str]) -> Iterator[str]:
    """The names in the function `aliases`; those of assets and databases are for a part alone."""
    inside = False
    for line in lines:
        found = _ALIAS.match(line) if inside else None
        if found and not found[1].startswith(("assets.", "ecto.")):
            yield found[1]
        inside = line != "end" and (inside or bool(re.match(r"defp? aliases\b", line)))


def _modules(lines: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    """The application that is started, or the module of a script, in the file named like it."""
    for name in dict.fromkeys(each for line in lines for each in _MODULE.findall(line)):
        parts = ["_".join(_WORDS.findall(part)).lower() for part in name.split(".")]
        file = f"lib/{'/'.join(parts)}.ex"
        yield EntryPoint(
            name, path_of(manifest, file) if beside(manifest, file) else name, manifest.path
        )


def _rebar(manifest: Manifest) -> Facts:
    text, source, folder = "\n".join(code_lines(manifest.text, "%")), manifest.path, manifest.folder
    names = [path for path in below(manifest, "src") if path.endswith(".app.src")]
    commands = (
        Command("build", "rebar3 compile", source, folder),
        Command("test", "rebar3 eunit", source, folder),
        *([Command("test", "rebar3 ct", source, folder)] if _suites(manifest) else ()),
        *([Command("format", "rebar3 fmt", source, folder)] if "erlfmt" in text else ()),
        *([Command("typecheck", "rebar3 dialyzer", source, folder)] if "dialyzer" in text else ()),
    )
    return Facts(
        technologies=(
            Technology("Erlang", "language", "".join(_OTP.findall(text)[:1]), source),
            Technology("rebar3", "build", "", source),
            *known("hex", _ERLANG_NEED.findall(text), source),
        ),
        commands=() if above(manifest, "rebar.config") else commands,
        packages=tuple(
            Package(folder, path.removesuffix(".app.src"), "", source) for path in names[:1]
        ),
    )


def _suites(manifest: Manifest) -> bool:
    return any(path.endswith("_SUITE.erl") for path in below(manifest, "test"))


def _gleam(manifest: Manifest) -> Facts:
    tree, source, folder = toml_tree(manifest.text), manifest.path, manifest.folder
    needs = table(tree.get("dependencies")) | table(tree.get("dev-dependencies"))
    name, words = text_at(tree, "name"), text_at(tree, "description")
    return Facts(
        technologies=(
            Technology("Gleam", "language", text_at(tree, "gleam"), source),
            *known("hex", ((need, version_of(wanted)) for need, wanted in needs.items()), source),
        ),
        commands=(
            Command("build", "gleam build", source, folder),
            Command("test", "gleam test", source, folder),
            Command("lint", "gleam format --check", source, folder),
            Command("format", "gleam format", source, folder),
        ),
        packages=(Package(folder, name, words, source),) if name else (),
    )


READERS: tuple[Reader, ...] = (
    Reader(("mix.exs",), _mix),
    Reader(("rebar.config",), _rebar),
    Reader(("gleam.toml",), _gleam),
)
