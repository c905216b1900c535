"""Read a command line as bash does: its simple commands with their words, and the files they open.

A word has `UNKNOWN` where only the shell knows what is there, such as the value of a variable.
tree-sitter-bash is not bash: where both may differ, or a program might run that is not among the
commands, the line is not certain. What is read of it then is a guess, good enough to deny.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from cub.repomap.symbols.bounded_parser import is_nested_too_deep

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

FileUse = Literal["read", "append", "write", "argument"]
UNKNOWN = "\ue000"  # one word, several, or none
UNKNOWN_TEXT = "\ue002"  # a part of one word: it was in quotes
ANY_UNKNOWN = re.compile(f"[{UNKNOWN}{UNKNOWN_TEXT}]")
_QUOTED = "\ue001"  # in front of a character that quotes or a backslash have made an ordinary one
_EMPTY = "\ue003"  # a word, or a part of one, that is two quotes
_MAX_BYTES = 20_000
_MAX_WORDS = 64  # that braces make of one
# Nodes whose meaning is that of their parts.
_PLAIN_NODES = frozenset(
    ("program", "list", "pipeline", "redirected_statement", "negated_command", "subshell",
     "compound_statement", "if_statement", "elif_clause", "else_clause", "while_statement",
     "do_group", "case_statement", "case_item", "command", "command_name", "word",
     "number", "raw_string", "string", "string_content", "concatenation", "simple_expansion",
     "variable_name", "special_variable_name", "command_substitution", "process_substitution",
     "file_redirect", "file_descriptor", "heredoc_content", "heredoc_body", "heredoc_end",
     "extglob_pattern",
     "unary_expression", "binary_expression", "test_operator", "herestring_redirect")
)  # fmt: skip
# Tests that run nothing. Numbers are expressions, which may run a command, as in
# [[ 'a[$(rm x)]' -eq 0 ]]; so is what -v names, and in [ ] a variable or a pattern may be -v.
_WORD = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w./:@%+,~-]+)"""
_TEST = rf"(?:! )?(?:(?:-[a-uw-zGLNOS] )?{_WORD}|{_WORD} (?:!=|==?) {_WORD})"
_LONG_TEST = _TEST.replace('(?:"', r"(?:\$\w+|[\w.*?-]+|\"")
_CHECKED_NODES = {
    "expansion": re.compile(r"\$\{[A-Za-z_]\w*(?:(?::?[-+]|[%#/])[\w./ *-]*)?\}", re.ASCII),
    "arithmetic_expansion": re.compile(r"\$\(\([\d\s+*/()%<>-]*\)\)", re.ASCII),
    "ansi_c_string": re.compile(r"\$'(?:[^\\]|\\[nt'\\])*'"),
    "test_command": re.compile(
        rf"\[ {_TEST} \]|\[\[ {_LONG_TEST}(?: (?:&&|\|\|) {_LONG_TEST})* \]\]", re.DOTALL
    ),
    # Programs go by PATH, LD_PRELOAD, and the like; by none in small letters but the proxies.
    "variable_assignment": re.compile(r"(?!\w+_proxy)[a-z_][a-z0-9_]*=.*", re.DOTALL | re.ASCII),
    "for_statement": re.compile(r"for\s+(?!\w+_proxy)[a-z_][a-z0-9_]*\s.*", re.DOTALL | re.ASCII),
    "heredoc_redirect": re.compile(r"<<-?\s*(['\"]?)\w+\1(?!\w|['\"]|\\).*", re.DOTALL | re.ASCII),
    "heredoc_start": re.compile(r"(['\"]?)\w+\1", re.ASCII),
    "comment": re.compile("#.*"),
}
# What the grammar may read otherwise than bash: blanks, and a word that goes on in the next line.
_ODD_TEXT = re.compile(r"[^\S \t\n]|[\0-\x08\x0e-\x1f\x7f\ue000-\ue003]|[^ \t]\\\n|\\$")
_CONTINUATION = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
_BACKTICKS = re.compile("`([^`]*)`")  # the grammar has none in a here-document
_ASCII = bytes(code if code < 128 else ord("%") for code in range(256))
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_GAP_IN_COMMAND = re.compile(rb"(?:[ \t]|\\\n)*")
_GAPS = {
    "command": _GAP_IN_COMMAND,
    "file_redirect": _GAP_IN_COMMAND,
    **dict.fromkeys(("simple_expansion", "expansion", "concatenation"), re.compile(b"")),
}
_SPECIAL = re.compile(r"[][{},*?~ \t\n]")
_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPE_IN_STRING = re.compile(r'\\([\n$`"\\])')
_HEX = "[0-9a-fA-F]"
_ANSI_ESCAPE = re.compile(
    rf"\\(?:x({_HEX}{{1,2}})|u({_HEX}{{1,4}})|U({_HEX}{{1,8}})|([0-7]{{1,3}})|(.))", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "e": "\x1b", "E": "\x1b", "c": UNKNOWN}
