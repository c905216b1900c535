from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a Rails application": (
        {
            "Gemfile": """
                source "https://rubygems.org"
                ruby "3.3.1"
                gem "rails", "~> 7.1.3"
                gem 'sidekiq'
                # gem "sinatra"
                group :development do
                  gem "rubocop-rails", require: false
                end
            """,
            ".ruby-version": "ruby-3.3.2\n",
            "bin/rails": "",
            "bin/dev": "",
            "bin/setup": "",
            "bin/rubocop": "",
            ".rubocop.yml": "",
            "config/application.rb": "class Application < Rails::Application\n",
            "test/test_helper.rb": "",
        },
        """
        language Ruby 3.3.1
        framework Ruby on Rails ~> 7.1.3
        library Sidekiq
        manager Bundler
        tool RuboCop
        install: bundle install
        install: bin/setup
        test: bin/rails test
        lint: bundle exec rubocop
        lint: bin/rubocop
        format: bin/rubocop -a
        run: bin/dev
        rails -> config/application.rb
        """,
    ),
    "a gem": (
        {
            "shop.gemspec": """
                Gem::Specification.new do |spec|
                  spec.name = "shop-core"
                  spec.summary = "A shop."
                  spec.description = "Much more."
                  spec.required_ruby_version = Gem::Requirement.new(">= 3.0")
                  spec.add_dependency "thor", "~> 1.3"
                  spec.add_development_dependency("minitest")
                end
            """,
            "exe/shop-core": "",
            "lib/shop/core.rb": "",
        },
        """
        language Ruby >= 3.0
        library Thor ~> 1.3
        tool minitest
        shop-core -> exe/shop-core
        shop-core -> lib/shop/core.rb
        package . shop-core: A shop.
        """,
    ),
    "a Rakefile": (
        {
            "Gemfile": 'gem "standard"\ngem "sorbet"\n',
            "Rakefile": """
                require "bundler/gem_tasks"
                RSpec::Core::RakeTask.new(:spec)
                Rake::TestTask.new do |t|
                  t.pattern = "x"
                end
                task default: %i[spec]
                namespace :assets do
                  desc "Compile"
                  task :compile do
                  end
                end
                task "lint" => [:x]
                task :install
                task = 3
            """,
        },
        """
        language Ruby
        manager Bundler
        tool Standard Ruby
        tool Sorbet
        tool Rake
        install: bundle install
        build: bundle exec rake build
        build: bundle exec rake assets:compile
        test: bundle exec rake test
        test: bundle exec rake spec
        lint: bundle exec rake lint
        lint: bundle exec standardrb
        typecheck: bundle exec srb tc
        """,
    ),
    "RSpec": (
        {"Gemfile": 'gem "rspec"\n', ".rspec": "--color\n"},
        """
        language Ruby
        manager Bundler
        tool RSpec
        install: bundle install
        test: bundle exec rspec
        """,
    ),
    "not one version": (
        {".ruby-version": "3.3 or so\n"},
        "note .ruby-version: this is not the name of one Ruby version",
    ),
    "another application.rb": ({"config/application.rb": "class A\nend\n"}, ""),
}

test_gems_and_tasks_are_read = make_test(CASES)
