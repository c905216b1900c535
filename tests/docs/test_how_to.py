"""The how-to pages, each typed in from its first command to its last."""

from __future__ import annotations

import re
import shutil
import sys
from itertools import chain
from pathlib import Path

import pytest

import cub
from tests.actions.agents.fake_agents import install_fake_codex
from tests.docs.pages import DOCS, follow, typed
from tests.docs.words import list_literals
from tests.examples import keep_few

HOW_TO = DOCS / "how-to"
RULES = r"printf '# Bakery\n\nBread is counted in dozens.\n'"
COMMIT = "git add . && git commit -q -m 'Add cub'"
STALE = "sed '/cub:digest/d' AGENTS.md > new && mv new AGENTS.md"

STORIES = """\
{
  "project": "The bakery",
  "userStories": [
    {"id": "US-001", "title": "Order at the counter", "priority": 1, "passes": true},
    {"id": "US-002", "title": "Bring it by bicycle", "priority": 2, "passes": false}
  ]
}
"""

# The files there, where a page needs more than an AGENTS.md.
FILES = {
    "debug-with-test-output.md": {
        "bread.py": "def dozens(loaves):\n    return -(-loaves // 12)\n",
        "test_bread.py": (
            "from bread import dozens\n\n\ndef test_dozens():\n    assert dozens(30) == 3\n"
        ),
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
        "../home/bin/pytest": f'#!/bin/sh\nexec {sys.executable} -m pytest "$@"\n',
    },
    "import-tasks.md": {"prd.json": STORIES},
    "use-another-agent.md": {
        f"../home/bin/{name}": "#!/bin/sh\necho 1.0.0\n"
        for name in ("claude", "codex", "gemini", "opencode", "aider")
    },
    "map.md": {
        "pyproject.toml": '[project]\nname = "bakery"\n\n[tool.pytest.ini_options]\n',
        "src/bakery/__init__.py": "from bakery.bread import Loaf, dozens\n",
        "src/bakery/bread.py": (
            "DOZEN = 12\n\n\nclass Loaf:\n    def slices(self, width: int = 1) -> int:\n"
            "        return 20 // width\n\n\ndef dozens(loaves: int) -> int:\n"
            "    return -(-loaves // DOZEN)\n"
        ),
        "src/bakery/oven.py": (
            "from bakery.bread import Loaf\n\n\ndef bake() -> Loaf:\n    return Loaf()\n"
        ),
        "src/bakery/old/scale.py": "def scale(grams):\n    return grams / 1000\n",
        "tests/test_bread.py": (
            "from bakery import Loaf\n\n\ndef test_slices() -> None:\n"
            "    assert Loaf().slices() == 20\n"
        ),
    },
}
# What stands in the folder before a page's first command, as its opening words say.
BEFORE = {
    "ci.md": (f"{RULES} > AGENTS.md", "cub init", COMMIT),
    "review.md": (
        f"{RULES} > AGENTS.md",
        "cub init",
        COMMIT,
        "git checkout -q -b prices",
        r"""printf 'Prices are in cents.\n' | cat AGENTS.md - > new && mv new AGENTS.md""",
        "sed 's/take the task.*/take any task that looks urgent./' AGENTS.md > new",
        "mv new AGENTS.md && mkdir .claude && echo '{}' > .claude/settings.json",
        COMMIT,
    ),
    "adopt.md": (f"{RULES} > CLAUDE.md", COMMIT),
    "map.md": (
        f"{RULES} > AGENTS.md",
        "git add . && cub init",
        COMMIT,
        "git checkout -q -b prices",
        r"printf 'def price() -> int:\n    return 3\n' > src/bakery/price.py",
        "git add . && cub map",
        COMMIT,
        "git checkout -q main",
    ),
    "leave.md": (f"{RULES} > AGENTS.md", COMMIT, "git tag before-cub", "cub init", COMMIT),
    "merge.md": (
        f"{RULES} > AGENTS.md",
        "cub init",
        COMMIT,
        "git checkout -q -b bread && echo 'DOZEN = 12' > bread.py && git add . && cub update",
        COMMIT,
        "git checkout -q main && echo 'inline: [constitution]' > .cub/config.yaml && cub update",
        COMMIT,
    ),
    "monorepo.md": (
        f"{RULES} > AGENTS.md",
        "mkdir -p packages/api packages/web ../mill",
        r"printf '# API\n\nPrices are in cents.\n' > packages/api/AGENTS.md",
        "cub init",
        COMMIT,
        f"(cd ../mill && git init -q && {RULES} > AGENTS.md && cub init && {STALE})",
    ),
}
BEFORE["migrate-context-tools.md"] = (
    "mkdir -p .cub .agents/rules .agents/tasks && ln -s AGENTS.md CLAUDE.md",
    f"{RULES} > AGENTS.md",
    "echo 'Oven temperatures are in Celsius.' > .agents/rules/bread.md",
    "echo 'Fix issue ${issue}.' > .agents/tasks/fix-bug.md",
    COMMIT,
)
BEFORE["use-another-agent.md"] = (
    f"{RULES} > AGENTS.md",
    "echo 'DOZEN = 12' > bread.py",
    COMMIT,
    "git init -q ../mill",
    "chmod +x ~/bin/*",
)
# Agents that a page needs, as what they print for `--version`; nothing else is asked of them.
AGENTS = {
    "run-with-aider.md": ("aider", "aider 0.86.2"),
    "run-with-claude-code.md": ("claude", "2.1.330 (Claude Code)"),
    "run-with-codex.md": ("codex", "codex-cli 0.169.0"),
    "run-with-gemini.md": ("gemini", "0.61.0"),
    "run-with-opencode.md": ("opencode", "1.18.33"),
    "run-with-pi.md": ("pi", "1.6.0"),
}
PROVE = "prove-what-agents-read.md"
TASK = "cub task add 'Count the loaves that are left over' --check 'python3 -m unittest -q'"
INSTALL = {
    page: (
        rf"printf '#!/bin/sh\necho \"%s\"\n' '{version}' > ~/bin/{name}",
        f"chmod +x ~/bin/{name}",
    )
    for page, (name, version) in AGENTS.items()
}
BEFORE |= {
    page: (f"{RULES} > AGENTS.md", "mkdir ~/bin", *lines, "cub init", TASK, COMMIT)
    for page, lines in INSTALL.items()
}
BEFORE["run-with-builtin.md"] = (f"{RULES} > AGENTS.md", "cub init", TASK, COMMIT)
BEFORE["debug-with-test-output.md"] = (
    *INSTALL["run-with-claude-code.md"],
    "chmod +x ~/bin/pytest && mkdir -p .cub .agents/tasks",
    f"{RULES} > AGENTS.md",
    COMMIT,
    r"printf 'def dozens(loaves):\n    return loaves // 12\n' > bread.py",
)
BEFORE[PROVE] = (
    f"{RULES} > AGENTS.md",
    "mkdir ~/bin",
    *chain(*INSTALL.values()),
    "cub init",
    COMMIT,
)
# The commands that fail because the page wants to show it.
FAILING = {
    "debug-with-test-output.md": ['cub context --prompt "Why does this fail?"'],
    "ci.md": ["cub update --check"],
    "map.md": [
        "cub map --exclude src/bakery/old/ --stdout | grep -c scale",
        "cub map --explain test_slices",
        "cub map --check",
        "git merge prices",
        "grep -c map.md AGENTS.md",
    ],
    "review.md": ["cub diff main...prices"],
    "leave.md": ["cub remove --purge"],
    "merge.md": ["git merge bread", "cub update", "cub repair"],
    "monorepo.md": ["cub update --check bakery mill"],
    "work-with-tasks.md": ["cub task claim $prices --as bob"],
}

