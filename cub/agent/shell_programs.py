"""Hold what rules know of programs: which run others, read files, or do harm by an option.

The tables are no list of all programs. One that is missing is judged by its own name alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from cub.agent.shell_commands import ANY_UNKNOWN, UNKNOWN, UNKNOWN_TEXT, ShellCommand

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"))
# They run a text, which may be any of their arguments, or all of them together.
_TEXT_RUNNERS = SHELLS | {"eval", "trap", "su", "script", "hyperfine"}
# They run a command that follows.
_RUNNERS = frozenset(
    ("time", "nice", "ionice", "nohup", "stdbuf", "setsid", "command", "xargs", "!", "builtin",
     "coproc", "exec", "env", "sudo", "doas", "runuser", "pkexec", "prlimit", "busybox", "toybox",
     "fakeroot", "unshare", "nsenter", "bwrap", "strace", "ltrace", "valgrind", "gdb", "unbuffer",
     "rlwrap", "systemd-run", "dbus-run-session", "caffeinate", "entr", "parallel", "watch", "npx",
     "bunx", "uvx", "timeout", "flock", "chroot", "taskset", "chrt", "setarch", "ssh")
)  # fmt: skip
# So do these subcommands, of whatever program: `uv run`, `docker compose exec`, `git bisect run`.
_RUNNING_WORDS = frozenset(("run", "exec", "x", "dlx", "foreach"))
# Programs whose command comes after an operand, such as a time or a container.
_WITH_OPERAND = frozenset(
    ("timeout", "flock", "chroot", "taskset", "chrt", "setarch", "ssh", "docker", "podman",
     "kubectl")
)  # fmt: skip
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
_STRING_IN_CODE = re.compile(r"['\"`]([^'\"`]+)")
_TEXT = re.compile(r"[\s;&|<>()$`]")
_OPTION_NAME = re.compile(r"--[^=]*=?|-\w?")
_VALUE = re.compile("=!?")
_UNKNOWN_NAME = re.compile(rf"(?:-[^=]*)?{UNKNOWN_TEXT}")
_MAY_TAKE_VALUE = re.compile(r"-(?!-$)[^=]+", re.DOTALL)
_ASSIGNMENT = re.compile(r"\w+\+?=", re.ASCII)
_PATTERN_OPTION = re.compile("-\\w*e|--(?:reg|file)")


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
# They do nothing but print what they read, or make what they are given.
FILTERS = {
    **dict.fromkeys(
        ("cat", "wc", "ls", "tac", "rev", "cmp", "comm", "od", "file", "md5sum", "sha256sum",
         "realpath", "readlink"), Reader()),
    "head": _LINES, "tail": _LINES, "nl": Reader("-b -s -w"), "cut": Reader("-d -f -c -b"),
    "column": Reader("-s -o"), "sort": Reader("-k -t -S"), "paste": Reader("-d"),
    "stat": Reader("-c"), "mkdir": Reader("-m"), "touch": Reader("-d -t"),
    "du": Reader("-d", follows="-L -D -H --dereference"), "tree": Reader("-L", follows="-l"),
    "diff": Reader("-U -C -x -I", follows="-r --recursive"),
    "grep": _GREP, "egrep": _GREP, "fgrep": _GREP,
    "rg": Reader("-e -g -t -A -B -C -m", 1, follows="-L --follow"),
    "find": Reader("-name -iname -path -ipath -regex -iregex -newermt",
                   follows="-L -H -follow -files0-from"),
    "jq": Reader("--indent", 1, r"(?!.*(?:import|include)).*"),
    "sed": Reader("-e -l", 1, r"(?:[\d,$;+p ]|/[^][/\n\\]*/)+|s/[^/\n]*/[^/\n]*/[gpi\d]*"),
    "awk": Reader(
        "-F -v", 1, r"(?:NR ?[<>=!]=? ?\d+(?: ?&& ?)?)* ?(?:\{ *print(?: [$\w,. ]*)?\})?"),
}  # fmt: skip
COPIERS = frozenset(("cp", "mv", "ln", "install", "rsync"))
WRITERS = COPIERS.union(
    ("tee", "rm", "rmdir", "unlink", "shred", "truncate", "touch", "mkdir", "chmod", "chown",
     "patch")
)  # fmt: skip
# Programs that change nothing, and read no file.
HARMLESS = {
    "true": ".*", "false": ".*", ":": ".*", "pwd": ".*", "echo": ".*",
    "printf": f"(?!-v|[{UNKNOWN}{UNKNOWN_TEXT}]).*",
    "exit": ".*", "sleep": ".*", "seq": ".*", "id": "", "wait": r"[%\d ]*",
    "set": r"(?:[-+][eux]*o? ?|pipefail ?)+", "which": ".*", "whoami": "", "uname": "-.*",
    "tr": ".*", "basename": ".*", "dirname": ".*", "uniq": r"(?:-\S+(?: |$))*",
    "command": "-[vV] .*", "type": ".*", "date": rf"(?:\+(?:(?! -)[^{UNKNOWN}])*)?",
}  # fmt: skip
# Subcommands of git that change nothing, with these arguments. Those in _GIT_CONTENT print files.
_READING_GIT = {
    **dict.fromkeys(
        ("status", "diff", "log", "show", "grep", "cat-file", "ls-files", "ls-tree",
         "rev-parse", "rev-list", "merge-base", "describe", "name-rev", "shortlog"), ".*"),
    "branch": r"(?:(?:-[avrl]+|--(?:all|remotes|verbose|list|show-current))(?: |$))*",
    "blame": r"(?!(?:.* )?-\w*S).*",  # it prints the lines of that file as errors
    "tag": r"(?:(?:-l|--list)(?: [^-]\S*)*)?", "remote": r"(?:-v|--verbose|get-url \S+)?",
    "stash": "(?:list|show)(?: .*)?", "reflog": "(?:show(?: .*)?)?", "worktree": "list",
}  # fmt: skip
_GIT_CONTENT = frozenset(("diff", "log", "show", "blame", "grep", "cat-file", "stash", "reflog"))
_GIT_FILES = "--no-index --contents --ignore-revs-file"  # they read any file
_OUTSIDE = re.compile(r"[/~]|(?:.*/)?\.\.(?:/|$)")
# Options by which a program runs another one, or writes a file, though it usually does neither. The
# row of git is for all of its subcommands.
RISKS = {
    "git": "--config-env --exec-path --config --exec --extcmd --open-files-in-pager --output "
           "--output-directory --receive-pack --remote --template --upload-pack",
    **dict.fromkeys(
        ("git diff", "git log", "git show", "git diff-tree", "git range-diff", "git init",
         "git pull", "git fetch", "git push", "git ls-remote"), "--output"),
    "git archive": "-o", "git clone": "-c -u", "git format-patch": "-o", "git grep": "-O",
    "git rebase": "-x",
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls",
    "file": "-C --compile -m --magic-file -f --files-from", "tree": "-o -R --fromfile",
    "du": "--files0-from -X --exclude-from",
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
     "credential", "hook", "daemon", "instaweb", "maintenance")
)  # fmt: skip


def list_inner_commands(words: tuple[str, ...]) -> Iterator[ShellCommand | str]:
    """Yield what a command may run of its arguments: a command, or a text for a shell."""
    program, arguments = words[0].rpartition("/")[2], words[1:]
    is_runner = program in _RUNNERS
    for at in (1, 2):
        if not is_runner and words[at : at + 1] and words[at] in _RUNNING_WORDS:
            is_runner, arguments = True, words[at + 1 :]
    if is_runner or program in _TEXT_RUNNERS:
        yield from (_OPTION_NAME.sub("", word) for word in arguments if word.startswith("-"))
    if program in _TEXT_RUNNERS:
        yield from (*arguments, " ".join(arguments))
    elif is_runner:
        for at in _find_starts(arguments, int(program in _WITH_OPERAND)):
            yield ShellCommand(arguments[at:])
            if _TEXT.search(arguments[at]):
                yield arguments[at]
    yield from _list_commands_of_options(words)


def _list_commands_of_options(words: tuple[str, ...]) -> Iterator[ShellCommand | str]:
    """Yield what a program may run that usually does something else, and strings in code."""
    for at, word in enumerate(words):
        if word in _FIND_ACTIONS:
            yield ShellCommand(words[at + 1 :])
    if find_risks(ShellCommand(words)):
        yield from (part for word in words[1:] if " " in word for part in _VALUE.split(word))
    if _CODE_RUNNERS.fullmatch(words[0].rpartition("/")[2]):
        yield from _STRING_IN_CODE.findall(" ".join(words))


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


def find_bounded_command(command: ShellCommand) -> ShellCommand | None:
    """Return what a program such as `timeout` runs; None if it does more than to bound that."""
    found = _BOUND.match(" ".join(command.words))
    count = found[0].count(" ") if found else 0
    start, words = command.words[:count], command.words[count:]
    if not found or command.assignments or tuple(found[0].split()) != start:
        return None
    return command._replace(words=(*words, UNKNOWN) if start[0] == "xargs" else words)


def find_risks(command: ShellCommand) -> set[str]:
    """Return the options and subcommands in a command by which a program may run or write more.

    "?" stands for an argument that may be such an option.
    """
    words = command.words
    if words[0] != "git":
        return find_options(words[1:], RISKS.get(words[0], ""), command.patterns)
    at = _find_subcommand(words)
    own = RISKS.get(" ".join(["git", *words[at : at + 1]]), "")
    after = find_options(words[at + 1 :], f"{RISKS['git']} {own}", command.patterns)
    if not own:  # an argument that may be any option is none of these
        after.discard("?")
    before = find_options(words[1 : at + 1], f"{RISKS['git']} -c", command.patterns)
    return before | after | _GIT_RUNNERS.intersection(words[at : at + 1])


def _find_subcommand(words: Sequence[str]) -> int:
    """Return the place of a git's subcommand, which may be behind the end."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _GIT_VALUES else 1
    return at


