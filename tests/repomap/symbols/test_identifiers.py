"""What a file speaks of and what it imports, in the words of its language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.symbols.identifiers import find_imported_names, find_names
from tests.examples import few_examples

IMPORTS = [
    ("python", "from a.bee import Cee, dee as eff\n", "a=Cee a=dee bee Cee dee from import"),
    ("python", "from .near import (\n    One,\n    Two,\n)\n", "One Two near .near=Two"),
    ("python", "import os.path\n", "import path"),
    ("javascript", "import {one, two} from './three'\n", ".=one .=two from import one three two"),
    ("typescript", "import Vue from 'vue'\n", "Vue from import vue vue=Vue"),
    ("javascript", "const {join} = require('node:path')\n", "const join node path require"),
    ("go", 'import (\n\t"fmt"\n\talias "example.com/pkg/hugo"\n)\n', "alias com fmt hugo pkg"),
    ("rust", "use crate::graph::{Graph, Node};\n", "Graph Node crate graph use"),
    ("java", "import static com.acme.Thing;\n", "Thing acme com import static"),
    ("c", '#include "server.h"\n#include <stdio.h>\n', "include server stdio"),
    ("csharp", "using Dapper.Rainbow;\n", "Dapper Rainbow using"),
    ("ruby", "require_relative 'app/models'\n", "app models require_relative"),
    ("php", "use App\\Models\\User;\n", "App Models User use"),
    ("bash", ". ./lib/common.sh\n", "common lib"),
    ("lua", 'local M = require("telescope.actions")\n', "actions local require telescope"),
]  # fmt: skip


@pytest.mark.parametrize(("grammar", "text", "expected"), IMPORTS)
def test_imports_are_found_in_every_language(grammar: str, text: str, expected: str) -> None:
    found = set(
        find_imported_names(grammar, f"x = 1\n{text}\nunrelated.words()\n".encode()).split()
    )
    known = {word for word in expected.split() if len(word) > 2}
    assert known <= found
    assert not {"unrelated", "words"} & found


@pytest.mark.parametrize(
    ("text", "imported", "expected"),
    [
        ("a_name.other(third)", "", "a_name third .other"),
        ("mod.thing.deep", "mod", "mod mod.thing .thing .deep"),
        ("std::vec::Vec", "vec", "std .vec vec.Vec .Vec"),
        ("ptr->field", "", "ptr .field"),
        ("maybe?.there", "", "maybe .there"),
        ("3.14 0xff 12abc", "", ""),
        ("ab cd efg", "", "efg"),
        ("überzahl", "", "überzahl"),
    ],
)
def test_names_stand_alone_or_behind_dots(text: str, imported: str, expected: str) -> None:
    found = {name for name in find_names(text.encode(), imported).split() if len(name) > 3}
    assert found == {name for name in expected.split() if len(name) > 3}


@few_examples
@given(st.binary(max_size=300).filter(bytes.isascii))
def test_any_bytes_give_names_once_and_in_order(data: bytes) -> None:
    names = find_names(data, "").split()
    assert names == sorted(set(names))
