"""Tests as their files define them."""

from __future__ import annotations

import pytest

from cub.checks.static_tests import find_vanished_tests, list_static_tests


@pytest.mark.parametrize(
    ("path", "old", "names"),
    [
        ("tests/test_a.py", "def test_heat():\n    heat()\n\ndef test_cool():\n    cool()\n",
         ["test_heat", "test_cool"]),
        ("a.test.js", "it('heats', () => {});\ntest.each([1])(`cools`, f)\nit(\"it's\", f)",
         ["heats", "cools", "it's"]),
        ("a.test.js", "it.failing('a', f)\ntest.skip('b', f)\nit.only('c', f)", ["c"]),
        ("test/a.js", "test('heats', function (t) {\n  t.test('well', f)\n /a/.test('b')\n})",
         ["heats", "well"]),
        ("a_test.go", "func TestHeat(t *testing.T) {}\nfunc help() {}", ["TestHeat"]),
        ("tests/a.rs", "#[test]\n#[should_panic]\nfn heats() {}\n#[tokio::test]\nasync fn b() {}",
         ["heats", "b"]),
        ("spec/a_spec.rb", "it 'heats' do\nend\ndef test_cool\nend", ["heats", "test_cool"]),
        ("tests/ATest.php", "public function testHeat(): void {}", ["testHeat"]),
        ("src/test/java/ATest.java", "@Test\n  void heats() {}\n@Tag(1)\nvoid b() {}", ["heats"]),
        ("tests/a.bats", '@test "heats" {\n}', ["heats"]),
    ],
)  # fmt: skip
def test_the_tests_of_a_file_are_found(path: str, old: str, names: list[str]) -> None:
    assert [test.name for test in list_static_tests(path, old)] == names


@pytest.mark.parametrize(
    ("path", "full", "empty"),
    [
        ("a.py", "def test_a(oven) -> None:\n    assert heat() == 2\n", [
            "def test_a(oven) -> None:\n    pass\n",
            "def test_a(oven):\n    assert True\n\nclass Oven:\n    x = heat()\n",
            'def test_a(\n    oven,\n):\n    """Heat."""\n    return\n    assert heat() == 2\n',
            "def test_a(): ...\n",
        ]),
        ("a.py", "class A:\n    def test_a(self):\n        self.assertEqual(heat(), 2)\n", [
            "class A:\n    def test_a(self):\n        self.assertTrue(True)\n\n    x = heat()\n",
        ]),
        ("a.test.js", "test('a', t => { t.is(heat, 2) })", [
            "test('a', () => {})",
            "it('a', async function () {\n  expect(true).toBe(true);\n});\nheat();\n",
            "test('a', t => {\n\tt.pass();\n});\n",
            "it('a', (done) => done());",
        ]),
        ("a_test.go", "func TestA(t *testing.T) {\n\tcheck(t, Heat())\n}\n", [
            "func TestA(t *testing.T) {\n}\n\nfunc help() { Heat() }\n",
        ]),
        ("tests/a.rs", "#[test]\nfn a() {\n    assert_eq!(heat(), 2);\n}\n", [
            "#[test]\nfn a() {\n    assert!(true);\n}\n",
        ]),
        ("a_spec.rb", "it 'a' do\n  expect(heat).to eq 2\nend\n", ["it 'a' do\nend\n"]),
        ("ATest.java", "@Test\nvoid a() { assertEquals(2, heat()); }", ["@Test\nvoid a() {}"]),
    ],
)  # fmt: skip
def test_a_test_that_tests_nothing_now_is_gone(path: str, full: str, empty: list[str]) -> None:
    old = list(list_static_tests(path, full))
    assert find_vanished_tests(old, old) == []
    for text in empty:
        new = list(list_static_tests(path, text))
        assert len(new) == 1
        assert find_vanished_tests(old, new) == old, text
        assert find_vanished_tests(new, []) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def test_a(x=1):\n    check(x)\n"),
        ("a.py", "def test_a():\n    import oven\n"),
        ("a.py", "def test_a(oven):\n    if not oven:\n        return\n    assert oven.heat()\n"),
        ("a.py", 'def test_a():\n    text = """\n# Oven\n"""\n    assert text\n'),
        ("a.test.js", "test('a', t => { t.true(works) })"),
        ("a.test.js", "test('a', heats)"),
        ("a.test.js", "it('a', () => heat())"),
        ("a_test.go", "func TestA(t *testing.T) { heat(t) }"),
        ("a_spec.rb", "it('a') { is_expected.to be_warm }"),
    ],
)
def test_a_test_with_words_of_its_own_is_none_that_tests_nothing(path: str, text: str) -> None:
    assert [test.is_idle for test in list_static_tests(path, text)] == [False]
