"""Ruby: Gemfile and gemspecs, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import beside, path_of
from cub.repomap.stack.dependencies import known
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

_GEM = re.compile(r"""gem[ \t(]++["']([\w.-]++)["'](?:,[ \t]*+["']([^"']++)["'])?""")
_RUBY = re.compile(r"""ruby[ \t(]++["']([^"']++)["']""")
_SPEC = re.compile(r"""\w++\.(name|summary|description)[ \t]*+=[ \t]*+["']([^"'#]++)["']""")
_NEEDS_RUBY = re.compile(r"""\w++\.required_ruby_version[ \t]*+=[^"']{0,40}["']([^"']++)["']""")
_NEEDS = re.compile(
    r"""\w++\.add_(?:runtime_|development_)?dependency[ \t(]++["']([\w.-]++)["']"""
    r"""(?:,[ \t]*+["']([^"']++)["'])?"""
)


def _gemfile(manifest: Manifest) -> Facts:
    lines = list(code_lines(manifest.text))
    source, folder = manifest.path, manifest.folder
    gems = [found.groups("") for line in lines if (found := _GEM.match(line))]
    ruby = [found[1] for line in lines if (found := _RUBY.match(line))]
    return Facts(
        technologies=(
            Technology("Ruby", "language", "".join(ruby[:1]), source),
            Technology("Bundler", "manager", "", source),
            *known("rubygems", ((name, version) for name, version in gems), source),
        ),
        commands=(
            Command("install", "bundle install", source, folder),
            *_test_commands(manifest, {name for name, _ in gems}),
        ),
    )


def _test_commands(manifest: Manifest, gems: set[str]) -> Iterator[Command]:
    source, folder = manifest.path, manifest.folder
    if any(name.startswith("rspec") for name in gems):
        yield Command("test", "bundle exec rspec", source, folder)
    elif "rails" in gems and beside(manifest, "bin/rails"):
        yield Command("test", "bin/rails test", source, folder)
    if "rubocop" in gems or any(name.startswith("rubocop-") for name in gems):
        yield Command("lint", "bundle exec rubocop", source, folder)
    if "standard" in gems:
        yield Command("lint", "bundle exec standardrb", source, folder)
    if "sorbet" in gems:
        yield Command("typecheck", "bundle exec srb tc", source, folder)


def _gemspec(manifest: Manifest) -> Facts:
    lines = list(code_lines(manifest.text))
    said = [(found[1], found[2]) for line in lines if (found := _SPEC.match(line))]
    facts = dict(reversed(said))
    ruby = [found[1] for line in lines if (found := _NEEDS_RUBY.match(line))]
    needs = [found.groups("") for line in lines if (found := _NEEDS.match(line))]
    name = facts.get("name") or manifest.path.rpartition("/")[2].removesuffix(".gemspec")
    words = facts.get("summary") or facts.get("description", "")
    return Facts(
        technologies=(
            Technology("Ruby", "language", "".join(ruby[:1]), manifest.path),
            *known("rubygems", ((gem, version) for gem, version in needs), manifest.path),
        ),
        entry_points=tuple(_faces(manifest, name)),
        packages=(Package(manifest.folder, name, words, manifest.path),),
    )


def _faces(manifest: Manifest, name: str) -> Iterator[EntryPoint]:
    """The file that `require` loads, and the program of the same name."""
    program = beside(manifest, f"exe/{name}", f"bin/{name}")
    library = beside(manifest, f"lib/{name}.rb", f"lib/{name.replace('-', '/')}.rb")
    for path in filter(None, (program, library)):
        yield EntryPoint(name, path_of(manifest, path), manifest.path)


READERS: tuple[Reader, ...] = (
    Reader(("Gemfile", "gems.rb"), _gemfile),
    Reader(("*.gemspec",), _gemspec),
)
