"""Black-box cases of other tools of this kind, from CUB_SHARED; `case_expectations.json` is ours.

It gives our expectation and the reason for each case in which cub differs on purpose, and says
which cases are about what cub does not do.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Result, call_cub

EXPECTATIONS = Path(__file__).with_name("case_expectations.json")
FILES = ("ccc_cases.json", "cllm_cases.json")
SHARED = Path(os.environ["CUB_SHARED"], "cases") if "CUB_SHARED" in os.environ else None
Case = dict[str, Any]


@cache
def read_expectations() -> dict[str, dict[str, Case]]:
    tree: dict[str, dict[str, Case]] = json.loads(EXPECTATIONS.read_text(encoding="utf-8"))
    return tree


def list_cases() -> list[Any]:
    if SHARED is None:
        reason = pytest.mark.skip(reason="CUB_SHARED is not set")
        return [pytest.param("", {}, marks=reason)]
    return [
        pytest.param(file, case, id=f"{file.partition('_')[0]}: {case['name']}")
        for file in FILES
        for case in json.loads((SHARED / file).read_text(encoding="utf-8"))
    ]


def make_files(case: Case, root: Path) -> None:
    prefix = "" if any(name.startswith("proj/") for name in case["files"]) else "proj/"
    for name, content in case["files"].items():
        text = content if isinstance(content, str) else content["content"]
        inner = name.replace("Cllmfile.yml", ".cub/config.yaml")
        inner = inner.replace("home/.cllm/.cub/config.yaml", "home/.config/cub/config.yaml")
        path = root / (inner if name.startswith(("home/", "other/", "ext/")) else prefix + inner)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        if not isinstance(content, str) and "mode" in content:
            path.chmod(int(content["mode"], 8))


def run_case(case: Case, root: Path, words: list[str]) -> Result:
    (root / "home").mkdir(parents=True, exist_ok=True)
    (root / "proj").mkdir(exist_ok=True)
    make_files(case, root)
    environ = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), **case.get("env", {})}
    environ["XDG_STATE_HOME"] = str(root / "state")
    cwd = root / case.get("cwd", "proj")
    return call_cub(["context", *words], cwd=cwd, environ=environ, stdin=case.get("stdin", ""))


def check(found: Result, expect: Case, root: Path) -> None:
    assert found.code == expect["exit"], found.err
    for part in expect.get("stdout_contains", ()):
        assert part in found.out
    for part in expect.get("stdout_not_contains", ()):
        assert part not in found.out
    for part in expect.get("stderr_contains", ()):
        assert part in found.err
    for part in expect.get("stderr_not_contains", ()):
        assert part not in found.err
    if expect.get("stdout_exact") is not None:
        assert found.out == expect["stdout_exact"]
    assert len(found.out) >= expect.get("len_min", 0)
    places = [found.out.index(part) for part in expect.get("stdout_order", ())]
    assert places == sorted(places)
    for name, state in expect.get("files_after", {}).items():
        assert (root / name).exists() == state.get("exists", True)
        if "mode" in state:
            assert f"{(root / name).stat().st_mode & 0o7777:04o}" == state["mode"]


@pytest.mark.parametrize(("file", "case"), list_cases())
def test_case(file: str, case: Case, tmp_path: Path) -> None:
    ours = read_expectations()[file].get(case["name"], {})
    if "out_of_scope" in ours:
        pytest.skip(f"out of scope: {ours['out_of_scope']}")
    words = ours.get("args") or [word.replace("{ROOT}", str(tmp_path)) for word in case["args"]]
    if file == "cllm_cases.json" and "args" not in ours:
        words = ["--trust", "--prompt", *words]
    expect = {**case["expect"], **ours.get("expect", {})}
    for key in ("stderr_not_contains", "len_min"):
        expect.setdefault(key, case.get(key, "" if key.startswith("std") else 0))
    start = time.monotonic()
    check(run_case(case, tmp_path, words), expect, tmp_path)
    if "seconds_max" in ours:  # far above what it takes, and far below what it must not take
        assert time.monotonic() - start < ours["seconds_max"]


def test_the_table_is_about_these_cases() -> None:
    if SHARED is None:
        pytest.skip("CUB_SHARED is not set")
    for file in FILES:
        names = {case["name"] for case in json.loads((SHARED / file).read_text(encoding="utf-8"))}
        assert set(read_expectations()[file]) <= names


def test_each_difference_has_a_reason() -> None:
    for rows in read_expectations().values():
        for name, row in rows.items():
            assert row.get("why") or row.get("out_of_scope"), name


def test_folders_in_any_order_give_the_same_text(tmp_path: Path) -> None:
    texts = set()
    for turn in range(4):
        root = tmp_path / str(turn)
        rules = root / ".agents" / "rules"
        rules.mkdir(parents=True)
        names = [f"r{number}.md" for number in range(8)]
        for name in names[turn:] + names[:turn]:
            (rules / name).write_text(f"# {name}\n", encoding="utf-8")
        (root / "home").mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": str(root / "home")}
        texts.add(call_cub(["context", "--prompt", "P"], cwd=root, environ=environ).out)
        shutil.rmtree(root)
    assert len(texts) == 1
