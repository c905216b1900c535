"""Elixir, Erlang and Gleam: mix.exs, rebar.config, gleam.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose
from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, get_text_at, iter_code_lines, parse_toml
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_beside,
    find_workspace_members,
    list_below,
    resolve_manifest_path,
)

_FIELD = re.compile(r'(app|elixir|description|apps_path):[ \t]*+(?::(\w++)|"([^"\n]++)")')
_MODULE = re.compile(r"(?:mod: \{|main_module: )[ \t]*+([A-Z][\w.]*+)")
_NEED = re.compile(r'\{:(\w++),[ \t]*+(?:"([^"\n]++)")?')
_ALIAS = re.compile(r'"?([a-z][\w.]*+)"?(?:"?:[ \t]|[ \t]++=>)')
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")
_ERLANG_NEED = re.compile(r'\{(\w++),[ \t]*+(?:"([^"\n]++)"|\{)')
_OTP = re.compile(r'\{minimum_otp_vsn,[ \t]*+"([^"\n]++)"')


def _mix(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(manifest.text))
    found = [each.groups("") for line in lines for each in _FIELD.finditer(line)]
    fields = {key: atom or text for key, atom, text in reversed(found)}
    needs = [each.groups("") for line in lines for each in _NEED.finditer(line)]
    name = fields.get("app", "")
    package = ProjectPackage(manifest.folder, name, fields.get("description", ""), manifest.path)
    apps = (
        find_workspace_members(manifest, [f"{fields['apps_path']}/*"], "mix.exs")
        if "apps_path" in fields
        else ()
    )
    return ManifestFacts(
        technologies=(
            Technology("Elixir", "language", fields.get("elixir", ""), manifest.path),
            Technology("Mix", "build", "", manifest.path),
            *find_known_technologies(
                "hex", ((need, version) for need, version in needs), manifest.path
            ),
        ),
        commands=tuple(_mix_commands(lines, {need for need, _ in needs}, manifest)),
        entry_points=tuple(_modules(lines, manifest)),
        packages=(
            *([package] if name else ()),
            *(ProjectPackage(folder, "", "", manifest.path) for folder in apps),
        ),
    )


def _mix_commands(
    lines: list[str], needs: set[str], manifest: Manifest
) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    if exists_above(manifest, "mix.exs"):
        return
    for name in _aliases(lines):
        if purpose := detect_name_purpose(name):
            yield ProjectCommand(purpose, f"mix {name}", source, folder, "target")
    yield ProjectCommand("install", "mix deps.get", source, folder)
    yield ProjectCommand("build", "mix compile", source, folder)
    yield ProjectCommand("test", "mix test", source, folder)
    if "credo" in needs:
        yield ProjectCommand("lint", "mix credo", source, folder)
    yield ProjectCommand("lint", "mix format --check-formatted", source, folder)
    yield ProjectCommand("format", "mix format", source, folder)
    if "dialyxir" in needs:
        yield ProjectCommand("typecheck", "mix dialyzer", source, folder)
    if "phoenix" in needs:
        yield ProjectCommand("run", "mix phx.server", source, folder)


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
            name,
            resolve_manifest_path(manifest, file) if find_beside(manifest, file) else name,
            manifest.path,
        )


def _rebar(manifest: Manifest) -> ManifestFacts:
    text, source, folder = (
        "\n".join(iter_code_lines(manifest.text, "%")),
        manifest.path,
        manifest.folder,
    )
    names = [path for path in list_below(manifest, "src") if path.endswith(".app.src")]
    commands = (
        ProjectCommand("build", "rebar3 compile", source, folder),
        ProjectCommand("test", "rebar3 eunit", source, folder),
        *([ProjectCommand("test", "rebar3 ct", source, folder)] if _suites(manifest) else ()),
        *([ProjectCommand("format", "rebar3 fmt", source, folder)] if "erlfmt" in text else ()),
        *(
            [ProjectCommand("typecheck", "rebar3 dialyzer", source, folder)]
            if "dialyzer" in text
            else ()
        ),
    )
    return ManifestFacts(
        technologies=(
            Technology("Erlang", "language", "".join(_OTP.findall(text)[:1]), source),
            Technology("rebar3", "build", "", source),
            *find_known_technologies("hex", _ERLANG_NEED.findall(text), source),
        ),
        commands=() if exists_above(manifest, "rebar.config") else commands,
        packages=tuple(
            ProjectPackage(folder, path.removesuffix(".app.src"), "", source) for path in names[:1]
        ),
    )


def _suites(manifest: Manifest) -> bool:
    return any(path.endswith("_SUITE.erl") for path in list_below(manifest, "test"))


def _gleam(manifest: Manifest) -> ManifestFacts:
    tree, source, folder = parse_toml(manifest.text), manifest.path, manifest.folder
    needs = as_table(tree.get("dependencies")) | as_table(tree.get("dev-dependencies"))
    name, words = get_text_at(tree, "name"), get_text_at(tree, "description")
    return ManifestFacts(
        technologies=(
            Technology("Gleam", "language", get_text_at(tree, "gleam"), source),
            *find_known_technologies(
                "hex", ((need, format_version(wanted)) for need, wanted in needs.items()), source
            ),
        ),
        commands=(
            ProjectCommand("build", "gleam build", source, folder),
            ProjectCommand("test", "gleam test", source, folder),
            ProjectCommand("lint", "gleam format --check", source, folder),
            ProjectCommand("format", "gleam format", source, folder),
        ),
        packages=(ProjectPackage(folder, name, words, source),) if name else (),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("mix.exs",), _mix),
    ManifestReader(("rebar.config",), _rebar),
    ManifestReader(("gleam.toml",), _gleam),
)
