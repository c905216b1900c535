"""What is found in Ruby, PHP, Bash and Lua."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "ruby",
        """
        require "x"
        module Sinatra
          VERSION = "1"
          class Base < Other
            include Helpers
            attr_accessor :app, :env
            LIMIT = [1].freeze
            def initialize(a, b = 1, *c, d: 2, **e, &f)
              @a = a
            end
            def call?(env) = env
            def self.build(app) # text
              def inner; end
            end
            class << self
              def meta; end
              private
              def own_meta; end
            end
            def name=(value); end
            def ==(other); end
            private def inline; end
            private
            def own
            end
            public
            def again!; end
            class Error < StandardError; end
          end
          def self.of_module; end
        end
        """,
        """
        2 module Sinatra | module Sinatra
        3 constant Sinatra.VERSION | VERSION
        4 class Sinatra.Base | class Base < Other
        6 variable Base.app | app
        6 variable Base.env | env
        7 constant Base.LIMIT | LIMIT
        8 -method Base.initialize | def initialize(a, b = 1, *c, d: 2, **e, &f)
        11 method Base.call? | def call?(env)
        12 method Base.build | def self.build(app)
        16 method Base.meta | def meta
        18 -method Base.own_meta | def own_meta
        20 method Base.name= | def name=(value)
        22 -method Base.inline | def inline
        24 -method Base.own | def own
        27 method Base.again! | def again!
        28 class Base.Error | class Error < StandardError
        30 method Sinatra.of_module | def self.of_module
        """,
        id="ruby: modules and classes",
    ),
    pytest.param(
        "ruby",
        """
        class A::B::C < D
          def m; end
        end
        module X::Y; end
        def top(a,
                b)
        end
        Klass = Class.new(StandardError)
        if true
          def guarded; end
        end
        describe "x" do
          def helper; end
        end
        """,
        """
        1 class C | class A::B::C < D
        2 method C.m | def m
        4 module Y | module X::Y
        5 function top | def top(a, b)
        8 constant Klass | Klass
        10 function guarded | def guarded
        """,
        id="ruby: the top level",
    ),
    pytest.param(
        "php",
        r"""
        <html><?php
        declare(strict_types=1);
        namespace A\B;
        use X\Y;

        /** Text */
        #[Attr(1)]
        final class Foo extends Bar implements Baz, Q
        {
            use SomeTrait;
            public const A = 1, B = 2;
            private const OWN = 1;
            protected ?string $p = null;
            public function __construct(private string $x, int $y = 1) {}
            #[Pure] public static function make(array $a = [], ?string ...$rest): static
            {
                function inner() {}
                return new class { function anonymous() {} };
            }
            abstract protected function forChildren(): void;
            function &reference(&$ref) {} // text
            private function own() {}
        }
        """,
        """
        8 class Foo | class Foo extends Bar implements Baz, Q
        11 constant Foo.A | A
        11 constant Foo.B | B
        12 -constant Foo.OWN | OWN
        14 -method Foo.__construct | function __construct(private string $x, int $y = 1)
        15 method Foo.make | static function make(array $a = [], ?string ...$rest): static
        20 -method Foo.forChildren | abstract function forChildren(): void
        21 method Foo.reference | function &reference(&$ref)
        22 -method Foo.own | function own()
        """,
        id="php: a class",
    ),
    pytest.param(
        "php",
        """
        <?php
        const TOP = 1;
        interface Shape extends X { public function area(string $x): int; const K = 1; }
        abstract class Base {}
        trait Named { public function name() {} }
        enum Suit: string { case A = 'a'; public function label(): string {} }
        function top(string $a, &...$b): ?int { return 1; }
        $var = 1;
        if (!function_exists('g')) { function g() {} }
        """,
        """
        2 constant TOP | TOP
        3 interface Shape | interface Shape extends X
        3 method Shape.area | function area(string $x): int
        3 constant Shape.K | K
        4 class Base | abstract class Base
        5 trait Named | trait Named
        5 method Named.name | function name()
        6 enum Suit | enum Suit: string
        6 method Suit.label | function label(): string
        7 function top | function top(string $a, &...$b): ?int
        9 function g | function g()
        """,
        id="php: everything else",
    ),
    pytest.param(
        "php",
        """
        <?php
        namespace C { class Within {} function also() {} }
        """,
        """
        2 class Within | class Within
        2 function also | function also()
        """,
        id="php: namespaces in braces",
    ),
    pytest.param(
        "bash",
        """
        #!/bin/bash
        NAME=1
        first() { inner() { :; }; }
        function second { :; }
        function third() ( : )
        if true; then guarded() { :; }; fi
        lib::name() { :; }
        with-dash () {
          case "$1" in
            a) ;;
            b) ;;
          esac
        }
        """,
        """
        3 function first | first()
        4 function second | second()
        5 function third | third()
        6 function guarded | guarded()
        7 function lib::name | lib::name()
        8 function with-dash | with-dash()
        """,
        id="bash: functions",
    ),
    pytest.param(
        "lua",
        """
        local M = {}
        local fs = require("fs")
        local own = { a = 1 }
        local Class = setmetatable({}, {})
        function M.first(a, b) local function inner() end end
        function M:method(a) end
        M.assigned = function(x) end
        M.sub = {}
        M.sub.deep = function() end
        local function helper(a, ...) end
        local lambda = function(a) end
        function global() end
        setting = 3
        if vim then function guarded() end end
        function Class.of_a_local() end
        return M
        """,
        """
        1 variable M | M
        3 -variable own | own
        4 -variable Class | Class
        5 method M.first | function M.first(a, b)
        6 method M.method | function M:method(a)
        7 method M.assigned | function M.assigned(x)
        9 method M.sub.deep | function M.sub.deep()
        10 -function helper | function helper(a, ...)
        11 -function lambda | function lambda(a)
        12 function global | function global()
        13 variable setting | setting
        14 function guarded | function guarded()
        15 -method Class.of_a_local | function Class.of_a_local()
        """,
        id="lua: a module",
    ),
    pytest.param(
        "lua",
        """
        local function shown() end
        local function own() end
        return { name = shown }
        """,
        """
        1 function shown | function shown()
        2 -function own | function own()
        """,
        id="lua: a table of names",
    ),
    pytest.param(
        "lua",
        """
        local M = {}
        function M.run() end
        local function walk() end
        M.go = walk
        M.lazy = later("way").find
        M.maker = make()
        M.known = 3
        local Step = {}
        function Step.new() end
        function Step:take() end
        return wrap(M)
        """,
        """
        2 function run | function M.run()
        3 function walk | function walk()
        5 variable lazy | lazy
        6 variable maker | maker
        8 -variable Step | Step
        9 -method Step.new | function Step.new()
        10 -method Step.take | function Step:take()
        """,
        id="lua: a wrapped module",
    ),
]
