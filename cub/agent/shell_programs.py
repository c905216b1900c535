"""Hold what rules know of programs: which run others, read files, or do harm by an option.

The tables are no list of all programs. One that is missing is judged by its own name alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from cub.agent.shell_commands import UNKNOWN, UNKNOWN_TEXT, ShellCommand

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"))
# They run a text, which may be any of their arguments, or all of them together.
_TEXT_RUNNERS = SHELLS | {"eval", "trap", "su", "script", "hyperfine"}
# They run a command that follows so many operands of their own.
_RUNNERS = {
    **dict.fromkeys(
        ("time", "nice", "ionice", "nohup", "stdbuf", "setsid", "command", "xargs", "!", "builtin",
         "coproc", "exec", "env", "sudo", "doas", "runuser", "pkexec", "prlimit", "busybox",
         "toybox", "fakeroot", "unshare", "nsenter", "bwrap", "strace", "ltrace", "valgrind", "gdb",
         "unbuffer", "rlwrap", "systemd-run", "dbus-run-session", "caffeinate", "entr", "parallel",
         "watch", "npx", "bunx", "uvx", "npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn exec",
         "yarn dlx", "uv run", "uv tool run", "pipx run", "poetry run", "pdm run", "hatch run",
         "bundle exec", "git bisect run", "git submodule foreach"), 0),
    **dict.fromkeys(("timeout", "flock", "chroot", "taskset", "chrt", "setarch"), 1),
}  # fmt: skip
# Those of them that change only when a command runs, or with how much of the machine.
_BOUND = re.compile(
    r"(?:time(?: -p)?|nice(?: -n -?\d+| -\d+)?|ionice(?: -[cn] \d)*|nohup|setsid|command|"
    r"timeout(?: -[ks] \w+| --(?:kill-after|signal)=\w+| --preserve-status| --foreground)*"
    r" [\d.]+[smhd]?|"
    r"stdbuf(?: -[ioe] ?\w+)+|"
    r"xargs(?: -[0rt]+| --no-run-if-empty| -[nPL] ?\d+| -[Id] ?[\w{}%@,;:\\]+)*) (?!-)"
)
# What these print may be run: by a shell that reads it, or by `$(…)` where a program is expected.
PRINTERS = frozenset(("echo", "printf"))
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_CODE_RUNNERS = re.compile(r"[gmn]?awk|perl|python[\d.]*|ruby|node|php|lua")
_RUN_BY_CODE = re.compile(
    r"(?:system|popen|exec\w*|run|call|check_\w+|spawn\w*|getoutput)\s*\(\s*['\"]([^'\"]*)|"
    r"['\"]([^'\"]*)['\"]\s*\|\s*getline|\|\s*['\"]([^'\"]*)['\"]"
)
_TEXT = re.compile(r"[\s;&|<>()$`]")
_UNKNOWN_NAME = re.compile(rf"(?:-[^=]*)?{UNKNOWN_TEXT}")
_MAY_TAKE_VALUE = re.compile(r"-(?!-$)[^=]+", re.DOTALL)
_ASSIGNMENT = re.compile(r"\w+\+?=", re.ASCII)


class Reader(NamedTuple):
    """Describe a program that reads the files which it is given, after so many other operands.

    `options` take the next word as their value. Of a filter, `scripts` says of which scripts, its
    first operand, it does nothing but print; by the options `follows`, it goes where links lead.
    """

    options: str = ""
    operands: int = 0
    scripts: str = ""
    follows: str = ""


_LINES = Reader("-n -c --lines --bytes")
_GREP = Reader("-e -m -A -B -C", 1, follows="-R --dereference-recursive")
# They do nothing but print what they read.
FILTERS = {
    "cat": Reader(), "head": _LINES, "tail": _LINES, "wc": Reader(), "ls": Reader("-I -w"),
    "nl": Reader("-b -s -w"), "tac": Reader(), "rev": Reader(), "cmp": Reader(),
    "cut": Reader("-d -f -c -b"), "column": Reader("-s -o -t"), "sort": Reader("-k -t -S"),
    "comm": Reader(), "diff": Reader("-U -C -x -I", follows="-r --recursive"),
    "grep": _GREP, "egrep": _GREP, "fgrep": _GREP,
    "rg": Reader("-e -g -t -A -B -C -m", 1, follows="-L --follow"),
    "find": Reader("-name -iname -path -ipath -regex -iregex -newermt",
                   follows="-L -H -follow -files0-from"),
    "jq": Reader("--indent", 1, r"(?!.*(?:import|include)).*"),
    "sed": Reader("-e -l", 1, r"[\d,$;+p ]+|s/[^/\n]*/[^/\n]*/[gpi\d]*"),
    "awk": Reader("-F -v", 1, r"\{ *print(?: [$\w,. ]*)?\}"),
}  # fmt: skip
WRITERS = frozenset(("cp", "mv", "ln", "tee"))  # to any file that they name
READERS = {
    **FILTERS,
    **dict.fromkeys(("less", "more", "bat", "source", "."), Reader()),
    **dict.fromkeys(WRITERS, Reader("-t")),
    "od": Reader("-A -t -N"), "xxd": Reader("-s -l"), "hexdump": Reader("-n -e"),
    "strings": Reader("-n"), "base64": Reader("-w"),
}  # fmt: skip
# Numbers, and what -v names, are expressions that may run a command; a variable may be `-v`.
_SAFE_TEST = (
    rf"(?!(?:.* )?-(?:eq|ne|lt|le|gt|ge|v)\b)(?!.*{UNKNOWN})"
    rf"(?!(?:.* )?[^ ]*{UNKNOWN_TEXT}[^ ]* (?!!?=|-\w)).*"
)
# Programs that change nothing, and read no file.
HARMLESS = {
    "true": ".*", "false": ".*", ":": ".*", "pwd": ".*", "echo": ".*",
    "printf": f"(?!-v|[{UNKNOWN}{UNKNOWN_TEXT}]).*",
    "exit": ".*", "sleep": ".*", "wait": r"[%\d ]*", "test": _SAFE_TEST,
    "set": r"(?:[-+][eux]*o? ?|pipefail ?)+", "which": ".*", "whoami": "", "uname": "-.*",
    "tr": ".*", "basename": ".*", "dirname": ".*", "uniq": r"(?:-\S+(?: |$))*",
    "command": "-[vV] .*", "type": ".*", "date": rf"(?:\+(?:(?! -)[^{UNKNOWN}])*)?",
}  # fmt: skip
# Options by which a program runs another one, or writes a file, though it usually does neither. The
# row of git is for what precedes the subcommand.
RISKS = {
    "git": "-c --config-env --exec-path",
    "git grep": "-O --open-files-in-pager",
    "git diff": "--output", "git log": "--output", "git show": "--output",
    "git range-diff": "--output", "git diff-tree": "--output", "git format-patch": "--output -o",
    "git archive": "--output -o --remote --exec",
    "git clone": "--upload-pack -u --config -c --template", "git init": "--template",
    "git fetch": "--upload-pack", "git pull": "--upload-pack", "git ls-remote": "--upload-pack",
    "git push": "--receive-pack --exec", "git rebase": "--exec -x",
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls",
    "sort": "-o --output -T --temporary-directory --compress-program --files0-from",
    "wc": "--files0-from", "grep": "-f --file", "egrep": "-f --file", "fgrep": "-f --file",
    "sed": "-i --in-place -f --file", "awk": "-f -i -l -o -p -d -D -e --file --include --load",
    "jq": "-f --from-file --slurpfile --rawfile --argfile -L",
    "rg": "--pre --hostname-bin -f --file -z --search-zip",
    "diff": "--to-file --from-file -X --exclude-from",
    "tar": "--to-command -I --use-compress-program --checkpoint-action --rsh-command -F",
}  # fmt: skip
_GIT_VALUES = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"))
_GIT_RUNNERS = frozenset(
    ("config", "bisect", "submodule", "filter-branch", "difftool", "mergetool", "send-email",
     "hook", "daemon", "instaweb", "web--browse", "credential", "maintenance")
)  # fmt: skip


def find_runner(words: Sequence[str]) -> str:
    """Return the name of a program that runs another one, with its subcommands; "" for others."""
    program = words[0].rpartition("/")[2]
    names = (" ".join([program, *words[1:count]]) for count in (3, 2, 1))
    return next((name for name in names if name in _RUNNERS or name in _TEXT_RUNNERS), "")


def list_inner_commands(words: tuple[str, ...]) -> Iterator[ShellCommand | str]:
    """Yield what a command may run of its arguments: a command, or a text for a shell."""
    runner = find_runner(words)
    arguments = words[len(runner.split()) :] if runner else ()
    yield from (word.partition("=")[2] for word in arguments if word.startswith("--"))
    if runner in _TEXT_RUNNERS:
        yield from (*arguments, " ".join(arguments))
    else:
        for at in _find_starts(arguments, _RUNNERS.get(runner, 0)):
            yield ShellCommand(arguments[at:])
            if _TEXT.search(arguments[at]):
                yield arguments[at]
    for at, word in enumerate(words):
        if word in _FIND_ACTIONS:
            yield ShellCommand(words[at + 1 :])
    if _CODE_RUNNERS.fullmatch(words[0].rpartition("/")[2]):
        for found in _RUN_BY_CODE.findall(" ".join(words)):
            yield from found


def _find_starts(arguments: Sequence[str], operands: int) -> Iterator[int]:
    """Yield where a command may begin: any option before it may have a word as its value."""
    before = ""
    for at, word in enumerate(arguments):
        if not word.startswith("-") and not _ASSIGNMENT.match(word):
            yield at
            operands -= not _MAY_TAKE_VALUE.fullmatch(before)
            if operands < 0:
                return
        before = word


def find_bounded_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a program such as `timeout` runs; () if it does more than to bound that."""
    found = _BOUND.match(" ".join(words))
    count = found[0].count(" ") if found else 0
    return words[count:] if found and found[0].split() == [*words[:count]] else ()


def find_risks(command: ShellCommand) -> set[str]:
    """Return the options and subcommands in a command by which a program may run or write more.

    "?" stands for an argument that may be such an option.
    """
    words, at = command.words, 1
    if words[0] != "git":
        return find_options(words[1:], RISKS.get(words[0], ""), command.patterns)
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUES else 1
    row = RISKS.get(" ".join(["git", *words[at : at + 1]]), "")
    risks = find_options(words[1 : at + 1], RISKS["git"], command.patterns)
    risks |= find_options(words[at + 1 :], row, command.patterns)
    return risks.union(_GIT_RUNNERS.intersection(words[at : at + 1]))


def find_options(words: Sequence[str], row: str, patterns: Collection[str] = ()) -> set[str]:
    """Return which options of a row are in words, "?" for what the shell may make one of them."""
    found = set[str]()
    for word in takewhile(lambda one: row and one != "--", words):
        if UNKNOWN in word or _UNKNOWN_NAME.match(word) or word in patterns:
            found.add("?")
        found.update(option for option in row.split() if _is_option(word, option))
    return found


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
