"""What is found in Go, Rust and Swift."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "go",
        """
        package x

        // A Command is run.
        type Command struct {
            Name string
        }

        type (
            Runner interface {
                Run(ctx context.Context) error
                fmt.Stringer
                private()
            }
            Alias = string
            Hook  func(cmd *Command) error
            list[T any] struct{}
            Count int
        )
        """,
        """
        4 struct Command | type Command struct
        9 interface Runner | type Runner interface
        10 method Runner.Run | Run(ctx context.Context) error
        12 -method Runner.private | private()
        14 type Alias | type Alias = string
        15 type Hook | type Hook func(cmd *Command) error
        16 -struct list | type list[T any] struct
        17 type Count | type Count int
        """,
        id="go: types",
    ),
    pytest.param(
        "go",
        """
        package x

        func (c *Command) Execute(a, b int, o ...Option) (n int, e error) { return }
        func (c Command) name() string { return "" }
        func (l *List[T]) Push(v T) {}
        func (List[K, V]) Len() int { return 0 }
        func (s *hidden) Visible() {}
        func Map[K comparable, V any](m map[K]V) []K {
            var local int
            type inner struct{}
            return nil
        }
        func assembled(x int) int
        func main() {}
        """,
        """
        3 method Command.Execute | func (c *Command) Execute(a, b int, o ...Option) (n int, e error)
        4 -method Command.name | func (c Command) name() string
        5 method List.Push | func (l *List[T]) Push(v T)
        6 method List.Len | func (List[K, V]) Len() int
        7 -method hidden.Visible | func (s *hidden) Visible()
        8 function Map | func Map[K comparable, V any](m map[K]V) []K
        13 -function assembled | func assembled(x int) int
        14 -function main | func main()
        """,
        id="go: functions and methods",
    ),
    pytest.param(
        "go",
        """
        package x

        const Version = "1"
        const (
            A, B Kind = iota, 1
            C
        )

        var (
            ErrNotFound = errors.New("not found")
            x, y        int
            table       = []struct{ name string }{{"a"}}
        )
        var _ Runner = (*Command)(nil)
        """,
        """
        3 constant Version | Version
        5 constant A | A
        5 constant B | B
        6 constant C | C
        10 variable ErrNotFound | ErrNotFound
        11 -variable x | x
        11 -variable y | y
        12 -variable table | table
        """,
        id="go: constants and variables",
    ),
    pytest.param(
        "rust",
        """
        #![allow(dead_code)]
        /// Text.
        #[derive(Debug, Clone)]
        pub struct Foo<T: Clone>
        where
            T: Copy,
        {
            pub field: T,
        }
        pub struct Unit;
        pub(crate) struct Tuple(pub u8, u8);
        pub enum Kind { A, B(u8) }
        pub union Bits { a: u8 }
        enum Private {}
        pub type Result<T> = std::result::Result<T, Error>;
        pub trait Matcher: Sized {
            const LIMIT: usize;
            type Error;
            fn find(&self, at: usize) -> Option<Match>;
            fn count(&self) -> usize { fn inner() {} 0 }
        }
        """,
        """
        4 struct Foo | struct Foo<T: Clone> where T: Copy
        10 struct Unit | struct Unit
        11 -struct Tuple | struct Tuple
        12 enum Kind | enum Kind
        13 struct Bits | union Bits
        14 -enum Private | enum Private
        15 type Result | type Result<T> = std::result::Result<T, Error>
        16 trait Matcher | trait Matcher: Sized
        17 constant Matcher.LIMIT | LIMIT: usize
        19 method Matcher.find | fn find(&self, at: usize) -> Option<Match>
        20 method Matcher.count | fn count(&self) -> usize
        """,
        id="rust: types",
    ),
    pytest.param(
        "rust",
        """
        pub struct Foo;
        struct Own;
        impl Foo {
            pub const SIZE: usize = 1;
            pub fn new(path: impl AsRef<Path>) -> Self { Foo }
            fn helper(&mut self) {}
            pub(super) fn near() {}
        }
        impl<'a, T: 'a> fmt::Display for Foo<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'a>) -> fmt::Result { Ok(()) }
        }
        impl Own { pub fn hidden_with_its_type(&self) {} }
        impl Tr for &'a mut Foo { fn by_reference(&self) {} }
        impl Tr for other::Bar<u8> { fn elsewhere(&self) {} }
        impl Tr for [u8] { fn of_a_slice(&self) {} }
        """,
        """
        1 struct Foo | struct Foo
        2 -struct Own | struct Own
        4 constant Foo.SIZE | SIZE: usize
        5 method Foo.new | fn new(path: impl AsRef<Path>) -> Self
        6 -method Foo.helper | fn helper(&mut self)
        7 -method Foo.near | fn near()
        10 -method Foo.fmt | fn fmt(&self, f: &mut fmt::Formatter<'a>) -> fmt::Result
        12 -method Own.hidden_with_its_type | fn hidden_with_its_type(&self)
        13 -method Foo.by_reference | fn by_reference(&self)
        14 -method Bar.elsewhere | fn elsewhere(&self)
        """,
        id="rust: what an impl holds belongs to its type",
    ),
    pytest.param(
        "rust",
        """
        pub async unsafe extern "C" fn run<'a>(name: &'a str, c: char /* ',' */) -> impl Future { }
        pub const NAME: &'static str = "x";
        static mut COUNT: u8 = 1;
        macro_rules! own { () => {} }
        #[macro_export]
        #[doc(hidden)]
        macro_rules! shared { ($a:expr) => { $a } }
        mod elsewhere;
        pub mod inline {
            pub fn within() {}
            pub mod deeper { pub struct Deep; }
        }
        #[cfg(test)]
        mod tests {
            #[test]
            fn it_works() {}
        }
        extern "C" { pub fn foreign(x: u8); }
        """,
        """
        1 function run | async unsafe extern "C" fn run<'a>(name: &'a str, c: char) -> impl Future
        2 constant NAME | NAME: &'static str
        3 -variable COUNT | COUNT: u8
        4 -macro own | macro_rules! own
        7 macro shared | macro_rules! shared
        9 module inline | mod inline
        10 function within | fn within()
        11 module deeper | mod deeper
        11 struct Deep | struct Deep
        18 function foreign | fn foreign(x: u8)
        """,
        id="rust: functions, constants, macros and modules",
    ),
    pytest.param(
        "rust",
        """
        #[cfg(test)]
        use std::fs;
        pub struct Oven {
            #[cfg(test)]
            probes: u8,
        }
        impl Oven {
            pub fn heat(&self) {}
            #[cfg(test)]
            pub fn probe(&self) {}
            pub fn cool(&self) {}
        }
        #[test]
        fn heats() {}
        #[tokio::test(flavor = "multi_thread")]
        async fn heats_slowly() {}
        #[rstest]
        #[case(1)]
        /// Heats in any case.
        #[ignore = "it is slow"] // for now
        fn heats_so(#[case] n: u8) {}
        #[bench]
        fn heats_fast(b: &mut Bencher) {}
        #[test_case(1 ; "one")]
        fn heats_all(n: u8) {}
        #[cfg(all(unix, test))]
        mod probing {
            pub fn probe() {}
            pub struct Probe;
        }
        #[cfg(test)] mod beside { pub fn probe() {} }
        #[cfg(test)]
        impl Oven { pub fn inspect(&self) {} }
        #[cfg(test)]
        pub const PROBES: u8 = 1;
        #[cfg(test)]
        mod elsewhere;
        pub fn bake() {}
        #[cfg(not(test))]
        pub fn serve() {}
        #[cfg(any(test, feature = "probes"))]
        pub fn offer() {}
        #[cfg_attr(test, derive(Debug))]
        pub struct Tin;
        #[cfg(all(not(test), unix))]
        pub fn test() {}
        """,
        """
        3 struct Oven | struct Oven
        8 method Oven.heat | fn heat(&self)
        11 method Oven.cool | fn cool(&self)
        38 function bake | fn bake()
        40 function serve | fn serve()
        42 function offer | fn offer()
        44 struct Tin | struct Tin
        46 function test | fn test()
        """,
        id="rust: tests",
    ),
    pytest.param(
        "swift",
        """
        import Foundation

        /// Text
        @available(iOS 13, *)
        public final class Session<T: X>: Base, Proto where T: Y {
          public static let shared = Session()
          private(set) var count: Int = 1
          var computed: String { return "" }
          public init(a: Int) { super.init() }
          deinit { }
          @objc open func run(_ x: Int, for name: String = "a") async throws -> String {
            func local() {}
            return ""
          }
          class func make() {}
          private func own() {}
          struct Nested { func deep() {} }
          enum Kind { case a, b(Int) }
          static func == (l: Session, r: Session) -> Bool { true }
        }
        extension Session: CustomStringConvertible {
          func added() {}
        }
        extension Session.Nested { func further() {} }
        public protocol Proto: AnyObject {
          func m(x: Int) -> Int
          var p: Int { get }
        }
        struct Point { mutating func move() {} }
        public enum Direction: String {
          case north
          func of() {}
        }
        actor Worker { func go() async {} }
        """,
        """
        5 class Session | class Session<T: X>: Base, Proto where T: Y
        6 variable Session.shared | shared
        7 variable Session.count | count: Int
        8 variable Session.computed | computed: String
        11 method Session.run | func run(_ x: Int, for name: String = "a") async throws -> String
        15 method Session.make | class func make()
        16 -method Session.own | func own()
        17 struct Session.Nested | struct Nested
        17 method Nested.deep | func deep()
        18 enum Session.Kind | enum Kind
        22 method Session.added | func added()
        24 method Nested.further | func further()
        25 interface Proto | protocol Proto: AnyObject
        26 method Proto.m | func m(x: Int) -> Int
        27 variable Proto.p | p: Int
        29 struct Point | struct Point
        29 method Point.move | mutating func move()
        30 enum Direction | enum Direction: String
        32 method Direction.of | func of()
        34 class Worker | actor Worker
        34 method Worker.go | func go() async
        """,
        id="swift: types and members",
    ),
    pytest.param(
        "swift",
        """
        public let limit: Int = 1
        var count = 2
        private let own = 3
        func free<T>(_ a: T) -> T { a }
        fileprivate func ownFunction() {}
        typealias Name = String
        #if os(iOS)
        func guarded() {}
        #endif
        """,
        """
        1 variable limit | limit: Int
        2 variable count | count
        3 -variable own | own
        4 function free | func free<T>(_ a: T) -> T
        5 -function ownFunction | func ownFunction()
        6 type Name | typealias Name = String
        8 function guarded | func guarded()
        """,
        id="swift: the top level",
    ),
]
