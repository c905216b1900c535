"""Read the files of Ruby: Gemfile, gemspecs, Rakefile, Rails, RuboCop and RSpec."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import iter_named_targets
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import find_first, iter_code_lines
from cub.repomap.stack.manifest import Manifest

_RUBY_VERSION = re.compile(r"[\w.-]{1,40}")
_GEM = re.compile(r"""gem[ \t(]++["']([\w.-]++)["'](?:,[ \t]*+["']([^"']++)["'])?""")
_RUBY = re.compile(r"""ruby[ \t(]++["']([^"']++)["']""")
_SPEC = re.compile(r"""\w++\.(name|summary|description)[ \t]*+=[ \t]*+["']([^"'#]++)["']""")
_REQUIRED_RUBY = re.compile(r"""\w++\.required_ruby_version[ \t]*+=[^"']{0,40}["']([^"']++)["']""")
_DEPENDENCY = re.compile(
    r"""\w++\.add_(?:runtime_|development_)?dependency[ \t(]++["']([\w.-]++)["']"""
    r"""(?:,[ \t]*+["']([^"']++)["'])?"""
)
_TASK = re.compile(r"""task[ \t(]++:?["']?([\w:-]++)""")
_NAMESPACE = re.compile(r"""namespace[ \t(]++:?["']?([\w-]++)""")
_LIBRARY_TASKS = (  # what defines them, and their usual names
    (re.compile(r"RSpec::Core::RakeTask\.new"), "spec"),
    (re.compile(r"(?:Rake::TestTask|Minitest::TestTask)\.(?:new|create)"), "test"),
    (re.compile(r"RuboCop::RakeTask\.new"), "rubocop"),
    (re.compile(r"Bundler::GemHelper\.install_tasks|require ['\"]bundler/gem_tasks"), "build"),
)
_LIBRARY_TASK_NAME = re.compile(r"""\.(?:new|create)[ \t(]*+[:"']([\w:-]++)""")
_MAX_LINE_CHARS = 500
_MAX_NAMESPACES = 8


def read_gemfile(manifest: Manifest) -> Iterator[Fact]:
    """Read a Gemfile, line by line."""
    lines = list(iter_code_lines(manifest.text))
    gems = _list_gems(_GEM, lines)
    yield manifest.make_technology("Ruby", "language", find_first(_RUBY, lines))
    yield from manifest.find_known("rubygems", gems)
    yield from _list_gem_commands(manifest, dict(gems))


def _list_gems(pattern: re.Pattern[str], lines: list[str]) -> list[tuple[str, str]]:
    return [(gem[1], gem[2] or "") for line in lines if (gem := pattern.match(line))]


def _list_gem_commands(manifest: Manifest, gems: dict[str, str]) -> Iterator[ProjectCommand]:
    if any(name.startswith("rspec") for name in gems):
        yield manifest.make_command("test", "bundle exec rspec")
    elif "rails" in gems and manifest.find_beside("bin/rails"):
        yield manifest.make_command("test", "bin/rails test")
    if "rubocop" in gems or any(name.startswith("rubocop-") for name in gems):
        yield manifest.make_command("lint", "bundle exec rubocop")
    yield from manifest.make_tool_commands("rubygems", gems)


def read_gemspec(manifest: Manifest) -> Iterator[Fact]:
    """Read a gemspec, line by line."""
    lines = list(iter_code_lines(manifest.text))
    gems = dict(_list_gems(_DEPENDENCY, lines))
    yield manifest.make_technology("Ruby", "language", find_first(_REQUIRED_RUBY, lines))
    yield from manifest.find_known("rubygems", gems.items())
    yield from _list_gem_commands(manifest, gems)
    fields = {match[1]: match[2] for line in reversed(lines) if (match := _SPEC.match(line))}
    name = fields.get("name") or manifest.name.removesuffix(".gemspec")
    library = f"lib/{name}.rb", f"lib/{name.replace('-', '/')}.rb"
    for usual in ((f"exe/{name}", f"bin/{name}"), library):
        path = manifest.resolve_path(manifest.find_beside(*usual))
        yield manifest.make_entry_point(name, path)
    description = fields.get("summary") or fields.get("description", "")
    yield manifest.make_package(name, description)


def read_rakefile(manifest: Manifest) -> Iterator[Fact]:
    """Read the tasks of Rake; in a gem, `install` installs the gem itself."""
    rake = "bundle exec rake" if manifest.find_beside("Gemfile") else "rake"
    for purpose, name in iter_named_targets(_iter_tasks(manifest.text)):
        if not name.startswith("install"):
            yield manifest.make_command(purpose, f"{rake} {name}", "target")


def _iter_tasks(text: str) -> Iterator[str]:
    """Yield the names of the tasks, in their namespaces as the indentation shows them."""
    namespaces: list[tuple[int, str]] = []
    for line in (full[:_MAX_LINE_CHARS] for full in text.split("\n")):
        code = line.lstrip()
        depth = len(line) - len(code)
        if code:
            namespaces = [space for space in namespaces if space[0] < depth]
        if (namespace := _NAMESPACE.match(code)) and len(namespaces) < _MAX_NAMESPACES:
            namespaces.append((depth, namespace[1]))
        elif task := _TASK.match(code):
            yield ":".join([*(name for _, name in namespaces), task[1].rstrip(":")])
        for pattern, usual_name in _LIBRARY_TASKS:
            if pattern.match(code):
                name = _LIBRARY_TASK_NAME.search(code)
                yield name[1] if name else usual_name


def read_rails_application(manifest: Manifest) -> Iterator[Fact]:
    """Read `config/application.rb`, which makes a folder a Rails application."""
    if "Rails::Application" not in manifest.text:
        return
    path, paths = manifest.path, manifest.paths
    yield manifest.make_technology("Ruby on Rails", "framework")
    yield ProjectCommand("run", "bin/dev" if "bin/dev" in paths else "bin/rails server", path)
    if "bin/setup" in paths:
        yield ProjectCommand("install", "bin/setup", path)
    if "test/test_helper.rb" in paths:
        yield ProjectCommand("test", "bin/rails test", path)
    yield manifest.make_entry_point("rails", path)


def read_ruby_version(manifest: Manifest) -> Iterator[Fact]:
    """Read .ruby-version: one version."""
    version = manifest.text.strip().removeprefix("ruby-")
    if not _RUBY_VERSION.fullmatch(version):
        raise ValueError("this is not the name of one Ruby version")
    yield manifest.make_technology("Ruby", "language", version)
