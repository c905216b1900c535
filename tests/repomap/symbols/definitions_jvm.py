"""What is found in Java, Kotlin and Scala."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "java",
        """
        package x.y;

        import a.b;

        /** Text. */
        @Ann(value = "public", more = {1, 2})
        public final class Gson<T extends A> extends Base<T> implements One, Two {
          public static final String VERSION = "1", OTHER = "2";
          private static final Map<String, Integer> OWN = new HashMap<>();
          private int field;

          public Gson() {}

          @Override
          @Named("a)b")
          public synchronized <U> U read(String json /* text */, Class<U> type) throws X {
            class Local { void lost() {} }
            return null;
          }

          abstract int[] packagePrivate();
          protected static void forChildren() {}

          public static class Builder {
            public Builder set(int value) { return this; }
          }

          Runnable task = new Runnable() {
            public void run() {}
          };

          static { int x = 1; }
        }
        """,
        """
        7 class Gson | class Gson<T extends A> extends Base<T> implements One, Two
        8 constant Gson.VERSION | String VERSION
        8 constant Gson.OTHER | OTHER
        9 -constant Gson.OWN | Map<String, Integer> OWN
        16 method Gson.read | <U> U read(String json, Class<U> type) throws X
        21 -method Gson.packagePrivate | abstract int[] packagePrivate()
        22 -method Gson.forChildren | static void forChildren()
        24 class Gson.Builder | static class Builder
        25 method Builder.set | Builder set(int value)
        """,
        id="java: types and members",
    ),
    pytest.param(
        "java",
        """
        public interface Reader extends Closeable {
          int LIMIT = 1;
          int read(char[] into) throws IOException;
          default void skip() {}
          private void own() {}
        }
        public enum Kind implements Named {
          A, B { public void lost() {} };
          public void of() {}
        }
        public record Point(int x, int y) implements Named {
          public Point {}
          public static Point zero() { return null; }
        }
        public @interface Ann {
          String value() default "";
        }
        sealed interface Shape permits Circle {}
        """,
        """
        1 interface Reader | interface Reader extends Closeable
        2 constant Reader.LIMIT | int LIMIT
        3 method Reader.read | int read(char[] into) throws IOException
        4 method Reader.skip | void skip()
        5 -method Reader.own | void own()
        7 enum Kind | enum Kind implements Named
        9 method Kind.of | void of()
        11 class Point | record Point(int x, int y) implements Named
        13 method Point.zero | static Point zero()
        15 interface Ann | @interface Ann
        16 method Ann.value | String value() default ""
        18 -interface Shape | sealed interface Shape permits Circle
        """,
        id="java: interfaces, enums, records, annotations",
    ),
    pytest.param(
        "kotlin",
        """
        @file:JvmName("X")
        package a.b

        import c.d

        const val LIMIT = 1
        val text: String get() = "x"
        var count = 1
        private val own = 2
        typealias Callback = (Int) -> Unit
        suspend inline fun <reified T> String.parse(a: T, f: (T) -> Unit = {}): List<T> {
          fun local() {}
        }
        internal fun expression(a: Int) = a + 1
        fun `with blanks`() {}
        val anonymous = object : Runnable {
          override fun run() {}
        }
        """,
        """
        6 constant LIMIT | LIMIT
        7 variable text | text: String
        8 variable count | count
        9 -variable own | own
        10 type Callback | typealias Callback = (Int) -> Unit
        11 function parse | suspend fun <reified T> String.parse(a: T, f: (T) -> Unit = {}): List<T>
        14 function expression | fun expression(a: Int)
        16 variable anonymous | anonymous
        """,
        id="kotlin: the top level",
    ),
    pytest.param(
        "kotlin",
        """
        /** Text */
        @Ann("public")
        public open class Foo<T : Any>(val a: Int = 1, private val b: T) : Base(a), Named by b {
          init {
            fun lost() {}
          }
          constructor(x: String) : this(1)
          override fun run(x: Int, block: () -> Unit): String {
            return ""
          }
          private fun own() {}
          protected fun forChildren() {}
          val size: Int get() = 1
          companion object {
            const val C = 1
            @JvmStatic fun make(): Foo = Foo()
          }
          class Nested {
            fun deep() {}
          }
        }

        object Single : Named {
          fun only() {}
        }

        interface Named {
          fun name(): String
          val length: Int
        }

        data class Point(val x: Int)

        enum class Kind(val v: Int) {
          A(1),
          B(2) {
            fun lost() {}
          };
          fun of() {}
        }
        """,
        """
        3 class Foo | class Foo<T : Any>(val a: Int = 1, private val b: T) : Base(a), Named by b
        8 method Foo.run | fun run(x: Int, block: () -> Unit): String
        11 -method Foo.own | fun own()
        12 -method Foo.forChildren | fun forChildren()
        13 variable Foo.size | size: Int
        15 constant Foo.C | C
        16 method Foo.make | fun make(): Foo
        18 class Foo.Nested | class Nested
        19 method Nested.deep | fun deep()
        23 class Single | object Single : Named
        24 method Single.only | fun only()
        27 interface Named | interface Named
        28 method Named.name | fun name(): String
        29 variable Named.length | length: Int
        32 class Point | data class Point(val x: Int)
        34 class Kind | enum class Kind(val v: Int)
        39 method Kind.of | fun of()
        """,
        id="kotlin: types and members",
    ),
    pytest.param(
        "scala",
        """
        package a.b

        /** Text */
        @deprecated("x")
        final case class Foo[T <: X](a: Int, b: String = "x")(implicit c: C) extends Base(a) {
          val size: Int = 1
          private val own = 2
          def run(x: Int)(y: => Int): String = {
            def local() = 1
            ""
          }
          private[os] def near = 1
          override def toString = "x"
          type Out = Int
          class Inner { def deep = 1 }
          def +(o: Foo) = o
          protected def forChildren() = 1
        }
        object Foo {
          def apply(x: Int): Foo = ???
          val LIMIT = 3
        }
        sealed trait Shape[A] extends X { def area(x: Int): Int; val p: Int }
        package object po { type X = Int }
        private object Hidden { def zz = 1 }
        val anonymous = new Shape { def lost = 1 }
        """,
        """
        5 class Foo | case class Foo[T <: X](a: Int, b: String = "x")(implicit c: C) extends Base(a)
        6 variable Foo.size | size: Int
        7 -variable Foo.own | own
        8 method Foo.run | def run(x: Int)(y: => Int): String
        12 -method Foo.near | def near
        13 method Foo.toString | def toString
        14 type Foo.Out | type Out = Int
        15 class Foo.Inner | class Inner
        15 method Inner.deep | def deep
        17 -method Foo.forChildren | def forChildren()
        19 module Foo | object Foo
        20 method Foo.apply | def apply(x: Int): Foo
        21 constant Foo.LIMIT | LIMIT
        23 trait Shape | sealed trait Shape[A] extends X
        23 method Shape.area | def area(x: Int): Int
        23 variable Shape.p | p: Int
        24 module po | object po
        24 type po.X | type X = Int
        25 -module Hidden | object Hidden
        25 -method Hidden.zz | def zz
        26 variable anonymous | anonymous
        """,
        id="scala: classes, traits, objects",
    ),
    pytest.param(
        "scala",
        """
        package c:
          class Within
        enum Color(val rgb: Int):
          case Red extends Color(1)
          def of = 1
        def top(a: Int)(using b: B): Int = 1
        given ordered: Ord[Int] with
          def compare(x: Int) = 1
        extension (s: String) def added: Int = 1
        opaque type Op = Int
        class Indented:
          def foo = 1
        """,
        """
        2 class Within | class Within
        3 enum Color | enum Color(val rgb: Int)
        5 method Color.of | def of
        6 function top | def top(a: Int)(using b: B): Int
        7 variable ordered | ordered: Ord[Int]
        9 function added | def added: Int
        10 type Op | opaque type Op = Int
        11 class Indented | class Indented
        12 method Indented.foo | def foo
        """,
        id="scala: Scala 3",
    ),
]
