"""Which part a file plays, by its path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from tests.examples import few_examples

CASES = {
    FileKind.SOURCE: [
        "src/app.py", "main.go", "lib/contest.kt", "src/Latest.java", "packages/a/src/index.ts",
        "django/test/client.py", "flask/testing.py", "src/documents/a.py", "app/attestation.rb",
        "core/Specification.java", "tools/build.py", "src/latest.js", "src/latests.rs",
    ],
    FileKind.TEST: [
        "tests/test_app.py", "pkg/test_app.py", "pkg/app_test.go", "src/a.test.ts",
        "src/a.spec.tsx",
        "src/test/java/com/AppTest.java", "App.Tests/Program.cs", "spec/app_spec.rb", "conftest.py",
        "e2e/login.ts", "src/__tests__/a.js", "app/fixtures/a.js", "a/testdata/x.go", "test/a.js",
        "Tests/AppTests.swift", "crates/a/tests/b.rs", "test/a.bats",
        "okio/src/jvmTest/kotlin/A.kt", "src/parser/tests.rs", "src/parser_tests.rs",
    ],
    FileKind.DOCS: [
        ".github/x.py", "docs/conf.py", "examples/a/b.go", "benches/a.rs", "playground/x/y.ts",
    ],
    FileKind.VENDORED: [
        "vendor/a/b.go", "third_party/z.c", "a/node_modules/b/c.js", "static/jquery-3.6.0.js",
        "src/_vendor/x.py", "deps/lua/lua.c", "tests/vendor/x.py", "Pods/A/a.swift",
    ],
    FileKind.GENERATED: [
        "a.min.js", "api_pb2.py", "api.pb.go", "dist/index.js", "package-lock.json", "poetry.lock",
        "Form.Designer.cs", "app/migrations/0001_initial.py", "x.generated.ts", "a.css.map",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "kind"), [(path, kind) for kind, paths in CASES.items() for path in paths]
)
def test_a_path_tells_its_kind(path: str, kind: FileKind) -> None:
    # A Python folder of tests is one that has tests.
    paths = [path, "tests/test_app.py"]
    assert FileClassifier(paths).classify(path) is kind


def test_a_python_folder_that_helps_to_test_is_source() -> None:
    helper = ["pkg/test/client.py", "pkg/test/utils.py"]
    assert [FileClassifier(helper).classify(path) for path in helper] == [FileKind.SOURCE] * 2
    tests = [*helper, "pkg/test/deep/test_client.py"]
    assert {FileClassifier(tests).classify(path) for path in tests} == {FileKind.TEST}


def test_a_path_of_any_depth_has_a_kind() -> None:
    path = "a/" * 5_000 + "b.py"
    assert FileClassifier([path]).classify(path) is FileKind.SOURCE


WORDS = st.sampled_from(["test", "tests", "spec", "pkg", "test_a.py", "client.py", "a_test.py"])


@few_examples
@given(st.lists(st.lists(WORDS, min_size=1, max_size=4).map("/".join), max_size=10))
def test_the_order_of_the_paths_does_not_matter(paths: list[str]) -> None:
    shuffled = paths[::-1]
    assert [FileClassifier(shuffled).classify(path) for path in paths] == [
        FileClassifier(paths).classify(path) for path in paths
    ]
