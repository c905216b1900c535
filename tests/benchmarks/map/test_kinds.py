from __future__ import annotations

import pytest

from tests.benchmarks.map.kinds import kind


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", "source"),
        ("django/test/client.py", "source"),
        ("test/app.js", "test"),
        ("tests/app.py", "test"),
        ("gson/src/test/java/GsonTest.java", "test"),
        ("pkg/hugo_test.go", "test"),
        ("packages/vite/src/__tests__/a.ts", "test"),
        ("examples/a.go", "test"),
        ("docs/conf.py", "other"),
        ("vendor/a/b.go", "other"),
        ("static/jquery.min.js", "other"),
        ("doc/build/core.rst", "docs"),
        ("Documentation/Usage.md", "docs"),
        ("packages/a/README.md", "docs"),
        ("UserGuide.md", "docs"),
        ("CONTRIBUTING.md", "other"),
        ("CHANGELOG.md", "other"),
        ("docs/releases/5.2.txt", "other"),
        ("requirements.txt", "other"),
    ],
)
def test_a_path_says_what_a_file_is_there_for(path: str, expected: str) -> None:
    assert kind(path) == expected
