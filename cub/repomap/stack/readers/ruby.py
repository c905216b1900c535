"""Ruby: Gemfile and gemspecs, line by line.

What stands beside a Gemfile: Rakefile, Rails, the version of Ruby, and the files of tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import detect_name_purpose, rank_target_name
from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import iter_code_lines
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import find_beside, resolve_manifest_path

_GEM = re.compile(r"""gem[ \t(]++["']([\w.-]++)["'](?:,[ \t]*+["']([^"']++)["'])?""")
_RUBY = re.compile(r"""ruby[ \t(]++["']([^"']++)["']""")
_SPEC = re.compile(r"""\w++\.(name|summary|description)[ \t]*+=[ \t]*+["']([^"'#]++)["']""")
_NEEDS_RUBY = re.compile(r"""\w++\.required_ruby_version[ \t]*+=[^"']{0,40}["']([^"']++)["']""")
_NEEDS = re.compile(
    r"""\w++\.add_(?:runtime_|development_)?dependency[ \t(]++["']([\w.-]++)["']"""
    r"""(?:,[ \t]*+["']([^"']++)["'])?"""
)


def _gemfile(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(manifest.text))
    source, folder = manifest.path, manifest.folder
    gems = [found.groups("") for line in lines if (found := _GEM.match(line))]
    ruby = [found[1] for line in lines if (found := _RUBY.match(line))]
    return ManifestFacts(
        technologies=(
            Technology("Ruby", "language", "".join(ruby[:1]), source),
            Technology("Bundler", "manager", "", source),
            *find_known_technologies(
                "rubygems", ((name, version) for name, version in gems), source
            ),
        ),
        commands=(
            ProjectCommand("install", "bundle install", source, folder),
            *_test_commands(manifest, {name for name, _ in gems}),
        ),
    )


def _test_commands(manifest: Manifest, gems: set[str]) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    if any(name.startswith("rspec") for name in gems):
        yield ProjectCommand("test", "bundle exec rspec", source, folder)
    elif "rails" in gems and find_beside(manifest, "bin/rails"):
        yield ProjectCommand("test", "bin/rails test", source, folder)
    if "rubocop" in gems or any(name.startswith("rubocop-") for name in gems):
        yield ProjectCommand("lint", "bundle exec rubocop", source, folder)
    if "standard" in gems:
        yield ProjectCommand("lint", "bundle exec standardrb", source, folder)
    if "sorbet" in gems:
        yield ProjectCommand("typecheck", "bundle exec srb tc", source, folder)


def _gemspec(manifest: Manifest) -> ManifestFacts:
    lines = list(iter_code_lines(manifest.text))
    said = [(found[1], found[2]) for line in lines if (found := _SPEC.match(line))]
    facts = dict(reversed(said))
    ruby = [found[1] for line in lines if (found := _NEEDS_RUBY.match(line))]
    needs = [found.groups("") for line in lines if (found := _NEEDS.match(line))]
    name = facts.get("name") or manifest.path.rpartition("/")[2].removesuffix(".gemspec")
    words = facts.get("summary") or facts.get("description", "")
    return ManifestFacts(
        technologies=(
            Technology("Ruby", "language", "".join(ruby[:1]), manifest.path),
            *find_known_technologies(
                "rubygems", ((gem, version) for gem, version in needs), manifest.path
            ),
        ),
        entry_points=tuple(_faces(manifest, name)),
        packages=(ProjectPackage(manifest.folder, name, words, manifest.path),),
    )


def _faces(manifest: Manifest, name: str) -> Iterator[EntryPoint]:
    """The file that `require` loads, and the program of the same name."""
    program = find_beside(manifest, f"exe/{name}", f"bin/{name}")
    library = find_beside(manifest, f"lib/{name}.rb", f"lib/{name.replace('-', '/')}.rb")
    for path in filter(None, (program, library)):
        yield EntryPoint(name, resolve_manifest_path(manifest, path), manifest.path)


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("Gemfile", "gems.rb"), _gemfile),
    ManifestReader(("*.gemspec",), _gemspec),
)


_TASK = re.compile(r"""task[ \t(]++:?["']?([\w:-]++)""")
_NAMESPACE = re.compile(r"""namespace[ \t(]++:?["']?([\w-]++)""")
_MADE = (  # tasks that libraries define
    (re.compile(r"RSpec::Core::RakeTask\.new"), "spec"),
    (re.compile(r"(?:Rake::TestTask|Minitest::TestTask)\.(?:new|create)"), "test"),
    (re.compile(r"RuboCop::RakeTask\.new"), "rubocop"),
    (re.compile(r"Bundler::GemHelper\.install_tasks|require ['\"]bundler/gem_tasks"), "build"),
)
_MADE_NAME = re.compile(r"""\.(?:new|create)[ \t(]*+[:"']([\w:-]++)""")


def _rakefile(manifest: Manifest) -> ManifestFacts:
    """The tasks by what they are for; in a gem, `install` installs the gem itself."""
    names = sorted(set(_tasks(manifest.text)), key=lambda name: (rank_target_name(name), name))
    rake = "bundle exec rake" if find_beside(manifest, "Gemfile") else "rake"
    return ManifestFacts(
        technologies=(Technology("Rake", "tool", "", manifest.path),),
        commands=tuple(
            ProjectCommand(purpose, f"{rake} {name}", manifest.path, manifest.folder, "target")
            for name in names
            if (purpose := detect_name_purpose(name)) and not name.startswith("install")
        ),
    )


def _tasks(text: str) -> Iterator[str]:
    """The names of the tasks, in their namespaces as the indents show them."""
    spaces: list[tuple[int, str]] = []
    for line in text.split("\n"):
        code = line[:500].lstrip()
        depth = len(line[:500]) - len(code)
        spaces = [space for space in spaces if space[0] < depth] if code else spaces
        if (space := _NAMESPACE.match(code)) and len(spaces) < 8:
            spaces.append((depth, space[1]))
        elif task := _TASK.match(code):
            yield ":".join([*(name for _, name in spaces), task[1].rstrip(":")])
        for pattern, usual in _MADE:
            if pattern.match(code):
                named = _MADE_NAME.search(code)
                yield named[1] if named else usual


def _ruby_version(manifest: Manifest) -> ManifestFacts:
    version = manifest.text.strip().removeprefix("ruby-")
    if not re.fullmatch(r"[\w.-]{1,40}", version):
        raise ValueError("this is not the name of one Ruby version")
    return ManifestFacts(technologies=(Technology("Ruby", "language", version, manifest.path),))


def _rubocop(manifest: Manifest) -> ManifestFacts:
    program = "bin/rubocop" if find_beside(manifest, "bin/rubocop") else "bundle exec rubocop"
    return ManifestFacts(
        technologies=(Technology("RuboCop", "tool", "", manifest.path),),
        commands=(
            ProjectCommand("lint", program, manifest.path, manifest.folder),
            ProjectCommand("format", f"{program} -a", manifest.path, manifest.folder),
        ),
    )


def _rspec(manifest: Manifest) -> ManifestFacts:
    program = "bin/rspec" if find_beside(manifest, "bin/rspec") else "bundle exec rspec"
    return ManifestFacts(
        technologies=(Technology("RSpec", "tool", "", manifest.path),),
        commands=(ProjectCommand("test", program, manifest.path, manifest.folder),),
    )


def _rails(manifest: Manifest) -> ManifestFacts:
    """`config/application.rb` is what makes a folder a Rails application."""
    if "Rails::Application" not in manifest.text:
        return ManifestFacts()
    source = manifest.path
    tests = "test/test_helper.rb" in manifest.paths
    found = [ProjectCommand("test", "bin/rails test", source)] if tests else []
    dev = "bin/dev" if "bin/dev" in manifest.paths else "bin/rails server"
    setup = (
        [ProjectCommand("install", "bin/setup", source)] if "bin/setup" in manifest.paths else []
    )
    return ManifestFacts(
        technologies=(Technology("Ruby on Rails", "framework", "", source),),
        commands=(*setup, *found, ProjectCommand("run", dev, source)),
        entry_points=(EntryPoint("rails", "config/application.rb", source),),
    )


RUBY_TOOLS_READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("Rakefile", "Rakefile.rb", "rakefile"), _rakefile),
    ManifestReader((".ruby-version",), _ruby_version),
    ManifestReader((".rubocop.yml",), _rubocop),
    ManifestReader((".rspec",), _rspec),
    ManifestReader(("config/application.rb",), _rails),
)