def reads_by_git(command: ShellCommand, *, content: bool = True) -> bool:
    """Return whether a git only reads, unless the repository names a program; no `content`, too."""
    words, at = command.words, _find_subcommand(command.words)
    name = "".join(words[at : at + 1])
    is_known = words[0] == "git" and name in _READING_GIT and not command.assignments
    if not is_known or (name in _GIT_CONTENT and not content) or find_risks(command):
        return False
    options = {*words[1:at]} - {"--no-pager", "-P", "-C", *list_git_folders(command)}
    return (
        not options
        and not any(map(ANY_UNKNOWN.search, words))
        and not find_options(words[at + 1 :], _GIT_FILES, command.patterns)
        and re.fullmatch(_READING_GIT[name], " ".join(words[at + 1 :]), re.DOTALL) is not None
    )


def list_git_folders(command: ShellCommand) -> list[str]:
    """Return where `-C` leads a git."""
    words = command.words[: _find_subcommand(command.words)]
    return [word for option, word in pairwise(words) if option == "-C" and words[0] == "git"]


def list_git_files(command: ShellCommand) -> Iterator[str]:
    """Yield the paths of a git that may lead out of the work tree: it compares such files, too."""
    yield from list_git_folders(command)
    for word in command.words[_find_subcommand(command.words) + 1 :]:
        if _OUTSIDE.match(word):
            yield word


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
    count = 0 if any(map(_PATTERN_OPTION.match, words)) else reader.operands
    return operands[:count], [operand for operand in operands[count:] if operand != "-"]
