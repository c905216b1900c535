"""What is found in C, C++ and C#."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "c",
        """
        #ifndef FOO_H
        #define FOO_H
        #include <stdio.h>
        #define LIMIT 10
        #  define SQUARE(x) ((x) * (x))
        #define EMPTY
        typedef struct foo { int a; } foo_t;
        typedef struct { int a; } anonymous_t;
        typedef enum { ONE } numbers;
        typedef int (*callback)(int, char *);
        typedef unsigned long number_t, *number_p;
        struct bar { int x; };
        struct forward;
        enum color { RED, GREEN };
        union either { int a; };
        #ifdef __cplusplus
        extern "C" {
        #endif
        FOO_API const char *foo_name(const struct foo *f);
        void foo_free(void);
        extern int foo_debug;
        #ifdef __cplusplus
        }
        #endif
        #endif
        """,
        """
        4 macro LIMIT | #define LIMIT
        5 macro SQUARE | #define SQUARE(x)
        7 struct foo | struct foo
        7 struct foo_t | struct foo_t
        8 struct anonymous_t | struct anonymous_t
        9 enum numbers | enum numbers
        10 type callback | typedef int (*callback)(int, char *)
        11 type number_t | typedef unsigned long number_t, *number_p
        11 type number_p | typedef unsigned long number_t, *number_p
        12 struct bar | struct bar
        14 enum color | enum color
        15 struct either | union either
        19 function foo_name | const char *foo_name(const struct foo *f)
        20 function foo_free | void foo_free(void)
        21 variable foo_debug | int foo_debug
        """,
        id="c: a header",
    ),
    pytest.param(
        "c",
        """
        #include "foo.h"
        int twice(int x);
        static inline int helper(const char *s, int n) { int local(void); return 0; }
        static const char *names[] = { "a" };
        const int LIMIT_OF = 3;
        int first = 1, second;
        char **lines(void) { return 0; }
        int twice(int x) /* doubles */
        {
            struct local { int x; };
            return x;
        }
        #if defined(X)
        int guarded(void) { return 1; }
        #else
        int otherwise(void) { return 1; }
        #endif
        __attribute__((noreturn)) void die(const char *fmt, ...) { }
        int main(int argc, char **argv) { }
        """,
        """
        3 -function helper | int helper(const char *s, int n)
        4 -variable names | const char *names[]
        5 constant LIMIT_OF | const int LIMIT_OF
        6 variable first | int first
        6 variable second | second
        7 function lines | char **lines(void)
        8 function twice | int twice(int x)
        14 function guarded | int guarded(void)
        16 function otherwise | int otherwise(void)
        18 function die | void die(const char *fmt, ...)
        19 function main | int main(int argc, char **argv)
        """,
        id="c: a source file",
    ),
    pytest.param(
        "cpp",
        """
        #pragma once
        namespace a { namespace b {
        class Foo final : public Base<int>, private Other {
          int field_;
          void own();
        public:
          Foo();
          explicit Foo(int x) : field_(x) {}
          ~Foo();
          virtual void run(int a = 1) const = 0;
          static Foo* make();
          template <typename T> T get(const T& x) { return x; }
          bool operator==(const Foo&) const;
          const std::string& name() const { return n; }
          enum class Kind { A };
          struct Nested { void m(); };
          using Alias = int;
          friend void somebody(Foo&);
        protected:
          void for_children();
        };
        }}
        namespace a::b {
        void Foo::own() {}
        Foo* a::Foo::make() { return 0; }
        Foo::~Foo() {}
        }
        """,
        """
        3 class Foo | class Foo final : public Base<int>, private Other
        10 method Foo.run | void run(int a = 1) const = 0
        12 method Foo.get | T get(const T& x)
        14 method Foo.name | const std::string& name() const
        15 enum Foo.Kind | enum class Kind
        16 struct Foo.Nested | struct Nested
        16 method Nested.m | void m()
        17 type Foo.Alias | using Alias = int
        20 -method Foo.for_children | void for_children()
        24 method Foo.own | void Foo::own()
        25 method Foo.make | Foo* a::Foo::make()
        """,
        id="cpp: a class, and what is defined out of line",
    ),
    pytest.param(
        "cpp",
        """
        template <class T, int N = 3>
        class Array : public Base<T> { public: void fill(); };
        template <class T> void Array<T>::fill() {}
        template <typename It>
        auto copy(It a, It b) -> decltype(a) { return a; }
        using Vec = std::vector<int>;
        typedef std::map<int, int> Map;
        enum class Color : int { Red };
        template <class T> concept Sized = requires(T t) { t.size(); };
        constexpr int kMax = 3;
        static int own;
        namespace { int anonymous() { return 1; } class Hidden {}; }
        extern "C" { void c_function(int); }
        [[nodiscard]] inline const std::string& text(int a) { return x; }
        struct S { void visible() {} private: void hidden(); };
        class FOO_API Exported { public: void e(); };
        FOO_API void api(std::string name);
        """,
        """
        2 class Array | class Array : public Base<T>
        3 method Array.fill | void Array<T>::fill()
        5 function copy | auto copy(It a, It b) -> decltype(a)
        6 type Vec | using Vec = std::vector<int>
        7 type Map | typedef std::map<int, int> Map
        8 enum Color | enum class Color : int
        9 type Sized | concept Sized
        10 constant kMax | int kMax
        11 -variable own | int own
        12 -function anonymous | int anonymous()
        12 -class Hidden | class Hidden
        13 function c_function | void c_function(int)
        14 function text | const std::string& text(int a)
        15 struct S | struct S
        15 method S.visible | void visible()
        15 -method S.hidden | void hidden()
        16 class Exported | class FOO_API Exported
        16 method Exported.e | void e()
        17 function api | void api(std::string name)
        """,
        id="cpp: templates, types, functions",
    ),
    pytest.param(
        "csharp",
        """
        using System;
        namespace A.B;

        /// <summary>Text</summary>
        [Obsolete("public")]
        public sealed partial class Foo<T> : Base, IBar where T : class
        {
            public const string Name = "x", Other = "y";
            private const int Own = 1;
            public static readonly Dictionary<string, int> Empty = new();
            private readonly int _field;
            public Foo(int a) : base(a) { }
            public string Prop { get; set; } = "";
            public int Arrow => 1;
            [Attr] public async Task<int> RunAsync([NotNull] string a, int b = 1)
            {
                int Local() => 1;
            }
            public static Foo<T> operator +(Foo<T> a, Foo<T> b) => a;
            void IBar.Explicit() { }
            protected virtual void ForChildren() { }
            public U Make<U>(U x) where U : new() => default;
            public enum Kind { A, B }
            public delegate void Changed(int x);
        }
        """,
        """
        6 class Foo | sealed class Foo<T> : Base, IBar where T : class
        8 constant Foo.Name | string Name
        8 constant Foo.Other | Other
        9 -constant Foo.Own | int Own
        10 constant Foo.Empty | Dictionary<string, int> Empty
        13 variable Foo.Prop | string Prop
        14 variable Foo.Arrow | int Arrow
        15 method Foo.RunAsync | async Task<int> RunAsync(string a, int b = 1)
        20 -method Foo.Explicit | void IBar.Explicit()
        21 -method Foo.ForChildren | void ForChildren()
        22 method Foo.Make | U Make<U>(U x) where U : new()
        23 enum Foo.Kind | enum Kind
        24 type Foo.Changed | delegate void Changed(int x)
        """,
        id="csharp: a file-scoped namespace",
    ),
    pytest.param(
        "csharp",
        """
        namespace A
        {
            public interface IBar { void Run(); string Name { get; } }
            public record Person(string Name, int Age);
            public readonly record struct Pt(int X);
            public struct S { public int X; }
            public static class Ext { public static int Len(this string s) => 1; }
            enum Internal { A }
            delegate int Fold(int x);
        }
        """,
        """
        3 interface IBar | interface IBar
        3 method IBar.Run | void Run()
        3 variable IBar.Name | string Name
        4 class Person | record Person(string Name, int Age)
        5 class Pt | record struct Pt(int X)
        6 struct S | struct S
        7 class Ext | static class Ext
        7 method Ext.Len | static int Len(this string s)
        8 -enum Internal | enum Internal
        9 -type Fold | delegate int Fold(int x)
        """,
        id="csharp: a namespace in braces",
    ),
]
