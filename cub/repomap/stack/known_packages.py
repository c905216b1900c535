"""Which of a manifest's dependencies have a name in the map.

Which packages are worth a name in the map: those of the table of known packages.

The packages that the map names: well-known frameworks, libraries and tools, as data.

A package that is not in this table is a dependency like hundreds of others, and is left out.

The libraries of C and C++ that the map names, whoever looks for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cub.repomap.stack.facts import Technology


def find_known_technologies(
    ecosystem: Ecosystem, packages: Iterable[tuple[str, str]], source: str
) -> tuple[Technology, ...]:
    """The technologies among packages with their versions, each once, in the given order."""
    found: dict[str, Technology] = {}
    for package, version in packages:
        named = find_known_technology(ecosystem, package, format_version(version), source)
        if named and not (named.name in found and found[named.name].version):
            found[named.name] = named
    return tuple(found.values())


def format_version(value: object) -> str:
    """A version as a text, whether it is written as a text or as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())


Ecosystem = Literal[
    "pypi", "npm", "crates", "go", "maven", "rubygems", "packagist", "nuget", "hex", "swift"
]
PackageRole = Literal["framework", "library", "build", "tool"]

# `package: Name`. Package names are in lower case. Of Maven, a group stands for its artifacts.
LISTED: dict[tuple[Ecosystem, PackageRole], str] = {
    ("pypi", "framework"): """
        django: Django, djangorestframework: Django REST framework, django-ninja: Django Ninja,
        flask: Flask, quart: Quart, fastapi: FastAPI, starlette: Starlette, litestar: Litestar,
        sanic: Sanic, tornado: Tornado, aiohttp: aiohttp, pyramid: Pyramid, falcon: Falcon,
        bottle: Bottle, streamlit: Streamlit, gradio: Gradio, dash: Dash, celery: Celery,
        scrapy: Scrapy, wagtail: Wagtail, apache-airflow: Airflow, dagster: Dagster,
        prefect: Prefect, langchain: LangChain, langgraph: LangGraph, twisted: Twisted,
        textual: Textual, kivy: Kivy, pyside6: PySide6, pygame: Pygame, mkdocs: MkDocs,
        sphinx: Sphinx
    """,
    ("pypi", "library"): """
        sqlalchemy: SQLAlchemy, sqlmodel: SQLModel, alembic: Alembic, pydantic: Pydantic,
        numpy: NumPy, pandas: pandas, polars: Polars, scipy: SciPy, scikit-learn: scikit-learn,
        torch: PyTorch, tensorflow: TensorFlow, jax: JAX, keras: Keras,
        transformers: Transformers, pytorch-lightning: Lightning, lightning: Lightning,
        opencv-python: OpenCV, matplotlib: Matplotlib, plotly: Plotly, pyspark: PySpark,
        dask: Dask, ray: Ray, click: Click, typer: Typer, rich: Rich, requests: Requests,
        httpx: HTTPX, trio: Trio, anyio: AnyIO, werkzeug: Werkzeug, jinja2: Jinja, attrs: attrs,
        grpcio: gRPC, boto3: boto3, openai: OpenAI SDK, anthropic: Anthropic SDK,
        llama-index: LlamaIndex, beautifulsoup4: Beautiful Soup, psycopg: psycopg,
        psycopg2: psycopg2, asyncpg: asyncpg, redis: Redis client, pymongo: PyMongo,
        peewee: Peewee, tortoise-orm: Tortoise ORM, strawberry-graphql: Strawberry,
        graphene: Graphene, marshmallow: marshmallow, tree-sitter: tree-sitter
    """,
    ("pypi", "tool"): """
        pytest: pytest, hypothesis: Hypothesis, tox: tox, nox: nox, ruff: Ruff, black: Black,
        isort: isort, flake8: Flake8, pylint: Pylint, mypy: mypy, pyright: Pyright,
        basedpyright: basedpyright, ty: ty, pyrefly: Pyrefly, pre-commit: pre-commit,
        behave: behave, invoke: Invoke, poethepoet: Poe the Poet, playwright: Playwright,
        selenium: Selenium, uvicorn: Uvicorn, gunicorn: Gunicorn, yapf: YAPF, bandit: Bandit,
        cython: Cython
    """,
    ("npm", "framework"): """
        react: React, react-native: React Native, expo: Expo, next: Next.js, remix: Remix,
        @remix-run/react: Remix, react-router: React Router, gatsby: Gatsby, preact: Preact,
        vue: Vue, nuxt: Nuxt, svelte: Svelte, @sveltejs/kit: SvelteKit, @angular/core: Angular,
        solid-js: Solid, @builder.io/qwik: Qwik, lit: Lit, astro: Astro, ember-source: Ember,
        alpinejs: Alpine.js, htmx.org: htmx, @tanstack/react-start: TanStack Start,
        express: Express, fastify: Fastify, koa: Koa, hono: Hono, @nestjs/core: NestJS,
        @hapi/hapi: hapi, electron: Electron, @tauri-apps/api: Tauri, @ionic/react: Ionic,
        @ionic/angular: Ionic, @docusaurus/core: Docusaurus, vitepress: VitePress,
        @11ty/eleventy: Eleventy, three: Three.js, phaser: Phaser, @trpc/server: tRPC,
        @apollo/server: Apollo Server, elysia: Elysia, langchain: LangChain,
        @langchain/core: LangChain
    """,
    ("npm", "library"): """
        redux: Redux, @reduxjs/toolkit: Redux Toolkit, zustand: Zustand, mobx: MobX,
        pinia: Pinia, vuex: Vuex, @tanstack/react-query: TanStack Query, rxjs: RxJS,
        prisma: Prisma, @prisma/client: Prisma, typeorm: TypeORM, drizzle-orm: Drizzle,
        sequelize: Sequelize, mongoose: Mongoose, knex: Knex, graphql: GraphQL,
        @apollo/client: Apollo Client, tailwindcss: Tailwind CSS, @mui/material: MUI,
        antd: Ant Design, bootstrap: Bootstrap, @chakra-ui/react: Chakra UI, d3: D3,
        chart.js: Chart.js, zod: Zod, axios: Axios, jquery: jQuery, socket.io: Socket.IO,
        openai: OpenAI SDK, @anthropic-ai/sdk: Anthropic SDK, ai: AI SDK, commander: Commander,
        yargs: yargs, ink: Ink, @supabase/supabase-js: Supabase, firebase: Firebase,
        pg: node-postgres, redis: Redis client, bullmq: BullMQ
    """,
    ("npm", "build"): """
        vite: Vite, webpack: webpack, rollup: Rollup, rolldown: Rolldown, esbuild: esbuild,
        parcel: Parcel, tsup: tsup, tsdown: tsdown, unbuild: unbuild, @swc/core: SWC,
        @babel/core: Babel, turbo: Turborepo, nx: Nx, lerna: Lerna, @rspack/core: Rspack,
        gulp: gulp, grunt: Grunt, electron-builder: electron-builder, @rsbuild/core: Rsbuild
    """,
    ("npm", "tool"): """
        vitest: Vitest, jest: Jest, mocha: Mocha, ava: AVA, jasmine: Jasmine, karma: Karma,
        tap: tap, cypress: Cypress, @playwright/test: Playwright, playwright: Playwright,
        playwright-chromium: Playwright, eslint: ESLint, oxlint: Oxlint, oxfmt: Oxfmt,
        prettier: Prettier, @biomejs/biome: Biome, stylelint: Stylelint, xo: XO,
        standard: Standard, storybook: Storybook, husky: Husky, lint-staged: lint-staged,
        puppeteer: Puppeteer, @changesets/cli: Changesets, knip: Knip, vue-tsc: vue-tsc,
        svelte-check: svelte-check, wrangler: Wrangler
    """,
    ("crates", "framework"): """
        axum: axum, actix-web: Actix Web, rocket: Rocket, warp: warp, poem: Poem, tower: Tower,
        leptos: Leptos, yew: Yew, dioxus: Dioxus, tauri: Tauri, bevy: Bevy, iced: iced,
        egui: egui, eframe: egui, slint: Slint, gtk4: GTK, ratatui: Ratatui,
        embassy-executor: Embassy, salvo: Salvo
    """,
    ("crates", "library"): """
        tokio: Tokio, async-std: async-std, smol: smol, hyper: hyper, reqwest: reqwest,
        serde: Serde, clap: clap, tonic: tonic, prost: Prost, diesel: Diesel, sqlx: SQLx,
        sea-orm: SeaORM, tracing: tracing, rayon: Rayon, wgpu: wgpu, winit: winit,
        crossterm: crossterm, pyo3: PyO3, napi: napi-rs, wasm-bindgen: wasm-bindgen,
        regex: regex, nom: nom, libp2p: libp2p, ndarray: ndarray, polars: Polars,
        candle-core: Candle, burn: Burn, tree-sitter: tree-sitter
    """,
    ("crates", "tool"): """
        criterion: Criterion, proptest: proptest, insta: insta, trybuild: trybuild
    """,
    ("go", "framework"): """
        github.com/gin-gonic/gin: Gin, github.com/labstack/echo: Echo,
        github.com/gofiber/fiber: Fiber, github.com/go-chi/chi: chi,
        github.com/gorilla/mux: gorilla/mux, github.com/go-kit/kit: Go kit,
        github.com/go-kratos/kratos: Kratos, github.com/zeromicro/go-zero: go-zero,
        github.com/danielgtaylor/huma: Huma, github.com/wailsapp/wails: Wails,
        fyne.io/fyne: Fyne, github.com/charmbracelet/bubbletea: Bubble Tea,
        sigs.k8s.io/controller-runtime: controller-runtime, connectrpc.com/connect: Connect
    """,
    ("go", "library"): """
        github.com/spf13/cobra: Cobra, github.com/spf13/viper: Viper,
        github.com/urfave/cli: urfave/cli, google.golang.org/grpc: gRPC, gorm.io/gorm: GORM,
        entgo.io/ent: ent, github.com/jmoiron/sqlx: sqlx, github.com/jackc/pgx: pgx,
        github.com/redis/go-redis: go-redis, k8s.io/client-go: Kubernetes client,
        go.uber.org/zap: zap, go.uber.org/fx: Fx, github.com/99designs/gqlgen: gqlgen,
        github.com/prometheus/client_golang: Prometheus client,
        go.opentelemetry.io/otel: OpenTelemetry, github.com/aws/aws-sdk-go-v2: AWS SDK,
        github.com/hashicorp/terraform-plugin-framework: Terraform plugin framework,
        github.com/alecthomas/kong: Kong, github.com/nats-io/nats.go: NATS
    """,
    ("go", "tool"): """
        github.com/stretchr/testify: Testify, github.com/onsi/ginkgo: Ginkgo,
        github.com/golang/mock: GoMock
    """,
    ("maven", "framework"): """
        org.springframework.boot: Spring Boot, org.springframework: Spring,
        org.springframework.cloud: Spring Cloud, io.quarkus: Quarkus, io.micronaut: Micronaut,
        io.dropwizard: Dropwizard, io.ktor: Ktor, io.vertx: Vert.x, io.helidon: Helidon,
        com.vaadin: Vaadin, io.javalin: Javalin, jakarta.platform: Jakarta EE,
        javax.servlet: Java Servlet, org.apache.struts: Struts, org.apache.spark: Apache Spark,
        org.apache.flink: Apache Flink, org.apache.beam: Apache Beam,
        org.apache.camel: Apache Camel, com.typesafe.play: Play, org.playframework: Play,
        com.typesafe.akka: Akka, org.apache.pekko: Pekko, dev.zio: ZIO,
        org.typelevel: Typelevel, org.http4s: http4s, org.openjfx: JavaFX,
        androidx.compose: Jetpack Compose, com.android.application: Android,
        com.android.library: Android, org.jetbrains.compose: Compose Multiplatform,
        net.fabricmc: Fabric, io.papermc.paper: Paper, dev.langchain4j: LangChain4j
    """,
    ("maven", "library"): """
        org.hibernate: Hibernate, org.hibernate.orm: Hibernate, org.mybatis: MyBatis,
        org.jooq: jOOQ, com.google.guava: Guava, com.fasterxml.jackson.core: Jackson,
        com.google.code.gson: Gson, io.netty: Netty, io.grpc: gRPC,
        org.apache.kafka: Kafka client, io.projectreactor: Reactor,
        io.reactivex.rxjava3: RxJava, com.squareup.okhttp3: OkHttp,
        com.squareup.retrofit2: Retrofit, com.google.dagger: Dagger, com.google.inject: Guice,
        org.projectlombok: Lombok, org.apache.lucene: Lucene, org.jetbrains.kotlinx: kotlinx,
        org.flywaydb: Flyway
    """,
    ("maven", "tool"): """
        org.junit.jupiter: JUnit 5, org.junit: JUnit, junit: JUnit 4, org.testng: TestNG,
        org.mockito: Mockito, org.assertj: AssertJ, io.kotest: Kotest,
        org.spockframework: Spock, org.scalatest: ScalaTest, org.scalameta: MUnit,
        org.testcontainers: Testcontainers, com.diffplug.spotless: Spotless,
        io.gitlab.arturbosch.detekt: detekt, org.jlleitschuh.gradle.ktlint: ktlint
    """,
    ("rubygems", "framework"): """
        rails: Ruby on Rails, sinatra: Sinatra, hanami: Hanami, roda: Roda, grape: Grape,
        jekyll: Jekyll, rack: Rack, hotwire-rails: Hotwire, turbo-rails: Hotwire,
        bridgetown: Bridgetown
    """,
    ("rubygems", "library"): """
        sidekiq: Sidekiq, devise: Devise, sequel: Sequel, activerecord: Active Record,
        puma: Puma, graphql: GraphQL Ruby, faraday: Faraday, thor: Thor, redis: Redis client,
        resque: Resque, solid_queue: Solid Queue, stimulus-rails: Stimulus
    """,
    ("rubygems", "tool"): """
        rspec: RSpec, rspec-rails: RSpec, minitest: minitest, rubocop: RuboCop,
        standard: Standard Ruby, sorbet: Sorbet, steep: Steep, capybara: Capybara,
        cucumber: Cucumber, brakeman: Brakeman, rake: Rake
    """,
    ("packagist", "framework"): """
        laravel/framework: Laravel, laravel/lumen-framework: Lumen,
        symfony/framework-bundle: Symfony, symfony/symfony: Symfony, slim/slim: Slim,
        cakephp/cakephp: CakePHP, yiisoft/yii2: Yii, codeigniter4/framework: CodeIgniter,
        laminas/laminas-mvc: Laminas, drupal/core-recommended: Drupal, drupal/core: Drupal,
        johnpbloch/wordpress: WordPress, roots/wordpress: WordPress,
        livewire/livewire: Livewire, filament/filament: Filament,
        api-platform/core: API Platform, magento/product-community-edition: Magento,
        hyperf/framework: Hyperf, craftcms/cms: Craft CMS, statamic/cms: Statamic,
        typo3/cms-core: TYPO3
    """,
    ("packagist", "library"): """
        doctrine/orm: Doctrine ORM, guzzlehttp/guzzle: Guzzle, twig/twig: Twig,
        monolog/monolog: Monolog, symfony/console: Symfony Console,
        illuminate/support: Illuminate, illuminate/database: Eloquent,
        inertiajs/inertia-laravel: Inertia
    """,
    ("packagist", "tool"): """
        phpunit/phpunit: PHPUnit, pestphp/pest: Pest, phpstan/phpstan: PHPStan,
        larastan/larastan: Larastan, vimeo/psalm: Psalm,
        friendsofphp/php-cs-fixer: PHP CS Fixer, squizlabs/php_codesniffer: PHP_CodeSniffer,
        laravel/pint: Pint, rector/rector: Rector, behat/behat: Behat,
        codeception/codeception: Codeception
    """,
    ("nuget", "framework"): """
        microsoft.aspnetcore.app: ASP.NET Core, microsoft.net.sdk.web: ASP.NET Core,
        microsoft.aspnetcore.components.webassembly: Blazor, microsoft.maui.controls: .NET MAUI,
        avalonia: Avalonia, orleans: Orleans, microsoft.orleans.server: Orleans, akka: Akka.NET,
        masstransit: MassTransit, giraffe: Giraffe, monogame.framework.desktopgl: MonoGame,
        uno.winui: Uno Platform, umbraco.cms: Umbraco,
        microsoft.semantickernel: Semantic Kernel, aspire.hosting.apphost: Aspire
    """,
    ("nuget", "library"): """
        microsoft.entityframeworkcore: Entity Framework Core, dapper: Dapper,
        newtonsoft.json: Json.NET, mediatr: MediatR, automapper: AutoMapper, serilog: Serilog,
        polly: Polly, grpc.aspnetcore: gRPC, fluentvalidation: FluentValidation,
        hangfire: Hangfire, system.commandline: System.CommandLine
    """,
    ("nuget", "tool"): """
        xunit: xUnit, xunit.v3: xUnit, nunit: NUnit, mstest: MSTest,
        mstest.testframework: MSTest, tunit: TUnit, moq: Moq, nsubstitute: NSubstitute,
        fluentassertions: FluentAssertions, benchmarkdotnet: BenchmarkDotNet
    """,
    ("hex", "framework"): """
        phoenix: Phoenix, phoenix_live_view: Phoenix LiveView, ash: Ash, nerves: Nerves,
        absinthe: Absinthe, plug: Plug, broadway: Broadway, lustre: Lustre, wisp: Wisp
    """,
    ("hex", "library"): """
        ecto: Ecto, ecto_sql: Ecto, oban: Oban, bandit: Bandit, cowboy: Cowboy, tesla: Tesla,
        nx: Nx
    """,
    ("hex", "tool"): """
        credo: Credo, dialyxir: Dialyxir, excoveralls: ExCoveralls
    """,
    ("swift", "framework"): """
        vapor: Vapor, hummingbird: Hummingbird,
        swift-composable-architecture: Composable Architecture, swift-nio: SwiftNIO,
        swift-argument-parser: Swift Argument Parser, fluent: Fluent
    """,
    ("swift", "library"): """
        alamofire: Alamofire, swift-syntax: SwiftSyntax, rxswift: RxSwift, grdb.swift: GRDB
    """,
    ("swift", "tool"): """
        quick: Quick, nimble: Nimble, swiftlint: SwiftLint, swift-testing: Swift Testing
    """,
}


