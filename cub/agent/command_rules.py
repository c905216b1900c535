"""Compare command lines with the patterns of rules such as `Bash(git diff *)`.

A line is allowed if each simple command in it is, and denied if one may be. Both go by what the
shell would run: without quotes, and through programs that run others.
"""

from __future__ import annotations

import glob
import re
from collections import deque
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from pathlib import Path

from cub.agent.shell_commands import (
    ANY_UNKNOWN,
    CommandLine,
    FileUse,
    Redirection,
    ShellCommand,
    read_command_line,
)
from cub.agent.shell_programs import (
    COPIERS,
    FILTERS,
    HARMLESS,
    PRINTERS,
    SHELLS,
    WRITERS,
    Reader,
    find_bounded_command,
    find_options,
    find_risks,
    list_git_files,
    list_git_folders,
    list_inner_commands,
    list_operands,
    reads_by_git,
)
from cub.git.configured_programs import explain_configured_program

_MAX_DEPTH = 50  # of commands in commands
_MAX_WORDS = 20  # of a command in a line that can't be parsed
_MAX_FILES = 200  # of a pattern such as *.py
_MAX_WILD_PARTS = 2  # of a path: more of them may search the whole disk
_MAX_FOLDERS = 8
_NO_FILE = re.compile(r"/dev/(?:null|zero|stdin|stdout|stderr|fd/\d+)(?:/\.?\*)?")
_NEEDS_QUOTES = re.compile(r"[\s'\"\\]")
_KNOWN_FOLDER = re.compile(r"\$(?:\{?(HOME|PWD)\}?|\(pwd\))(?=\"?/)")
_NAME_IN_WORD = re.compile("[=@:,]")
_SCRIPT_OPTION = re.compile(r"-[nErz]+|-F\S*")
_RUNS_OUTPUT = frozenset(("xargs", "parallel", "eval", "source", ".", "at", "batch")) | SHELLS
# As far as a program has both.
_SAME_OPTIONS = {"--recursive": "-r", "-R": "-r", "--force": "-f", "--dir": "-d", "--delete": "-d"}


def matches_command(pattern: str, command: str) -> bool:
    """Return whether a command has the pattern's form; ` *` at its end is for no argument, too."""
    without = pattern.removesuffix(" *")
    return fnmatchcase(command, pattern) or (without != pattern and fnmatchcase(command, without))


def denies_command(pattern: str, text: str) -> bool:
    """Return whether a line, or a command that it may run, has the pattern's form."""
    return matches_command(pattern, text.strip()) or any(
        _matches_options(pattern, command)
        or any(matches_command(pattern, form) for form in _list_forms(command))
        for command in find_possible_commands(text).commands
    )


def list_possible_files(text: str, folder: Path) -> list[Redirection]:
    """Return the files that a line may open, as far as it names them."""
    text = _KNOWN_FOLDER.sub(lambda found: "~" if found[1] == "HOME" else ".", text)
    possible = find_possible_commands(text)
    return list(_resolve_files(possible.redirections, possible.commands, folder))


@lru_cache(maxsize=8)  # each rule asks
def find_possible_commands(text: str) -> CommandLine:
    """Return all that a line may run, also by `sudo`, `sh -c`, or a variable that is empty.

    The words of the commands are without what only the shell knows.
    """
    commands, files = list[ShellCommand](), list[Redirection]()
    waiting = deque[tuple[str | ShellCommand, int]]([(text, 0)])
    while waiting:
        part, depth = waiting.popleft()
        inner = list[str | ShellCommand]()
        if isinstance(part, str):
            line = read_command_line(part)
            files += line.redirections
            inner += [*line.commands, *_list_run_texts(line)]
            loose = line.loose_words
            commands += (ShellCommand(loose[at : at + _MAX_WORDS]) for at in range(len(loose)))
            files += (Redirection(word, "argument") for word in loose)
        elif words := tuple(filter(None, (ANY_UNKNOWN.sub("", word) for word in part.words))):
            commands.append(part._replace(words=words))
            files += _list_files(part)
            inner += list_inner_commands(words)
        if depth < _MAX_DEPTH:
            waiting.extend((one, depth + 1) for one in inner)
    return CommandLine(tuple(commands), tuple(files))


def only_reads(text: str, folder: Path) -> bool:
    """Return whether a line certainly changes nothing."""
    obstacle, files = find_coverage(text, (), folder)
    return not obstacle and not any(file.is_write for file in files)


