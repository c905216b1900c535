from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a Phoenix application": (
        {
            "mix.exs": """
                defmodule MyShop.MixProject do
                  def project do
                    [
                      app: :my_shop,
                      elixir: "~> 1.16",
                      description: "A shop",
                      aliases: aliases(),
                    ]
                  end
                  def application do
                    [mod: {MyShop.HTTPServer, []}]
                  end
                  defp deps do
                    [
                      {:phoenix, "~> 1.7.12"},
                      # {:ash, "~> 3.0"},
                      {:oban, github: "x/y"},
                      {:credo, "~> 1.7", only: [:dev]},
                      {:dialyxir, "~> 1.4"}
                    ]
                  end
                  defp aliases do
                    [
                      setup: ["deps.get", "ecto.setup"],
                      "assets.build": ["tailwind"],
                      test: ["ecto.create --quiet", "test"]
                    ]
                  end
                end
            """,
            "lib/my_shop/http_server.ex": "",
        },
        """
        language Elixir ~> 1.16
        framework Phoenix ~> 1.7.12
        library Oban
        build Mix
        tool Credo ~> 1.7
        tool Dialyxir ~> 1.4
        install: mix setup
        install: mix deps.get
        build: mix compile
        test: mix test
        lint: mix credo
        lint: mix format --check-formatted
        format: mix format
        typecheck: mix dialyzer
        run: mix phx.server
        MyShop.HTTPServer -> lib/my_shop/http_server.ex
        package . my_shop: A shop
        """,
    ),
    "an umbrella": (
        {
            "mix.exs": 'apps_path: "apps"\n',
            "apps/one/mix.exs": "app: :one\nmod: {One, []}\n",
        },
        """
        language Elixir
        build Mix
        install: mix deps.get
        build: mix compile
        test: mix test
        lint: mix format --check-formatted
        format: mix format
        One -> One
        package apps/one one
        """,
    ),
    "Erlang": (
        {
            "rebar.config": """
                {minimum_otp_vsn, "25"}.
                %% {deps, [{plug, "1"}]}.
                {deps, [{cowboy, "2.12.0"}]}.
                {project_plugins, [erlfmt]}.
            """,
            "src/shop.app.src": "",
            "test/shop_SUITE.erl": "",
        },
        """
        language Erlang 25
        library Cowboy 2.12.0
        build rebar3
        build: rebar3 compile
        test: rebar3 eunit
        test: rebar3 ct
        format: rebar3 fmt
        package . shop
        """,
    ),
    "Gleam": (
        {"gleam.toml": 'name = "app"\ngleam = ">= 1.0.0"\n[dependencies]\nlustre = ">= 4.0.0"\n'},
        """
        language Gleam >= 1.0.0
        framework Lustre >= 4.0.0
        build: gleam build
        test: gleam test
        lint: gleam format --check
        format: gleam format
        package . app
        """,
    ),
}

test_elixir_erlang_and_gleam_are_read = make_test(CASES)
