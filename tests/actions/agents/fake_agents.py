"""Small programs that start as an agent does, and send a model what they read."""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = """\
import json, os, sys, urllib.request
from pathlib import Path
words = sys.argv[1:]
if words == ["--version"]:
    print({version!r} + " (Claude Code)")
    sys.exit()
texts = [Path(name).read_text() for name in {reads!r} if Path(name).exists()]
if "--append-system-prompt-file" in words:
    texts.append(Path(words[words.index("--append-system-prompt-file") + 1]).read_text())
{more}
body = {{
    "model": os.environ["ANTHROPIC_MODEL"],
    "tools": [{{"name": "Bash", "input_schema": {{}}}}],
    "messages": [{{"role": "user", "content": "\\n".join([*texts, sys.stdin.read()])}}],
}}
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())).read()
"""

_CODEX = """\
import json, re, sys, urllib.request
from pathlib import Path
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.169.0")
    sys.exit()
(url,) = re.findall('base_url = "(.*)"', Path.home().joinpath(".codex/config.toml").read_text())
texts = Path("AGENTS.md").read_text(), sys.stdin.read()
body = {"input": "\\n".join(texts), "tools": [{"name": "exec_command"}]}
request = urllib.request.Request(url + "/responses", json.dumps(body).encode())
urllib.request.urlopen(request).read()
"""


def install_fake_claude(
    folder: Path, reads: tuple[str, ...] = ("AGENTS.md",), more: str = "", version: str = "2.1.330"
) -> Path:
    """Write a `claude` that reads these files at the root; return the folder that has it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "claude"
    program.write_text(
        f"#!{sys.executable} -IS\n{_PROGRAM.format(reads=reads, more=more, version=version)}"
    )
    program.chmod(0o755)
    return folder


def install_fake_codex(folder: Path) -> None:
    """Write a `codex` that reads AGENTS.md."""
    program = folder / "codex"
    program.write_text(f"#!{sys.executable} -IS\n{_CODEX}")
    program.chmod(0o755)