_BRACES = re.compile(rf"(?<!{_QUOTED})\{{((?:{_QUOTED}.|[^{{}}{_QUOTED}])*)\}}", re.DOTALL)
_COMMA = re.compile(rf"(?<!{_QUOTED}),")
_RANGE = re.compile(r"\{[^{}]*\.\.[^{}]*\}")
_BLANK = re.compile(rf"(?<!{_QUOTED})[ \t\n]+")
_OPEN_OPTION = re.compile(rf"{_EMPTY}*(?:-[^=]*)?(?<!{_QUOTED})[*?\[]")
_LOOSE_WORD = re.compile(r"[^\s;&|(){},`<>'\"\\]+")


class ShellCommand(NamedTuple):
    """Hold a simple command: its words, the program first, and the assignments in front of it.

    `patterns` are the words that a file's name may make an option, as `*` or `-*`.
    """

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    source: str = ""
    patterns: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """Return the program's name without its folder."""
        return self.words[0].rpartition("/")[2]


class Redirection(NamedTuple):
    """Hold a file that a command line opens: by a redirection, or by a program.

    An "argument" is one of a program of which nothing is known; it may be no file at all.
    """

    path: str
    use: FileUse = "read"

    @property
    def is_write(self) -> bool:
        """Return whether the file is changed."""
        return self.use in ("append", "write")


class CommandLine(NamedTuple):
    """Hold all simple commands of a line, wherever they are, and the texts that they read.

    `loose_words` are all words of what can't be parsed: each of them may begin a command.
    """

    commands: tuple[ShellCommand, ...]
    redirections: tuple[Redirection, ...]
    inputs: tuple[str, ...] = ()
    loose_words: tuple[str, ...] = ()
    is_certain: bool = False


@lru_cache(maxsize=16)  # to deny and to allow
def read_command_line(text: str) -> CommandLine:
    """Return what a command line runs; of one that can't be parsed also its words."""
    is_certain = _ODD_TEXT.search(text) is None
    joined = text if is_certain else _CONTINUATION.sub(r"\1", text)
    data = joined.encode("utf-8", "surrogatepass")
    if len(data) > _MAX_BYTES or is_nested_too_deep(data):
        return CommandLine((), (), (), tuple(_LOOSE_WORD.findall(text[:_MAX_BYTES])))
    root = _parse(data)
    is_parsed = is_certain and not root.has_error
    reader = _TreeReader(data, is_parsed)
    reader.read_tree(root)
    loose_words = () if is_parsed and not reader.is_lost else _LOOSE_WORD.findall(joined)
    return CommandLine(
        tuple(reader.commands), tuple(reader.redirections), tuple(reader.inputs),
        tuple(loose_words), reader.is_certain,
    )  # fmt: skip


@cache
def _load_parser() -> Parser:
    from tree_sitter import Language, Parser
    from tree_sitter_bash import language

    return Parser(Language(language()))


def _parse(data: bytes) -> Node:
    """Return the tree of a command line.

    Beyond ASCII, the grammar's scanner asks C for the class of a character, and may crash. To bash,
    it is an ordinary one in a word.
    """
    return _load_parser().parse(data.translate(_ASCII)).root_node


