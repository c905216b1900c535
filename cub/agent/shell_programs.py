"""Hold what rules know of programs: which run others, read files, or do harm by an option.

The tables are no list of all programs. One that is missing is judged by its own name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from cub.agent.shell_commands import UNKNOWN, UNKNOWN_TEXT


class Wrapper(NamedTuple):
    """Describe a program that runs a command among its arguments.

    `options` take the next word as their value. `operands` come before the command. The command is
    the words that follow, a text that these words make, or the text of an option such as `-c`. A
    `transparent` one changes only when the command runs, or with how much of the machine.
    """

    options: str = ""
    operands: int = 0
    kind: Literal["words", "text", "option"] = "words"
    is_transparent: bool = False


_SHELL = Wrapper("-o -O --rcfile --init-file", kind="option")
WRAPPERS = {
    "time": Wrapper("-o -f", is_transparent=True),
    "timeout": Wrapper("-s -k --signal --kill-after", 1, is_transparent=True),
    "nice": Wrapper("-n --adjustment", is_transparent=True),
    "ionice": Wrapper("-c -n -p -P -u", is_transparent=True),
    "nohup": Wrapper(is_transparent=True),
    "stdbuf": Wrapper("-i -o -e", is_transparent=True),
    "setsid": Wrapper(is_transparent=True),
    "command": Wrapper(is_transparent=True),
    "xargs": Wrapper("-I -n -P -d -E -L -s -a --max-args --max-procs", is_transparent=True),
    "!": Wrapper(), "builtin": Wrapper(), "coproc": Wrapper(), "exec": Wrapper("-a"),
    "env": Wrapper("-u -C --unset --chdir"),
    "sudo": Wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group"),
    "doas": Wrapper("-u -C"), "su": Wrapper("-g -G -s -w", kind="option"),
    "runuser": Wrapper("-u -g -G -s -w"), "pkexec": Wrapper("--user"),
    "flock": Wrapper("-w -E --timeout", 1), "chroot": Wrapper("", 1), "taskset": Wrapper("", 1),
    "chrt": Wrapper("-T -P -D", 1), "setarch": Wrapper("", 1), "prlimit": Wrapper("-p"),
    "busybox": Wrapper(), "toybox": Wrapper(), "fakeroot": Wrapper("-l -s -i"),
    "unshare": Wrapper("-S -G -R -w"), "nsenter": Wrapper("-t -S -G"), "bwrap": Wrapper(),
    "strace": Wrapper("-e -o -p -s -u -E -P -I -a -b -O -S -X"), "ltrace": Wrapper("-e -o -p -s"),
    "valgrind": Wrapper(), "gdb": Wrapper("-x -ex"), "unbuffer": Wrapper(), "rlwrap": Wrapper(),
    "systemd-run": Wrapper("-p -u -E -M -H --unit --property --slice --uid --gid"),
    "dbus-run-session": Wrapper(), "caffeinate": Wrapper("-t -w"), "entr": Wrapper(),
    "npx": Wrapper("-p --package"), "bunx": Wrapper("-p --package"),
    "uvx": Wrapper("--from --with --python -p"),
    "npm exec": Wrapper("-p --package -w"), "npm x": Wrapper("-p --package -w"),
    "pnpm exec": Wrapper(), "pnpm dlx": Wrapper(), "yarn exec": Wrapper(), "yarn dlx": Wrapper(),
    "uv run": Wrapper("--with --python -p --extra --group --directory --project"),
    "uv tool run": Wrapper("--from --with"), "pipx run": Wrapper("--spec"),
    "poetry run": Wrapper(), "pdm run": Wrapper(), "hatch run": Wrapper(), "bundle exec": Wrapper(),
    "git bisect run": Wrapper(), "git submodule foreach": Wrapper(kind="text"),
    "eval": Wrapper(kind="text"), "trap": Wrapper(kind="text"),
    "parallel": Wrapper("-j -N -n -S -a", kind="text"), "watch": Wrapper("-n -q", kind="text"),
    "hyperfine": Wrapper("-w -r -m -M", kind="text"), "script": Wrapper("-o -t", kind="option"),
    **dict.fromkeys(("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"), _SHELL),
}  # fmt: skip
SHELLS = frozenset(name for name, row in WRAPPERS.items() if row is _SHELL)
# What these print may be run: by a shell that reads it, or by `$(…)` where a program is expected.
PRINTERS = frozenset(("echo", "printf"))
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_RUN_BY_CODE = re.compile(
    r"(?:system|popen|exec\w*|run|call|check_\w+|spawn\w*|getoutput)\s*\(\s*['\"]([^'\"]*)|"
    r"['\"]([^'\"]*)['\"]\s*\|\s*getline|\|\s*['\"]([^'\"]*)['\"]"
)


class Reader(NamedTuple):
    """Describe a program that reads the files which it is given: after so many other operands.

    One that `writes` may write any of them, too. A filter does nothing but print what it has read;
    `scripts` says of which scripts, its first operand, this is true.
    """

    options: str = ""
    operands: int = 0
    is_filter: bool = False
    scripts: str = ""
    writes: bool = False


_LINES = Reader("-n -c --lines --bytes", is_filter=True)
READERS = {
    "cat": Reader(is_filter=True), "head": _LINES, "tail": _LINES, "wc": Reader(is_filter=True),
    "ls": Reader("-I -w", is_filter=True), "nl": Reader("-b -s -w", is_filter=True),
    "tac": Reader(is_filter=True), "rev": Reader(is_filter=True), "cmp": Reader(is_filter=True),
    "cut": Reader("-d -f -c -b", is_filter=True), "column": Reader("-s -o -t", is_filter=True),
    "sort": Reader("-k -t -S", is_filter=True),
    "diff": Reader("-U -C -x -I", is_filter=True), "comm": Reader(is_filter=True),
    "grep": Reader("-e -m -A -B -C", 1, is_filter=True),
    "egrep": Reader("-e -m -A -B -C", 1, is_filter=True),
    "fgrep": Reader("-e -m -A -B -C", 1, is_filter=True),
    "jq": Reader("--indent", 1, is_filter=True, scripts=r"(?!.*(?:import|include)).*"),
    "sed": Reader("-e -l", 1, is_filter=True, scripts=r"[\d,$;+p ]+|s/[^/\n]*/[^/\n]*/[gpi\d]*"),
    "awk": Reader("-F -v", 1, is_filter=True, scripts=r"\{ *print(?: [$\w,. ]*)?\}"),
    "rg": Reader("-e -g -t -A -B -C -m", 1), "less": Reader(), "more": Reader(), "bat": Reader(),
    "od": Reader("-A -t -N"), "xxd": Reader("-s -l"), "hexdump": Reader("-n -e"),
    "strings": Reader("-n"), "base64": Reader("-w"), "source": Reader(), ".": Reader(),
    "cp": Reader("-t", writes=True), "mv": Reader("-t", writes=True),
    "ln": Reader("-t", writes=True), "tee": Reader(writes=True),
}  # fmt: skip
# Programs that change nothing, and read no file.
HARMLESS = {
    "true": ".*", "false": ".*", ":": ".*", "pwd": ".*", "echo": ".*", "printf": "(?!-v).*",
    "exit": ".*", "sleep": ".*", "wait": ".*", "test": r"(?!(?:.* )?-(?:eq|ne|lt|le|gt|ge|v)\b).*",
    "set": r"(?:[-+][eux]*o? ?|pipefail ?)+", "which": ".*", "whoami": "", "uname": "-.*",
    "tr": ".*", "basename": ".*", "dirname": ".*", "uniq": r"(?:-\S+(?: |$))*",
}  # fmt: skip
# Options by which a program runs another one, or writes a file, though it usually does neither. The
# row of `git *` is for what precedes the subcommand; one with "" is harmful without any option.
RISKS = {
    "git": "-c --config-env --exec-path",
    "git grep": "-O --open-files-in-pager",
    "git diff": "--output", "git log": "--output", "git show": "--output",
    "git range-diff": "--output", "git diff-tree": "--output", "git format-patch": "--output -o",
    "git archive": "--output -o --remote --exec",
    "git clone": "--upload-pack -u --config -c --template", "git init": "--template",
    "git fetch": "--upload-pack", "git pull": "--upload-pack", "git ls-remote": "--upload-pack",
    "git push": "--receive-pack --exec", "git rebase": "--exec -x",
    **{f"git {name}": "" for name in (
        "config", "bisect", "submodule", "filter-branch", "difftool", "mergetool", "send-email",
        "hook", "daemon", "instaweb", "web--browse", "credential", "maintenance")},
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls",
    "sort": "-o --output -T --temporary-directory --compress-program --files0-from",
    "wc": "--files0-from", "grep": "-f --file", "egrep": "-f --file", "fgrep": "-f --file",
    "sed": "-i --in-place -f --file", "awk": "-f -i -l -o -p -d -D -e --file --include --load",
    "jq": "-f --from-file --slurpfile --rawfile --argfile -L", "rg": "--pre --hostname-bin -f",
    "diff": "--to-file --from-file -X --exclude-from",
    "tar": "--to-command -I --use-compress-program --checkpoint-action --rsh-command -F",
}  # fmt: skip


_TEXT_OPTION = re.compile(r"-[a-zA-Z]*c|-v?S|--(?:command|split-string|call)", re.ASCII)
_ASSIGNMENT = re.compile(r"\w+\+?=", re.ASCII)
_CODE_RUNNERS = re.compile(r"[gmn]?awk|perl|python[\d.]*|ruby|node|php|lua")


def find_wrapper(words: Sequence[str]) -> tuple[Wrapper, int] | None:
    """Return the row of a program that runs another one, and after how many words it starts."""
    program = words[0].rpartition("/")[2]
    names = (" ".join([program, *words[1:count]]) for count in (3, 2, 1))
    return next(((WRAPPERS[name], len(name.split())) for name in names if name in WRAPPERS), None)


def list_wrapped(words: Sequence[str]) -> Iterator[list[str] | str]:
    """Yield what a command may run of its arguments: words, or a text for a shell."""
    if found := find_wrapper(words):
        at, texts = skip_options(words, *found)
        yield from texts
        if found[0].kind == "text":
            yield " ".join(words[at:])
        elif at < len(words) and found[0].kind == "words":
            yield list(words[at:])
    for at, word in enumerate(words):
        if word in _FIND_ACTIONS:
            yield [*words[at + 1 :]]
    if _CODE_RUNNERS.fullmatch(words[0].rpartition("/")[2]):
        for found_texts in _RUN_BY_CODE.findall(" ".join(words)):
            yield from filter(None, found_texts)


def skip_options(words: Sequence[str], wrapper: Wrapper, at: int) -> tuple[int, list[str]]:
    """Return where the command of a wrapper begins, and the texts of options that are commands."""
    with_value, operands, texts = wrapper.options.split(), wrapper.operands, list[str]()
    while at < len(words):
        name, sign, value = words[at].partition("=")
        if words[at].startswith("-"):
            if _TEXT_OPTION.fullmatch(name):
                texts.append(value if sign else " ".join(words[at + 1 : at + 2]))
            is_cluster = len(name) > 1 and name[1] != "-"
            at += not sign and (name in with_value or (is_cluster and f"-{name[-1]}" in with_value))
        elif _ASSIGNMENT.match(words[at]) is None and words[at] != "!":
            if not operands and wrapper.kind != "option":
                break
            operands -= 1
        at += 1
    return at, texts


def find_risks(words: Sequence[str]) -> set[str]:
    """Return the options and subcommands in a command by which a program may run or write more.

    "?" stands for an argument that may be such an option.
    """
    program, arguments = words[0], list(words[1:])
    if program != "git":
        return _find_risky_options(RISKS.get(program), arguments)
    at, _ = skip_options(words, _GIT, 1)
    risks = _find_risky_options(RISKS["git"], words[1:at])
    if at == len(words):
        return risks
    row = RISKS.get(f"git {words[at]}")
    return risks | ({words[at]} if row == "" else _find_risky_options(row, words[at + 1 :]))


_GIT = Wrapper("-C -c --git-dir --work-tree --namespace --config-env")


def _find_risky_options(row: str | None, arguments: Sequence[str]) -> set[str]:
    if row is None:
        return set()
    risks = set[str]()
    for word in arguments:
        if word == "--":
            break
        if UNKNOWN in word or word[:1] in ("*", "?", "[", UNKNOWN_TEXT):
            risks.add("?")
        risks.update(option for option in row.split() if _is_option(word, option))
    return risks


def _is_option(word: str, option: str) -> bool:
    """Return whether a word has an option: in short, with others, or a long one that is cut."""
    if option.startswith("--"):
        name = word.partition("=")[0]
        return len(name) > 2 and option.startswith(name)
    if len(option) > 2:
        return word == option
    return word.startswith("-") and not word.startswith("--") and option[1] in word


def list_operands(words: Sequence[str], reader: Reader) -> tuple[list[str], list[str]]:
    """Return the operands of a program that are no files, and the files."""
    operands, skips, ended = list[str](), False, False
    with_value = reader.options.split()
    for word in words[1:]:
        if skips:
            skips = False
        elif ended or not word.startswith("-") or word == "-":
            operands.append(word)
        else:
            ended, skips = word == "--", word in with_value
    count = 0 if "-e" in words else reader.operands
    return operands[:count], [operand for operand in operands[count:] if operand != "-"]
