"""What stands beside a Gemfile: Rakefile, Rails, the version of Ruby, and the files of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.around import beside
from cub.repomap.stack.commands.purposes import purpose_of_name, rank_of_name
from cub.repomap.stack.facts import Command, EntryPoint, Facts, Manifest, Reader, Technology

_TASK = re.compile(r"""task[ \t(]++:?["']?([\w:-]++)""")
_NAMESPACE = re.compile(r"""namespace[ \t(]++:?["']?([\w-]++)""")
_MADE = (  # tasks that libraries define
    (re.compile(r"RSpec::Core::RakeTask\.new"), "spec"),
    (re.compile(r"(?:Rake::TestTask|Minitest::TestTask)\.(?:new|create)"), "test"),
    (re.compile(r"RuboCop::RakeTask\.new"), "rubocop"),
    (re.compile(r"Bundler::GemHelper\.install_tasks|require ['\"]bundler/gem_tasks"), "build"),
)
_MADE_NAME = re.compile(r"""\.(?:new|create)[ \t(]*+[:"']([\w:-]++)""")


def _rakefile(manifest: Manifest) -> Facts:
    """The tasks by what they are for; in a gem, `install` installs the gem itself."""
    names = sorted(set(_tasks(manifest.text)), key=lambda name: (rank_of_name(name), name))
    rake = "bundle exec rake" if beside(manifest, "Gemfile") else "rake"
    return Facts(
        technologies=(Technology("Rake", "tool", "", manifest.path),),
        commands=tuple(
            Command(purpose, f"{rake} {name}", manifest.path, manifest.folder, "target")
            for name in names
            if (purpose := purpose_of_name(name)) and not name.startswith("install")
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


def _ruby_version(manifest: Manifest) -> Facts:
    version = manifest.text.strip().removeprefix("ruby-")
    if not re.fullmatch(r"[\w.-]{1,40}", version):
        raise ValueError("this is not the name of one Ruby version")
    return Facts(technologies=(Technology("Ruby", "language", version, manifest.path),))


def _rubocop(manifest: Manifest) -> Facts:
    program = "bin/rubocop" if beside(manifest, "bin/rubocop") else "bundle exec rubocop"
    return Facts(
        technologies=(Technology("RuboCop", "tool", "", manifest.path),),
        commands=(
            Command("lint", program, manifest.path, manifest.folder),
            Command("format", f"{program} -a", manifest.path, manifest.folder),
        ),
    )


def _rspec(manifest: Manifest) -> Facts:
    program = "bin/rspec" if beside(manifest, "bin/rspec") else "bundle exec rspec"
    return Facts(
        technologies=(Technology("RSpec", "tool", "", manifest.path),),
        commands=(Command("test", program, manifest.path, manifest.folder),),
    )


def _rails(manifest: Manifest) -> Facts:
    """`config/application.rb` is what makes a folder a Rails application."""
    if "Rails::Application" not in manifest.text:
        return Facts()
    source = manifest.path
    tests = "test/test_helper.rb" in manifest.paths
    found = [Command("test", "bin/rails test", source)] if tests else []
    dev = "bin/dev" if "bin/dev" in manifest.paths else "bin/rails server"
    setup = [Command("install", "bin/setup", source)] if "bin/setup" in manifest.paths else []
    return Facts(
        technologies=(Technology("Ruby on Rails", "framework", "", source),),
        commands=(*setup, *found, Command("run", dev, source)),
        entry_points=(EntryPoint("rails", "config/application.rb", source),),
    )


READERS: tuple[Reader, ...] = (
    Reader(("Rakefile", "Rakefile.rb", "rakefile"), _rakefile),
    Reader((".ruby-version",), _ruby_version),
    Reader((".rubocop.yml",), _rubocop),
    Reader((".rspec",), _rspec),
    Reader(("config/application.rb",), _rails),
)
