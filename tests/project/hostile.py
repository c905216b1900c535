"""Configurations that somebody sends to hurt, or that an accident leaves; and what cub says."""

from __future__ import annotations

BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n".encode()
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = b"a: &a {x: 1}\n" + b"".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}], {name}: 1}}\n".encode()
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
# Few values, but more levels than a function can call itself.
CHAIN = b"a0: &a0 [x]\n" + b"".join(
    f"a{n}: &a{n} {'[' * 28}*a{n - 1}{']' * 28}\n".encode() for n in range(1, 26)
)
CONFLICT = (
    b"schema: 1\n<<<<<<< HEAD\nplacement: top\n||||||| base\n=======\nplacement: bottom\n"
    b">>>>>>> theirs\n"
)

# What stands behind `error: .cub/config.yaml`.
HOSTILE: dict[str, tuple[bytes, str]] = {
    "a bomb of aliases": (BOMB, ":5:8: up to this line, the file has more than 10,000 values"),
    "a bomb of merges": (
        MERGE_BOMB,
        ":5:21: up to this line, the file has more than",
    ),
    "a chain of aliases": (CHAIN, ":3:37: nested more than 32 levels deep"),
    "a chain of aliased keys": (
        CHAIN.replace(b"[x]", b"{x: 1}").replace(b"[", b"{k: ").replace(b"]", b"}"),
        ":3:121: nested more than 32 levels deep",
    ),
    "an alias in itself": (
        b"a: &a [b, *a]\n",
        ":1:11: the alias *a is inside",
    ),
    "a mapping in itself": (b"a: &a {b: *a}\n", ":1:11: the alias *a is inside"),
    "an alias of nothing": (b"a: *b\n", ":1:4: the alias *b has no anchor before it"),
    "open brackets": (b"a: " + b"[" * 60_000, ":1:35: nested more than 32 levels deep"),
    "open braces": (b"{a: " * 15_000, ":1:129: nested more than 32 levels deep"),
    "dashes": (b"- " * 30_000, ":1:65: nested more than 32 levels deep"),
    "deep mappings": (
        b"".join(b" " * depth + b"a:\n" for depth in range(300)),
        ":33:33: nested more than 32 levels deep",
    ),
    "question marks": (b"? " * 30_000, ":1:3: a key must be a string"),
    "10 MB": (b"a: 1\n" * 2_000_000, ":1:1: this file has 10,000,000 bytes; cub reads at most"),
    "many values": (
        b"a: [" + b"1," * 32_000 + b"]",
        ":1:19999: up to this line, the file has",
    ),
    "a tab for an indent": (b"run:\n\tmodel: x\n", ":2:1: a tab is not allowed here"),
    "a tab behind a colon": (b"placement:\ttop\n", ":1:11: a tab is not allowed here"),
    "a key twice": (b"a: 1\nb: 2\na: 3\n", ":3:1: the key 'a' is already on line 1"),
    "a key inside twice": (b"x:\n  a: 1\n  'a': 3\n", ":3:3: the key 'a' is already on line 2"),
    "a merge": (CONFLICT, ":2:1: this line is a git conflict marker (others: line 4, 5, 7)"),
    "half a merge": (b"a: 1\r\n=======\r\nb: 1\r\n", ":2:1: this line is a git conflict marker"),
    "a tag": (b"a: !!python/object:os.system ls\n", ":1:4: tags such as !!python/object:os.system"),
    "a tag of one's own": (b"a: &x !b {c: 1}\n", ":1:4: tags such as !b are not supported"),
    "another YAML": (b"%YAML 1.1\n---\na: yes\n", ":2:1: cub reads only YAML 1.2"),
    "two documents": (b"a: 1\n---\nb: 1\n", ":2:1: a second document starts here"),
    "a list": (b"- a\n", ":1:1: expected a mapping of keys to values"),
    "words": (b"# c\njust words\n", ":2:1: expected a mapping of keys to values"),
    "a number": (b"3\n", ":1:1: expected a mapping of keys to values"),
    "8 bits": (b"a: 1\nb: caf\xe9\n", ":2:7: byte 0xe9 is not UTF-8"),
    "NUL": (b"a: 1\r\nb: \0\n", ":2:4: U+0000 is not allowed in a text file"),
    "BEL": (b"a: \x07\n", ":1:4: U+0007 is not allowed in a text file"),
    "16 bits": ("a: 1\n".encode("utf-16"), ":1:1: this file is UTF-16 or UTF-32"),
    "half a character": (b'a: "\\ud83e"\n', ":1:4: an escape in this string is half a character"),
    "too much of one": (b'a: "\\UFFFFFFFF"\n', ":1:1: invalid YAML after this"),
    "a number for a key": (b"1: a\n", ":1:1: the key '1' is not a string"),
    "null for a key": (b": a\n", ":1:1: the key '' is not a string"),
    "true for a key": (b"x: {true: a}\n", ":1:5: the key 'true' is not a string"),
    "a list for a key": (b"[a]: 1\n", ":1:1: a key must be a string"),
    "an alias for a key": (b"a: &a b\n*a : 1\n", ":2:1: a key must be a string"),
    "text to merge": (b"a: {<<: b}\n", ":1:9: only a mapping can be merged with <<"),
    "a BOM before an error": (b"\xef\xbb\xbfa: @\n", ":1:4: a value can't start with"),
    "CRLF before an error": (b"a: 1\r\nb: @\r\n", ":2:4: a value can't start with"),
    "CR before an error": (b"a: 1\rb: @\r", ":2:4: a value can't start with"),
    "no number": (b"run: {budget: {usd: .nan}}\n", ":1:21: run.budget.usd must be a number"),
    "endless": (b"map: {tokens: .inf}\n", ":1:15: map.tokens must be an integer"),
    "a huge number": (b"schema: " + b"9" * 5_000 + b"\n", ":1:9: schema must be an integer"),
    "a huge exponent": (b"schema: 1e99999\n", ":1:9: schema must be an integer"),
    "a date": (b"schema: 2026-02-31\n", ":1:9: schema must be an integer"),
}
HARMLESS: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \r\n\n",
    "a BOM": b"\xef\xbb\xbf",
    "comments": b"# one\r\n# two",
    "a document of nothing": b"---\n# x\n...\n",
    "null": b"null\n",
    "a BOM and CRLF": b"\xef\xbb\xbfschema: 1\r\nplacement: bottom\r\n",
    "YAML 1.2": b"%YAML 1.2\n---\nschema: 1\n",
    "a small alias": b"schema: &one 1\nplacement: bottom\n",
}