def find_coverage(
    text: str, patterns: Sequence[str], folder: Path, *, guards_files: bool = False
) -> tuple[str, list[Redirection]]:
    """Return what keeps a line from being allowed, and the files that it opens.

    It is allowed if each of its commands is ruled or harmless. The files are for others to judge:
    those of its redirections, and those that a program names which only reads, even if a rule
    allows that program. With `guards_files`, one that reads a whole directory is not harmless.
    What a git that reads may run besides is for `explain_git_program`.
    """
    line = read_command_line(text)
    if not line.is_certain:
        return "cub can't determine what this command runs", []
    files = list(line.redirections)
    for command in line.commands:
        is_ruled = _is_ruled(command, patterns)
        if not is_ruled and not (
            reads_by_git(command, content=not guards_files)
            or (is_harmless(command) and not (guards_files and _reads_directory(command)))
        ):
            return f"{_name_part(command, line)} needs approval", []
        if not is_ruled or command.program in FILTERS.keys() - WRITERS:
            files += _list_files(command)
    if unknown := next((file for file in files if ANY_UNKNOWN.search(file.path)), None):
        use = "writes" if unknown.is_write else "reads"
        return f"cub can't determine which file it {use}", []
    return "", list(_resolve_files(files, line.commands, folder))


def explain_git_program(text: str, patterns: Sequence[str], folder: Path) -> str:
    """Return which git of a line needs a rule, though it reads: it may run another program."""
    line = read_command_line(text)
    by_git = [one for one in line.commands if reads_by_git(one) and not _is_ruled(one, patterns)]
    places = _list_folders(line.commands) if by_git else []
    reason = "cub can't determine where it runs" * (len(places) == _MAX_FOLDERS)
    reasons = (reason or explain_configured_program(folder / place) for place in places)
    found = next(filter(None, reasons), "")
    return f"{_name_part(by_git[0], line)} needs approval: {found}" if found else ""


def _name_part(command: ShellCommand, line: CommandLine) -> str:
    return f"`{command.source}`" if line.commands[1:] else "this command"


def is_harmless(command: ShellCommand) -> bool:
    """Return whether a command only prints, goes to a folder, or reads or makes files it names."""
    words, name = command.words, command.words[0]
    if command.assignments:
        return False
    if name == "test":  # the reader judges it in brackets
        return read_command_line(f"[{command.source[4:]} ]").is_certain
    if name in HARMLESS:
        return re.fullmatch(HARMLESS[name], " ".join(words[1:]), re.DOTALL) is not None
    if name == "cd":
        return len(words) == 2 and not ANY_UNKNOWN.search(words[1]) and words[1][:1] != "-"
    is_known = name in FILTERS and not any(map(ANY_UNKNOWN.search, words))
    if not is_known or find_risks(command) or find_options(words[1:], FILTERS[name].follows):
        return False
    scripts, _ = list_operands(words, FILTERS[name])
    options = (word for word in words[1:] if word.startswith("-"))
    return not FILTERS[name].scripts or (
        bool(scripts)
        and re.fullmatch(FILTERS[name].scripts, scripts[0], re.DOTALL) is not None
        and all(map(_SCRIPT_OPTION.fullmatch, options))
    )


def _is_ruled(command: ShellCommand, patterns: Sequence[str]) -> bool:
    """Return whether a rule allows a command, or the one that it only delays or bounds."""
    text = " ".join(map(_quote, (*command.assignments, *command.words)))
    risks = find_risks(command)
    for pattern in patterns:
        is_named = matches_command(pattern, text) and risks <= {*pattern.split()}
        if is_named or pattern == command.source:
            return True
    bounded = find_bounded_command(command)
    return bounded is not None and _is_ruled(bounded, patterns)


def _reads_directory(command: ShellCommand) -> bool:
    name = command.words[0]
    options = find_options(command.words[1:], "-r -d --recursive --directories")
    return name in ("rg", "diff") or (name.endswith("grep") and bool(options))


def _quote(word: str) -> str:
    """Return a word so that a blank in it does not make it two."""
    return word if word and not _NEEDS_QUOTES.search(word) else repr(word)