_TABLES: dict[Ecosystem, dict[str, tuple[str, PackageRole]]] = {}
for (_ecosystem, _role), _listed in LISTED.items():
    for _entry in _listed.split(","):
        _package, _, _name = _entry.partition(": ")
        _TABLES.setdefault(_ecosystem, {})[_package.strip()] = (_name.strip(), _role)


def find_known_technology(
    ecosystem: Ecosystem, package: str, version: str, source: str, *roles: PackageRole
) -> Technology | None:
    """The technology that a package is; None for one that is not well known.

    With `roles`, None also for one that has another role.
    """
    known = _TABLES[ecosystem].get(package.lower())
    if known is None or (roles and known[1] not in roles):
        return None
    return Technology(known[0], known[1], version, source)


_KNOWN = {
    "boost": "Boost", "catch2": "Catch2", "cuda": "CUDA", "cudatoolkit": "CUDA",
    "doctest": "doctest", "eigen": "Eigen", "eigen3": "Eigen", "fmt": "fmt", "glfw3": "GLFW",
    "googletest": "GoogleTest", "grpc": "gRPC", "gtest": "GoogleTest", "gtk": "GTK",
    "gtk+-3.0": "GTK", "gtk4": "GTK", "opencv": "OpenCV", "openmp": "OpenMP",
    "protobuf": "Protobuf", "pybind11": "pybind11", "qt5": "Qt", "qt6": "Qt", "sdl2": "SDL",
    "sdl3": "SDL", "spdlog": "spdlog", "torch": "LibTorch", "vulkan": "Vulkan",
}  # fmt: skip


def libraries(needed: Iterable[tuple[str, str]], source: str) -> tuple[Technology, ...]:
    """The technologies among libraries with their versions, each once, in the given order."""
    found: dict[str, Technology] = {}
    for package, version in needed:
        name = _KNOWN.get(package.lower())
        if name and not (name in found and found[name].version):
            found[name] = Technology(name, "library", version, source)
    return tuple(found.values())
