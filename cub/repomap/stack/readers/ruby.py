"""Read the files of Ruby: Gemfile, gemspecs, Rakefile, Rails, RuboCop and RSpec."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose, rank_target_name
from cub.repomap.stack.facts import ManifestFacts, ProjectCommand
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest

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


def read_gemfile(manifest: Manifest) -> ManifestFacts:
    """Read a Gemfile, line by line."""
    lines = list(iter_code_lines(manifest.text))
    gems = dict(_iter_gems(_GEM, lines))
    return ManifestFacts(
        (
            manifest.make_technology("Ruby", "language", _find_first(_RUBY, lines)),
            manifest.make_technology("Bundler", "manager"),
            *find_known_technologies("rubygems", _iter_gems(_GEM, lines), manifest.path),
        ),
        (manifest.make_command("install", "bundle install"), *_list_gem_commands(manifest, gems)),
    )


def _find_first(pattern: re.Pattern[str], lines: list[str]) -> str:
    """Return the pattern's group in the first line that begins with it, "" for none."""
    return next((match[1] for line in lines if (match := pattern.match(line))), "")


def _iter_gems(pattern: re.Pattern[str], lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if gem := pattern.match(line):
            yield gem[1], gem[2] or ""


def _list_gem_commands(manifest: Manifest, gems: dict[str, str]) -> Iterator[ProjectCommand]:
    if any(name.startswith("rspec") for name in gems):
        yield manifest.make_command("test", "bundle exec rspec")
    elif "rails" in gems and manifest.find_beside("bin/rails"):
        yield manifest.make_command("test", "bin/rails test")
    if "rubocop" in gems or any(name.startswith("rubocop-") for name in gems):
        yield manifest.make_command("lint", "bundle exec rubocop")
    if "standard" in gems:
        yield manifest.make_command("lint", "bundle exec standardrb")
    if "sorbet" in gems:
        yield manifest.make_command("typecheck", "bundle exec srb tc")


def read_gemspec(manifest: Manifest) -> ManifestFacts:
    """Read a gemspec, line by line."""
    lines = list(iter_code_lines(manifest.text))
    gems = dict(_iter_gems(_DEPENDENCY, lines))
    fields = {match[1]: match[2] for line in reversed(lines) if (match := _SPEC.match(line))}
    name = fields.get("name") or manifest.name.removesuffix(".gemspec")
    description = fields.get("summary") or fields.get("description", "")
    program = manifest.find_beside(f"exe/{name}", f"bin/{name}")
    library = manifest.find_beside(f"lib/{name}.rb", f"lib/{name.replace('-', '/')}.rb")
    return ManifestFacts(
        (
            manifest.make_technology("Ruby", "language", _find_first(_REQUIRED_RUBY, lines)),
            *find_known_technologies("rubygems", gems.items(), manifest.path),
        ),
        tuple(_list_gem_commands(manifest, gems)),
        tuple(
            manifest.make_entry_point(name, manifest.resolve_path(path))
            for path in (program, library)
            if path
        ),
        (manifest.make_package(name, description),),
    )


def read_rakefile(manifest: Manifest) -> ManifestFacts:
    """Read the tasks of Rake; in a gem, `install` installs the gem itself."""
    names = sorted(set(_iter_tasks(manifest.text)), key=lambda name: (rank_target_name(name), name))
    rake = "bundle exec rake" if manifest.find_beside("Gemfile") else "rake"
    return ManifestFacts(
        (manifest.make_technology("Rake", "tool"),),
        tuple(
            manifest.make_command(purpose, f"{rake} {name}", "target")
            for name in names
            if (purpose := detect_name_purpose(name)) and not name.startswith("install")
        ),
    )


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


def read_rubocop(manifest: Manifest) -> ManifestFacts:
    """Read nothing of RuboCop's file but that it is there."""
    program = "bin/rubocop" if manifest.find_beside("bin/rubocop") else "bundle exec rubocop"
    return ManifestFacts(
        (manifest.make_technology("RuboCop", "tool"),),
        manifest.make_commands(lint=program, format=f"{program} -a"),
    )


def read_rspec(manifest: Manifest) -> ManifestFacts:
    """Read nothing of RSpec's file but that it is there."""
    program = "bin/rspec" if manifest.find_beside("bin/rspec") else "bundle exec rspec"
    return ManifestFacts(
        (manifest.make_technology("RSpec", "tool"),), manifest.make_commands(test=program)
    )


def read_rails_application(manifest: Manifest) -> ManifestFacts:
    """Read `config/application.rb`, which makes a folder a Rails application."""
    if "Rails::Application" not in manifest.text:
        return ManifestFacts()
    path, paths = manifest.path, manifest.paths
    run = "bin/dev" if "bin/dev" in paths else "bin/rails server"
    commands = [ProjectCommand("run", run, path)]
    if "bin/setup" in paths:
        commands.append(ProjectCommand("install", "bin/setup", path))
    if "test/test_helper.rb" in paths:
        commands.append(ProjectCommand("test", "bin/rails test", path))
    return ManifestFacts(
        (manifest.make_technology("Ruby on Rails", "framework"),),
        tuple(commands),
        (manifest.make_entry_point("rails", path),),
    )
