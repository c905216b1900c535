"""Small tasks: mini-swe-agent has commands for them, `cub code` commands or its own tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

FILES: Mapping[str, str | bytes] = {
    "price.py": "PRICE = 1\n",
    "docs/old.md": "# Old\n",
    "docs/new.md": "# New\n",
    "dos.txt": b"a = 1\r\nb = 2\r\n",
    "open.txt": b"first\nlast",
    "latin.txt": b"a = 1 # caf\xe9\n",
    "bom.txt": b"\xef\xbb\xbfa = 1\n",
    "wide.txt": "a = 1\nb = 2\n".encode("utf-16"),
    "shop/a.py": "import price\n\nold = price.PRICE\nprint(old)\n",
    "shop/b.py": "old = 2\n",
    "shop/c.txt": "old\n",
}

# Each reply has some commands; a task has some replies.
BASH_TASKS: Mapping[str, Sequence[Sequence[str]]] = {
    "an edit in place": [["sed -i 's/PRICE = 1/PRICE = 2/' price.py"]],
    "a line at the end": [["printf 'TAX = 3\\n' >> price.py"], ["rm docs/old.md"]],
    "a file is moved": [["mkdir -p a/b/c && mv price.py a/b/c/price.py"]],
    "a heredoc": [["cat > run.sh <<'END'\n#!/bin/sh\necho \"$HOME\" '$x' `date`\nEND"]],
    "a file becomes executable": [["echo 'exit 3' > run.sh", "chmod 750 run.sh"]],
    "a link": [["ln -s price.py link.py"]],
    "several commands of a reply in order": [["echo 1 > n", "echo 2 >> n", "echo 3 >> n"]],
    "several replies": [["ls > list.txt"], ["wc -l < list.txt > count.txt"], ["rm list.txt"]],
    "a command that fails": [["false"], ["cat none && echo never > never.txt"], ["echo a > a"]],
    "a later command goes on after one that fails": [["exit 7", "echo a > a.txt"]],
    "exit codes": [["(exit 7); echo $? > code.txt; false | true; echo $? >> code.txt"]],
    "a folder does not last": [["cd docs", "test -d docs && echo root > root.txt"]],
    "a variable does not last": [["WORD=a; export WORD"], ['echo "[$WORD]" > word.txt']],
    "letters of other scripts": [["printf 'größer \\346\\227\\245\\n' > 'ü ö.txt'"]],
    "bytes that are not UTF-8": [["printf '\\377\\000\\376' > bytes.bin; cat bytes.bin"]],
    "line ends of Windows": [["sed -i 's/b = 2/b = 3/' dos.txt", "printf 'c\\r\\n' >> dos.txt"]],
    "a program of the project": [["python3 -c 'import price; print(price.PRICE + 1)' > out.txt"]],
    "a long output": [["seq 100000 | tee long.txt"], ["tail -n 1 long.txt > last.txt"]],
    "a pipeline over all files": [["find . -type f | sort | xargs cat > all.out"], ["rm -r docs"]],
    "an empty stdin": [["cat > from-stdin.txt; read -r line; echo $? > code.txt"]],
    "a job in the background": [["(sleep 0.1; echo late > late.txt) & echo now > now.txt; wait"]],
    "a script of several lines": [
        ['set -eu\nfor name in docs/*.md; do\n  cp "$name" "${name%.md}.txt"\ndone\n\n# end']
    ],
    "a commit": [
        ["git init -q -b main && git add docs"],
        ["git -c user.name=t -c user.email=t@t commit -qm 'Add docs; \"quoted\"'"],
        ["git ls-tree -r HEAD > tree.txt", "git log --format=%s > log.txt"],
    ],
}  # fmt: skip


class ToolTask(NamedTuple):
    """A command of each reply to mini-swe-agent, and the calls of each reply to `cub code`."""

    commands: Sequence[str]
    replies: Sequence[Sequence[tuple[str, Mapping[str, Any]]]]


def read(path: str) -> tuple[str, Mapping[str, Any]]:
    return "Read", {"file_path": path}


def edit(path: str, old: str, new: str, **more: bool) -> tuple[str, Mapping[str, Any]]:
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


def write(path: str, content: str) -> tuple[str, Mapping[str, Any]]:
    return "Write", {"file_path": path, "content": content}


def bash(command: str) -> tuple[str, Mapping[str, Any]]:
    return "Bash", {"command": command}


def edit_after_reading(path: str, old: str, new: str, command: str) -> ToolTask:
    return ToolTask([command], [[read(path)], [edit(path, old, new)]])


_QUOTES = "#!/bin/sh\necho \"$HOME\" '$x' `date` \\n \\\\ ${y}\n"
TOOL_TASKS: Mapping[str, ToolTask] = {
    "a line": edit_after_reading(
        "price.py", "PRICE = 1", "PRICE = 2", "sed -i 's/PRICE = 1/PRICE = 2/' price.py"),
    "all places": ToolTask(
        ["sed -i s/old/new/g shop/a.py"],
        [[read("shop/a.py")], [edit("shop/a.py", "old", "new", replace_all=True)]]),
    "several lines": edit_after_reading(
        "shop/a.py", "old = price.PRICE\nprint(old)", "print(\n    price.PRICE\n)",
        "printf 'import price\\n\\nprint(\\n    price.PRICE\\n)\\n' > shop/a.py"),
    "lines are deleted": edit_after_reading(
        "shop/a.py", "old = price.PRICE\n", "", "sed -i 3d shop/a.py"),
    "line ends of Windows": edit_after_reading(
        "dos.txt", "a = 1\nb = 2", "a = 1\nc = 0\nb = 3",
        "printf 'a = 1\\r\\nc = 0\\r\\nb = 3\\r\\n' > dos.txt"),
    "no line end at the end": edit_after_reading(
        "open.txt", "first\nlast", "first\nsecond", "printf 'first\\nsecond' > open.txt"),
    "bytes that are not UTF-8": edit_after_reading(
        "latin.txt", "a = 1", "a = 2", "LC_ALL=C sed -i 's/a = 1/a = 2/' latin.txt"),
    "a byte order mark": edit_after_reading(
        "bom.txt", "a = 1", "a = 2", "LC_ALL=C sed -i 's/a = 1/a = 2/' bom.txt"),
    "UTF-16": edit_after_reading(
        "wide.txt", "b = 2", "b = é",
        "(printf '\\377\\376'; printf 'a = 1\\nb = é\\n' | iconv -f UTF-8 -t UTF-16LE) > wide.txt"),
    "an executable file": ToolTask(
        ["echo 'exit 3' > run.sh; chmod 750 run.sh", "sed -i s/3/4/ run.sh"],
        [[bash("echo 'exit 3' > run.sh; chmod 750 run.sh"), read("run.sh")],
         [edit("run.sh", "3", "4")]]),
    "behind a link": ToolTask(
        ["ln -s price.py link.py; sed -i --follow-symlinks s/1/2/ link.py"],
        [[bash("ln -s price.py link.py"), read("link.py")], [edit("link.py", "1", "2")]]),
    "a new file": ToolTask(
        [f"cat > run.sh <<'END'\n{_QUOTES}END"], [[write("run.sh", _QUOTES)]]),
    "a new file in new folders": ToolTask(
        ["mkdir -p 'ü ö/日' && printf 'größer' > 'ü ö/日/a b.txt'"],
        [[write("ü ö/日/a b.txt", "größer")]]),
    "an empty file": ToolTask([": > empty"], [[write("empty", "")]]),
    "a whole file again": ToolTask(
        ["echo 'PRICE = 5' > price.py"], [[read("price.py")], [write("price.py", "PRICE = 5\n")]]),
    "what a search found": ToolTask(
        ["grep -rl --include='*.py' old shop | xargs sed -i s/old/new/g"],
        [[("Grep", {"pattern": "old", "glob": "*.py"}), ("Glob", {"pattern": "shop/*.py"})],
         [read("shop/a.py"), read("shop/b.py")],
         [edit("shop/a.py", "old", "new", replace_all=True), edit("shop/b.py", "old", "new")]]),
    "several edits of a reply in order": ToolTask(
        ["sed -i 's/PRICE/TAX/; s/1/3/; s/TAX = 3/TAX = 4/' price.py"],
        [[read("price.py")],
         [edit("price.py", "PRICE", "TAX"), edit("price.py", "1", "3"),
          edit("price.py", "TAX = 3", "TAX = 4")]]),
    "an edit that fits nothing": ToolTask(
        ["sed -i s/none/x/ price.py", "sed -i s/1/2/ price.py"],
        [[read("price.py")], [edit("price.py", "none", "x")], [edit("price.py", "1", "2")]]),
    "an edit of what was not read": ToolTask(
        ["sed -i s/1/2/ price.py"],
        [[edit("price.py", "PRICE", "never")], [read("price.py")], [edit("price.py", "1", "2")]]),
    "a change by a command in between": ToolTask(
        ["echo 'TAX = 1' >> price.py", "sed -i s/TAX/DUTY/ price.py"],
        [[read("price.py")], [bash("echo 'TAX = 1' >> price.py"), edit("price.py", "1", "never")],
         [read("price.py")], [edit("price.py", "TAX", "DUTY")]]),
    "a program that was just written": ToolTask(
        ["printf 'import price\\nprint(price.PRICE)\\n' > show.py; python3 show.py > out.txt"],
        [[write("show.py", "import price\nprint(price.PRICE)\n"),
          bash("python3 show.py > out.txt")]]),
}  # fmt: skip
