"""Maps counted by tokenizers of models: the estimate keeps enough room for all of them.

CUB_TOKENIZERS names a node_modules folder with npm's gpt-tokenizer.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from cub.repomap.render.map_body import render_map_body
from tests.repomap.archives import Archive, archives, unpacked
from tests.repomap.maps import told, whole_map
from tests.repomap.test_budget import BUDGETS, HEADER, checkouts, known

MODULES = os.environ.get("CUB_TOKENIZERS", "")
COUNTER = Path(__file__).with_name("count_tokens.mjs")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not MODULES, reason="CUB_TOKENIZERS names no node_modules with gpt-tokenizer"
    ),
]


# Bread in scripts of which a token holds few letters, and in capitals.
WORDS = {
    "chinese": "为面包店规划面团发酵和烘烤的时间让面包在开门前出炉",
    "japanese": "パン屋のために生地の発酵と焼成の時間を計画する",
    "korean": "빵집을 위해 반죽의 발효와 굽는 시간을 계획합니다",
    "greek": "Σχεδιάζει πότε φουσκώνει και ψήνεται η ζύμη του φούρνου",
    "capitals": "BREADOVENTEMPERATURECONTROLLER DOUGHRISINGTIMEPLANNER",
}


def counted(texts: list[str]) -> dict[str, list[int]]:
    done = subprocess.run(
        ["node", COUNTER, MODULES],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_no_map_of_a_small_project_counts_more_than_it_may(tmp_path: Path) -> None:
    roots = [unpacked(archive, tmp_path / archive.name) for archive in archives()]
    texts = [whole_map(root, tokens) for root in roots for tokens in BUDGETS]
    for name, counts in counted(texts).items():
        over = [
            (name, count, text)
            for count, text in zip(counts, texts, strict=True)
            if count > told(text)[1]
        ]
        assert over == []


@pytest.mark.parametrize("root", checkouts(), ids=lambda root: root.name)
def test_no_map_of_a_large_project_counts_more_than_it_may(root: Path, tmp_path: Path) -> None:
    found = known(root, tmp_path)
    texts = [render_map_body(found, tokens, HEADER) for tokens in BUDGETS]
    for name, counts in counted(texts).items():
        rows = zip(counts, BUDGETS, strict=True)
        assert [row for row in rows if row[0] + HEADER > row[1]] == [], name


@pytest.mark.parametrize("script", WORDS)
def test_no_script_counts_more_than_it_may(script: str, tmp_path: Path) -> None:
    words = WORDS[script]
    files = {"README.md": f"# {words}\n\n{words} {words} a b c d\n"}
    for number in range(40):
        folder = f"src/{words[number % 20 :].split()[0]}{number}"
        files[f"{folder}/__init__.py"] = f'"""{words[number % 10 :]}."""\n'
        name = "".join(filter(str.isalpha, words[number % 15 :]))[:20]
        files[f"{folder}/{name}.py"] = f"def {name}_{number}({name}): ...\n"
    root = unpacked(Archive(script, 0, files), tmp_path / "project")
    texts = [whole_map(root, tokens) for tokens in BUDGETS]
    for name, counts in counted(texts).items():
        rows = zip(counts, BUDGETS, strict=True)
        assert [row for row in rows if row[0] > row[1]] == [], name