def _list_run_texts(line: CommandLine) -> Iterator[str]:
    """Yield the texts that a shell of the line may read as commands."""
    if not any(
        command.program in _RUNS_OUTPUT
        or ANY_UNKNOWN.match(command.words[0])
        or any(word in SHELLS for word in command.words)
        for command in line.commands
    ):
        return
    yield from line.inputs
    for command in line.commands:
        if command.program in PRINTERS:
            yield from (*command.words[1:], " ".join(command.words[1:]))
            yield " ".join(word for word in command.words[1:] if not word.startswith("-"))


def _list_forms(command: ShellCommand) -> Iterator[str]:
    """Yield how a command may be written in a rule: with or without its folder and assignments."""
    yield from (" ".join(command.words), " ".join([command.program, *command.words[1:]]))
    yield from (" ".join([*command.assignments, *command.words]), command.source)


def _matches_options(pattern: str, command: ShellCommand) -> bool:
    """Return whether a command has all options of a pattern, in any order and spelling."""
    options, operands = _split_options(pattern.split())
    if not options or any("*" in option for option in options):
        return False
    actual, rest = _split_options([command.program, *command.words[1:]])
    return options <= actual and matches_command(" ".join(operands), " ".join(rest))


def _split_options(words: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return the options, short ones as letters, and all other words."""
    options, rest = set[str](), list[str]()
    for word in words:
        if len(word) == 1 or not word.startswith("-"):
            rest.append(word)
        else:
            is_long = word.startswith("--") or len(word) > 5
            names = [word] if is_long else [f"-{letter}" for letter in word[1:]]
            options.update(_SAME_OPTIONS.get(name, name) for name in names)
    return options, rest


def _list_files(command: ShellCommand) -> Iterator[Redirection]:
    """Yield the files that a command names, by the tables of programs that read or write them.

    Of the arguments of all other programs, each may be the name of a file to read.
    """
    words, program = command.words, command.program
    reader = FILTERS.get(program)
    paths = list_operands(words, reader or Reader())[1]
    if not paths and (program in ("ls", "find", "tree", "du") or _reads_directory(command)):
        paths = ["."]
    if program in HARMLESS:  # they may list files
        paths = [one for one in paths if glob.has_magic(one) and not ANY_UNKNOWN.search(one)]
    if reader or program in (*COPIERS, *HARMLESS) or (program == "cd" and len(words) == 2):
        yield from (Redirection(path) for path in paths)
    if program == "diff":  # of two directories, it reads what is in both
        inside = (f"{path}/{one}" for path in paths for one in ("*", ".*"))
        yield from (Redirection(one) for one in inside)
    if program in WRITERS:  # of a directory, all that is in it
        use: FileUse = "append" if program in ("mkdir", "touch") else "write"
        yield from (Redirection(one, use) for path in paths for one in (path, f"{path}/*"))
    elif reader and find_risks(command) & {"-i", "--in-place", "-o", "--output"}:
        yield from (Redirection(path, "write") for path in paths)
    if program == "git":
        yield from map(Redirection, list_git_files(command))
    elif not (reader or program in COPIERS or is_harmless(command)):
        names = (name for word in words[1:] for name in _NAME_IN_WORD.split(word) if name)
        yield from (Redirection(name, "argument") for name in names)


def _resolve_files(
    files: Sequence[Redirection], commands: Sequence[ShellCommand], folder: Path
) -> Iterator[Redirection]:
    """Yield files from each folder to which the line may change, and what their patterns match."""
    folders = _list_folders(commands)
    for path, use in dict.fromkeys(files):
        if _NO_FILE.fullmatch(path):
            continue
        for name in dict.fromkeys(
            path if path.startswith(("/", "~")) else Path(one, path).as_posix() for one in folders
        ):
            yield Redirection(name, use)
            if sum(map(glob.has_magic, name.split("/"))) > _MAX_WILD_PARTS:
                yield Redirection("/", use)
            elif glob.has_magic(name):
                found = list(islice(glob.iglob(name, root_dir=folder), _MAX_FILES))  # noqa: PTH207 - as bash
                yield from (Redirection(one, use) for one in found)
                if len(found) == _MAX_FILES:  # what the others are is not known
                    yield Redirection("/", use)


def _list_folders(commands: Sequence[ShellCommand]) -> list[str]:
    """Return the folders, from that of the line, in which a command of it may run."""
    folders = [""]
    for command in commands:
        is_move = command.program == "cd" and len(command.words) == 2
        for move in [command.words[1]] if is_move else list_git_folders(command):
            folders += [Path(one, move).as_posix() for one in folders]
            folders = folders[:_MAX_FOLDERS]
    return folders
