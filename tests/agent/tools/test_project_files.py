from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cub.agent.permission_rules import compile_hidden_files, parse_rule
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GREP
from tests.agent.tools.context import call, make_context


def test_a_search_leaves_out_what_may_not_be_read(tmp_path: Path) -> None:
    for name in ("a.py", "b/.ENV", "secret/c.py", "d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("key = 1\n", encoding="utf-8")
    context = make_context(tmp_path)
    rules = [parse_rule(text) for text in ("Read(.env)", "Read(secret/**)", "Edit(a.py)")]
    context = replace(context, hides_file=compile_hidden_files(rules, context))
    found = call(GREP, context, pattern="key", output_mode="files_with_matches").text
    assert sorted(found.split()) == ["a.py", "d.py"]
    assert sorted(call(GLOB, context, pattern="**").text.split()) == ["a.py", "d.py"]
