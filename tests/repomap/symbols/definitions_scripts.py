"""What is found in JavaScript and TypeScript."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "javascript",
        """
        export function first(a, { b, c } = {}, ...rest) { function inner() {} }
        export async function* second() {}
        function third() {}
        function fourth() {}
        export class Store extends Base {
          static count = 1;
          #secret = 2;
          constructor(path) { super(); }
          get size() { return 0; }
          static async load(path) {}
          #hidden() {}
          arrow = async (a) => a;
          [computed]() {}
        }
        class Own { run() {} }
        export const LIMIT = 10, name = "x";
        const later = 1;
        let unshown;
        export { later as renamed };
        export default third;
        """,
        """
        1 function first | function first(a, { b, c } = {}, ...rest)
        2 function second | async function* second()
        3 function third | function third()
        4 -function fourth | function fourth()
        5 class Store | class Store extends Base
        8 -method Store.constructor | constructor(path)
        9 method Store.size | get size()
        10 method Store.load | static async load(path)
        11 -method Store.#hidden | #hidden()
        12 method Store.arrow | async arrow(a)
        15 -class Own | class Own
        15 -method Own.run | run()
        16 constant LIMIT | LIMIT
        16 variable name | name
        17 variable later | later
        18 -variable unshown | unshown
        """,
        id="javascript: what is exported, and what is not",
    ),
    pytest.param(
        "javascript",
        """
        export const arrow = async (a, b) => { const local = 1; };
        export const single = x => x;
        const plain = function own(a) {};
        var generator = function* () {};
        export const Klass = class Hidden extends Base { m() {} };
        const { a, b } = require("x");
        const express = require("express");
        const config = { method() {}, key: () => 1 };
        export default function () {}
        """,
        """
        1 function arrow | async function arrow(a, b)
        2 function single | function single(x)
        3 -function plain | function plain(a)
        4 -function generator | function* generator()
        5 class Klass | class Klass extends Base
        5 method Klass.m | m()
        8 -variable config | config
        """,
        id="javascript: functions by their value",
    ),
    pytest.param(
        "javascript",
        """
        var app = exports = module.exports = {};
        app.init = function init() {};
        exports.create = function (a, b) {};
        exports.json = json;
        exports.version = "1";
        module.exports.arrow = (x) => x;
        Foo.prototype.bar = async function (x) {};
        function json() {}
        function own() {}
        """,
        """
        1 variable app | app
        2 method app.init | init()
        3 function create | function create(a, b)
        5 variable version | version
        6 function arrow | function arrow(x)
        7 method Foo.bar | async bar(x)
        8 function json | function json()
        9 -function own | function own()
        """,
        id="javascript: CommonJS",
    ),
    pytest.param(
        "javascript",
        """
        module.exports = create;
        module.exports = {
          shown, other: renamed, method(a) {}, pair: function (b) {}, arrow: () => 1
        };
        function create() {}
        function shown() {}
        function renamed() {}
        function kept() {}
        """,
        """
        3 function method | method(a)
        3 function pair | function pair(b)
        3 function arrow | function arrow()
        5 function create | function create()
        6 function shown | function shown()
        7 function renamed | function renamed()
        8 -function kept | function kept()
        """,
        id="javascript: CommonJS exports a name, or an object",
    ),
    pytest.param(
        "javascript",
        """
        module.exports = class Router extends Base { route(path) {} };
        """,
        """
        1 class Router | class Router extends Base
        1 method Router.route | route(path)
        """,
        id="javascript: CommonJS exports an expression with a name",
    ),
    pytest.param(
        "javascript",
        """
        describe("x", () => {
          function helper() {}
          class Fake { run() {} }
        });
        (function () { function iife() {} })();
        """,
        "",
        id="javascript: local functions of a callback",
    ),
    pytest.param(
        "typescript",
        """
        import x from "y";

        /** Text. */
        @Component({ selector: "a" })
        export default class Foo<T> extends Bar<T> implements Baz {
          static readonly limit: number = 3;
          constructor(private x: string) { super(); }
          @log() public async run<U>(a: U, b = { x: 1 }): Promise<void> {}
          get size(): number { return 0; }
          private own() {}
          protected forChildren(): void {}
          overloaded(a: string): void;
          overloaded(a: any) {}
          handler = (event: Event): void => {};
        }
        export abstract class Shape {
          abstract area(): number;
        }
        export interface Options extends Base<string> {
          key: string;
          load(id: string): Promise<string>;
        }
        interface Own { m(): void }
        """,
        """
        5 class Foo | class Foo<T> extends Bar<T> implements Baz
        7 -method Foo.constructor | constructor(private x: string)
        8 method Foo.run | async run<U>(a: U, b = { x: 1 }): Promise<void>
        9 method Foo.size | get size(): number
        10 -method Foo.own | own()
        11 -method Foo.forChildren | forChildren(): void
        12 method Foo.overloaded | overloaded(a: string): void
        14 method Foo.handler | handler(event: Event): void
        16 class Shape | abstract class Shape
        17 method Shape.area | abstract area(): number
        19 interface Options | interface Options extends Base<string>
        21 method Options.load | load(id: string): Promise<string>
        23 -interface Own | interface Own
        23 -method Own.m | m(): void
        """,
        id="typescript: classes and interfaces",
    ),
    pytest.param(
        "typescript",
        """
        export type Id = string | number;
        export type Shape = { a: string };
        type Long =
          | "aaaaaaaaaaaaaaaaaaaaaaaa"
          | "bbbbbbbbbbbbbbbbbbbbbbbbbbb"
          | "cccccccccccccccccccc";
        export const enum Kind { A, B }
        export function over(a: string): string;
        export function over(a: any): any { return a; }
        export const arrow = async <T,>(a: T, done?: (e: Error) => void): Promise<T> => a;
        export const table: Map<string, () => void> = new Map();
        export let count: number;
        function check(this: Foo, x?: string): x is string { return true; }
        const later = 1;
        export { later as other };
        """,
        """
        1 type Id | type Id = string | number
        2 type Shape | type Shape
        3 -type Long | type Long
        7 enum Kind | enum Kind
        8 function over | function over(a: string): string
        10 function arrow | async function arrow<T,>(a: T, done?: (e: Error) => void): Promise<T>
        11 variable table | table: Map<string, () => void>
        12 variable count | count: number
        13 -function check | function check(this: Foo, x?: string): x is string
        14 variable later | later
        """,
        id="typescript: types, enums, functions, variables",
    ),
    pytest.param(
        "typescript",
        """
        export namespace Tools {
          export const limit = 1;
          export function run(): void {}
          function own() {}
        }
        declare module "pkg" {
          export function typed(a: string): void;
          export interface Shown {}
        }
        export declare function declared(a: string): void;
        declare const VERSION: string;
        """,
        """
        1 module Tools | namespace Tools
        2 variable limit | limit
        3 function run | function run(): void
        7 function typed | function typed(a: string): void
        8 interface Shown | interface Shown
        10 function declared | function declared(a: string): void
        11 -constant VERSION | VERSION: string
        """,
        id="typescript: namespaces and ambient declarations",
    ),
    pytest.param(
        "typescript",
        """
        function create(): void {}
        export = create;
        """,
        """
        1 function create | function create(): void
        """,
        id="typescript: an assigned export",
    ),
    pytest.param(
        "tsx",
        """
        interface Props { name: string }
        export function App({ name }: Props): JSX.Element {
          return <div className="a">{name}</div>;
        }
        export const Button: React.FC<Props> = ({ name }) => <button>{name}</button>;
        export default App;
        """,
        """
        1 -interface Props | interface Props
        2 function App | function App({ name }: Props): JSX.Element
        5 function Button | function Button({ name })
        """,
        id="tsx: components",
    ),
]
