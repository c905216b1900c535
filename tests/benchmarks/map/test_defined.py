from __future__ import annotations

import pytest

from tests.benchmarks.map.defined import defined


@pytest.mark.parametrize(
    ("language", "source", "top", "members"),
    [
        (
            "python",
            'LIMIT = 1\nclass A:\n    """\n    def no(): ...\n    """\n    async def b(c): ...\n',
            "LIMIT A",
            "b",
        ),
        (
            "javascript",
            "const a = 1\napp.use = function use() {\n}\nclass C {\n  d() {\n",
            "a use C",
            "d",
        ),
        ("javascript", "const fs = require('fs')\nexports.read = 1\n", "read", ""),
        ("typescript", "export type A = 1\nexport interface B {\n  if (x) {\n", "A B", ""),
        ("go", "func A() {\nfunc (r *R) B() {\nconst (\n\tC = 1\n", "A C", "B"),
        ("rust", "pub struct A;\nimpl A {\n    pub(crate) async fn b() {}\n", "A", "b"),
        ("java", "public final class A {\n  public static <T> int b(int c) {\n", "A", "b"),
        (
            "csharp",
            "namespace N {\n    public class A {\n        public int B(int c) {\n",
            "A",
            "B",
        ),
        (
            "c",
            "#define A 1\nstatic int b(int c)\n{\n  abort(c);\n}\n} d;\nint e(void);\n",
            "A b d e",
            "",
        ),
        ("cpp", "class A : public B {\n  virtual int c(int d) const;\n", "A", "c"),
        ("ruby", "module A\n  class B::C\n    def d?\n", "A C", "d"),
        ("php", "final class A {\n    public function b() {\n", "A", "b"),
        ("kotlin", "data class A(\n  fun <T> B<T>.c() {\n", "A", "c"),
        ("swift", "public protocol A {\n    mutating func b()\n", "A", "b"),
        ("scala", "case class A(b: Int)\n  implicit def c = 1\n", "A", "c"),
        ("bash", "a() {\nfunction b() {\n", "a b", ""),
        ("lua", "function M.a()\nlocal x = require('y')\nM.b = 1\n", "a b", ""),
    ],
)
def test_definitions_are_found(language: str, source: str, top: str, members: str) -> None:
    found = defined(language, source)
    assert {one.name for one in found if one.top} == set(top.split())
    assert {one.name for one in found if not one.top} == set(members.split())


@pytest.mark.parametrize(
    ("language", "source", "public"),
    [
        ("python", "def a(): ...\ndef _b(): ...\n", "a"),
        ("go", "func A() {\nfunc b() {\n", "A"),
        ("rust", "pub fn a() {}\nfn b() {}\npub(crate) fn c() {}\n", "a"),
        ("typescript", "export function a() {\nfunction b() {\n", "a"),
        ("javascript", "function a() {\nfunction b() {\n", "a b"),
        ("c", "int a(void)\n{\nstatic int b(void)\n{\n", "a"),
    ],
)
def test_what_is_public_shows_in_the_line(language: str, source: str, public: str) -> None:
    assert {one.name for one in defined(language, source) if one.public} == set(public.split())