# Pages that show files to save.
SAVING = ("debug-with-test-output.md", "migrate-context-tools.md")

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="the pages are written for a shell"
)


@pytest.mark.parametrize("page", keep_few(sorted(path.name for path in HOW_TO.glob("*.md")), 6))
def test_every_command_does_what_the_page_says(page: str, tmp_path: Path, home: Path) -> None:
    (home / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n"
    )
    folder = tmp_path / "bakery"
    folder.mkdir()
    for name, text in FILES.get(page, {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for done in typed(["git init -q", *BEFORE.get(page, ())], folder, home):
        assert done.code == 0, done.output
    if page == PROVE:
        install_fake_codex(home / "bin")
    failed = follow(HOW_TO / page, folder, home, saving=page in SAVING)
    assert failed == FAILING.get(page, [])


def test_the_number_of_lines_that_init_adds_is_the_one_that_git_counts() -> None:
    text = (HOW_TO / "adopt.md").read_text(encoding="utf-8")
    ((added, removed),) = re.findall(r"^(\d+)\t(\d+)\tCLAUDE.md$", text, re.MULTILINE)
    assert f"cub added {added} lines and removed none" in text
    assert removed == "0"


def test_the_messages_of_the_troubleshooting_table_are_those_of_cub() -> None:
    _, _, table = (HOW_TO / "adopt.md").read_text(encoding="utf-8").partition("| Message |")
    quoted = re.findall(r"^\| ([^|]+) \| ", table, re.MULTILINE)
    sources = Path(cub.__file__).parent.rglob("*.py")
    texts = [text for path in sources for _, text in list_literals(path.read_text("utf-8"))]
    for message in quoted:
        literal = re.sub(r"32 KiB|AGENTS\.md", "X", message)  # what cub fills in
        assert any(literal in text for text in texts), message
    assert len(quoted) == 7


def test_each_command_of_the_install_page_does_one_thing() -> None:
    text = (HOW_TO / "install.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert [block for block in blocks if block.count("\n") != 1 or "&&" in block] == []
    _, _, upgrade = text.partition("## Upgrade")
    upgrade, _, uninstall = upgrade.partition("## Uninstall")
    assert "uninstall" not in upgrade
    assert uninstall.count("uninstall cub-agents\n") == 3