@dataclass(slots=True)
class _TreeReader:
    """Collect what the nodes of a tree run and open."""

    data: bytes
    is_certain: bool
    is_lost: bool = False  # the grammar has left something out
    commands: list[ShellCommand] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    def read_tree(self, root: Node) -> None:
        """Take all nodes of a tree, in their order."""
        nodes = [root]
        while nodes:
            node = nodes.pop()
            self.read_node(node)
            nodes.extend(reversed(node.children))

    def read_node(self, node: Node) -> None:
        """Take one node, without those below it."""
        is_prefix = (
            node.type == "variable_assignment" and node.parent and node.parent.type == "command"
        )
        if node.is_named and node.type not in _PLAIN_NODES and not is_prefix:
            pattern = _CHECKED_NODES.get(node.type)
            self._require(pattern is not None and pattern.fullmatch(self._get_text(node)))
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                self._add_command(node)
            case "file_redirect":
                self._add_redirection(node)
            case "heredoc_body" | "herestring_redirect":
                self._add_input(node)
            case "heredoc_end":
                self._require(self.data[: node.start_byte].rpartition(b"\n")[2].strip(b"\t") == b"")
            case "comment":
                self._require(self.data[: node.start_byte][-1:] in (b"", b" ", b"\t", b"\n"))
            case "((" | "select" | "\r":
                self.is_certain = False
        if node.type not in ("string", "heredoc_body", "heredoc_redirect"):
            self._check_gaps(node)

    def _require(self, condition: object) -> None:
        self.is_certain = self.is_certain and bool(condition)

    def _check_gaps(self, node: Node) -> None:
        """Require that the grammar has skipped nothing but blanks."""
        pattern = _GAPS.get(node.type, _GAP)
        end = node.start_byte
        for child in node.children:
            if not pattern.fullmatch(self.data, end, child.start_byte):
                self.is_lost, self.is_certain = True, False
            end = child.end_byte

    def _get_text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _add_command(self, node: Node) -> None:
        assignments, marked, end = list[str](), list[str](), -1
        for child in node.children:
            if child.type.endswith("_redirect"):
                continue
            text = self._read_word(child)
            if child.type == "variable_assignment" and not marked:
                assignments.append(text.replace(_QUOTED, ""))
            elif marked and child.start_byte == end:  # "$" and a string after it
                self.is_certain = False
                marked[-1] += text
            else:
                marked.append(text)
            end = child.end_byte
        expanded = [word for text in marked for word in self._expand(text)]
        if expanded:
            words = tuple(map(_unmark, expanded))
            patterns = tuple(_unmark(word) for word in expanded if _OPEN_OPTION.match(word))
            source = self._get_text(node)
            self.commands.append(ShellCommand(words, tuple(assignments), source, patterns))

    def _add_redirection(self, node: Node) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        target = node.child_by_field_name("destination")
        words = self._expand(self._read_word(target)) if target else []
        self._require(len(words) == 1)
        for word in map(_unmark, words):
            if not operator.endswith("&") or not re.fullmatch(r"\d+|\d*-", word):
                use: FileUse = (
                    "read" if operator == "<" else "append" if ">>" in operator else "write"
                )
                self.redirections.append(Redirection(word, use))

    def _add_input(self, node: Node) -> None:
        text = self._get_text(node)
        if node.type == "herestring_redirect":
            text = " ".join(map(_unmark, self._expand(self._read_word(node.children[-1]))))
        else:  # bash ends the text at the first such line, whatever quotes are before it
            siblings = node.parent.children if node.parent else []
            starts = (one for one in siblings if one.type == "heredoc_start")
            start = next(map(self._get_text, starts), "")
            name = start.strip("'\"")
            self._require(all(line.lstrip("\t") != name for line in text.split("\n")))
            self._require(self.data.count(b"<<") == 1)
            if name == start and (found := _BACKTICKS.findall(text)):
                self.is_certain = False
                self.commands += (ShellCommand(("eval", one)) for one in found)
        self.inputs.append(text)

    def _read_word(self, node: Node) -> str:
        """Return a word without its quotes; special characters that were in them are marked."""
        text = self._get_text(node)
        word = text
        match node.type:
            case "raw_string":
                word = _mark(text[1:-1])
            case "ansi_c_string":
                word = _mark(_ANSI_ESCAPE.sub(_decode_ansi, text[2:-1]))
            case "string" | "translated_string":
                word = self._read_string(node)
            case "simple_expansion" | "expansion" if text in ("$IFS", "${IFS}"):
                word = " "
            case "word" | "number" | "variable_name" | "test_operator" | "extglob_pattern":
                word = _ESCAPE.sub(_mark_escape, text)
            case "process_substitution":
                word = "/dev/fd/63"
            case "command_name" | "concatenation" | "variable_assignment":
                word = "".join(map(self._read_word, node.children))
            case _ if node.is_named:
                self._require(node.type.endswith(("expansion", "command_substitution")))
                word = UNKNOWN
        return word

    def _read_string(self, node: Node) -> str:
        """Return what is in double quotes, with `UNKNOWN_TEXT` for each expansion."""
        start = self.data.index(b'"', node.start_byte) + 1
        parts = list[str]()
        for child in node.children:
            if child.type.endswith(("expansion", "substitution")):
                parts.append(self.data[start : child.start_byte].decode("utf-8", "replace"))
                start = child.end_byte
        parts.append(self.data[start : node.end_byte - 1].decode("utf-8", "replace"))
        return UNKNOWN_TEXT.join(
            _mark(_ESCAPE_IN_STRING.sub(lambda found: found[1].strip("\n"), part)) for part in parts
        )

    def _expand(self, marked: str) -> list[str]:
        """Return the marked words that a shell makes of one: by braces, and blanks of $IFS."""
        done, waiting = list[str](), [marked]
        while waiting and len(done) + len(waiting) <= _MAX_WORDS:
            text = waiting.pop(0)
            found = next((m for m in _BRACES.finditer(text) if _COMMA.search(m[1])), None)
            if found is None:
                done.append(text)
            else:
                choices = _COMMA.split(found[1])
                waiting = [
                    text[: found.start()] + c + text[found.end() :] for c in choices
                ] + waiting
        self._require(not waiting)
        self._require(not _RANGE.search(marked))
        texts = dict.fromkeys((*done, *waiting))
        return [part for text in texts for part in _BLANK.split(text) if part]


def _mark(text: str) -> str:
    """Return a text that was in quotes, even if it is empty, with its special characters marked."""
    return _SPECIAL.sub(rf"{_QUOTED}\g<0>", text) or _EMPTY


def _mark_escape(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else _QUOTED + found[1]


def _unmark(marked: str) -> str:
    """Return a word as a program gets it; of another user's home directory, only the rest."""
    if re.match(r"~[^/]", marked):
        marked = UNKNOWN + marked
    return marked.replace(_QUOTED, "").replace(_EMPTY, "")


def _decode_ansi(found: re.Match[str]) -> str:
    if found[5]:
        return _ANSI_LETTERS.get(found[5], found[5])
    code = int(found[4], 8) if found[4] else int(found[found.lastindex or 0], 16)
    return chr(code) if 0 < code < 128 else UNKNOWN_TEXT
