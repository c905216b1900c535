from __future__ import annotations

import pytest

from tests.repomap.stack.projects import commands, names, stack_of


def workflow(*steps: str, head: str = "") -> str:
    """A workflow of one job; each step is the text of its `run`, or of several keys."""
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"on: [push]\n{head}jobs:\n  check:\n    runs-on: x\n    steps:\n{lines}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (workflow("uses: actions/checkout@v4", "run: pytest -q"), {"test": ["pytest -q"]}),
        (workflow("name: Lint\n        run: ruff check"), {"lint": ["ruff check"]}),
        (
            workflow(
                "run: |\n          pip install .\n          mypy src\n\n          tox -e lint"
            ),
            {"lint": ["tox -e lint"], "typecheck": ["mypy src"]},
        ),
        (
            workflow("run: >-\n          cargo test\n          --workspace"),
            {"test": ["cargo test --workspace"]},
        ),
        (
            workflow("run: |\n          go test \\\n            ./...\n"),
            {"test": ["go test ./..."]},
        ),
        (
            workflow("run: npm run build && npm test"),
            {"build": ["npm run build"], "test": ["npm test"]},
        ),
        (workflow('run: CI=1 X="a b" pytest'), {}),
        (workflow("run: CI=1 pytest"), {"test": ["pytest"]}),
        (workflow("run: cd web && npm test"), {"test": ["web: npm test"]}),
        (
            workflow(
                "run: |\n          cd web/app\n          npm test\n          cd ..\n          make"
            ),
            {"build": ["web: make"], "test": ["web/app: npm test"]},
        ),
        (workflow('run: |\n          cd "$X"\n          npm test'), {}),
        (workflow("run: cd ../x && npm test"), {}),
        (workflow("run: npm test\n        working-directory: ./web/"), {"test": ["web: npm test"]}),
        (workflow("run: npm test\n        working-directory: ${{ matrix.x }}"), {}),
        (
            workflow("run: npm test", head="defaults:\n  run:\n    working-directory: web\n"),
            {"test": ["web: npm test"]},
        ),
        (workflow("run: pytest ${{ matrix.args }}"), {}),
        (workflow("run: pytest $ARGS", "run: pytest > log", "run: pytest | tee log"), {}),
        (workflow("run: for x in 1; do pytest; done", "run: if x; then pytest; fi"), {}),
        (workflow("run: npm ci", "run: npm start", "run: black .", "run: echo pytest"), {}),
        (workflow("run: pytest -k " + "x" * 100), {}),
        (workflow("run: make test", "run: make test"), {"test": ["make test"]}),
        ("jobs: [1]\n", {}),
        ("", {}),
        ("\tx: {{{\n- - -", {}),
    ],
)
def test_a_workflow_tells_what_it_runs(text: str, expected: dict[str, list[str]]) -> None:
    stack = stack_of({".github/workflows/ci.yml": text})
    assert commands(stack) == expected
    assert names(stack) == ["GitHub Actions"]


@pytest.mark.parametrize("name", ["release.yml", "publish-docs.yaml", "codeql.yml", "stale.yml"])
def test_workflows_for_other_purposes_tell_nothing(name: str) -> None:
    files = {f".github/workflows/{name}": workflow("run: pytest")}
    assert commands(stack_of(files)) == {}


@pytest.mark.parametrize(
    "path", ["x/.github/workflows/ci.yml", ".github/workflows/x/ci.yml", ".github/ci.yml", "ci.yml"]
)
def test_only_the_project_s_own_workflows_are_read(path: str) -> None:
    assert stack_of({path: workflow("run: pytest")}).technologies == ()


def test_jobs_of_gitlab_tell_what_they_run() -> None:
    text = (
        "image: python\nbefore_script:\n  - pip install tox\n.base:\n  script: ['x']\n"
        "test:\n  stage: test\n  script:\n    - tox -e py\n    - mypy $DIR\n"
        "lint: {script: ruff check}\nbuild:\n  script: |\n    make\n    make install\n"
    )
    stack = stack_of({".gitlab-ci.yml": text})
    assert commands(stack) == {"build": ["make"], "test": ["tox -e py"], "lint": ["ruff check"]}
    assert names(stack) == ["GitLab CI"]
