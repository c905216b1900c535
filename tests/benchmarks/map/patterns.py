"""The regular expressions that find definitions, by language."""

from __future__ import annotations

import re

_JS = r"(?P<name>[A-Za-z_$][\w$]*)"
_NAME = r"(?P<name>[A-Za-z_]\w*)"
_ANY = r"(?P<name>\w+)"  # names in these languages may begin with any letter

_EXPORTED = r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
_SCRIPT = (
    rf"{_EXPORTED}(?:function\*?|class|interface|(?:const\s+)?enum|namespace)\s+{_JS}",
    rf"^(?:export\s+)?(?:declare\s+)?type\s+{_JS}\s*[=<]",
    rf"^(?:export\s+)?(?:declare\s+)?(?:const|let|var)\s+{_JS}(?![^\n]*\brequire\()",
    rf"^(?:module\.)?exports\.{_JS}\s*=",
    rf"^\w+\.(?:prototype\.)?{_JS}\s*=\s*(?:async\s*)?(?:function|\()",
)
_MODIFIERS = (
    r"(?:(?:public|protected|private|internal|static|final|abstract|sealed|partial|readonly|open"
    r"|unsafe|data|inner|annotation|value|inline|suspend|override|operator|infix|tailrec|expect"
    r"|actual|const|lateinit|vararg|external|companion|fileprivate|indirect|mutating|lazy|implicit"
    r"|case|class(?=\s+func)|convenience|required|nonisolated|strictfp|non-sealed|async|virtual"
    r"|extern|new|ref)\s+)*"
)
_ANNOTATED = r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*" + _MODIFIERS

_RUST = (
    r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?"
    r"(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*"
    r"(?:fn|struct|enum|trait|union|type|mod|const|static|macro_rules!)"
)

_SOURCES: dict[str, tuple[str, ...]] = {
    "python": (
        rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{_ANY}",
        rf"^{_ANY}[ \t]*(?::[^=\n]+)?=(?!=)",
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": (
        rf"^(?:func|type|var|const)\s+{_ANY}",
        r"^\t(?P<name>[A-Z]\w*)(?:\s+[\w.*\[\]]+)?\s*=",
    ),
    "rust": (rf"{_RUST}\s+(?:mut\s+)?{_NAME}",),
    "java": (rf"{_ANNOTATED}(?:class|interface|enum|record|@interface)\s+{_NAME}",),
    "csharp": (
        rf"{_ANNOTATED}(?:class|interface|enum|(?:record\s+)?struct|record)\s+{_NAME}",
        rf"{_ANNOTATED}delegate\s+[\w<>\[\],.?]+\s+{_NAME}",
    ),
    "kotlin": (
        rf"{_ANNOTATED}(?:(?:enum\s+)?class|(?:fun\s+)?interface|object|typealias)\s+{_NAME}",
        rf"{_ANNOTATED}(?:fun|val|var)\s+(?:<[^>\n]+>\s*)?(?:[\w<>?,* ]+\.)*{_NAME}",
    ),
    "swift": (
        rf"{_ANNOTATED}(?:class|struct|enum|protocol|typealias|actor|func|let|var)\s+{_NAME}",
    ),
    "scala": (rf"{_ANNOTATED}(?:class|trait|object|enum|def|val|type|given)\s+{_NAME}",),
    "php": (rf"{_ANNOTATED}(?:class|interface|trait|enum|function)\s+&?{_NAME}",),
    "ruby": (
        rf"^[ \t]*(?:class|module)\s+(?:\w+::)*{_NAME}",
        rf"^[ \t]*def\s+(?:self\.)?{_NAME}",
    ),
    "bash": (r"^(?:function\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\(\)",),
    "lua": (
        rf"^(?:local\s+)?function\s+(?:\w+[.:])*{_NAME}",
        rf"^(?:local\s+)?(?:\w+\.)?{_NAME}\s*=(?![^\n]*\brequire\b)",
    ),
}
_C_TYPE = (
    rf"^(?:template\s*<[^\n]*>\s*)?(?:typedef\s+)?(?:struct|enum(?:\s+class)?|union|class)"
    rf"(?:\s+[A-Z_]+(?:\([^)]*\))?)?\s+{_NAME}[^;(\n]*$"
)
_C = (
    rf"^[ \t]*#[ \t]*define\s+{_NAME}",
    _C_TYPE,
    rf"^[ \t]*typedef\s[^;{{(\n]*?\b{_NAME}\s*;",
    rf"^}}\s*{_NAME}\s*;",
    r"^(?!typedef|return|else|using)[A-Za-z_][\w\s*&:<>,]*?[\s*&](?:\w+::)*"
    + _NAME
    + r"\([^;\n]*$",
)
_PROTOTYPE = (
    r"^(?!typedef|return|else|using)[A-Za-z_][\w \t*&:<>,]*?[\s*&]" + _NAME + r"\([^;{]*\)[^;{\n]*;"
)
_SOURCES |= {"c": (*_C, _PROTOTYPE), "cpp": (*_C, _PROTOTYPE, rf"^\s*using\s+{_NAME}\s*=")}

_CALLABLE = (
    r"^[ \t]+(?:(?:public|protected|private|internal|static|final|abstract|synchronized|native"
    r"|default|virtual|override|async|sealed|extern|unsafe|new|readonly|partial)\s+)*"
    r"(?:<[^>\n]+>\s+)?(?!return\b|throw\b|new\b|else\b|await\b)[\w<>\[\],.?]+(?:\s*<[^\n(]*>)?\s+"
    rf"{_NAME}\s*(?:<[^>\n]+>)?\s*\([^;\n]*(?:\)[^;\n]*[{{;]|,)?\s*$"
)
_METHOD = (
    r"^[ \t]+(?:(?:public|private|protected|static|async|get|set|override|abstract)\s+|\*\s*)*"
    rf"{_JS}\s*(?:<[^>\n]*>)?\([^;\n]*\)\s*(?::[^{{;\n]+)?\{{\s*$"
)
_INDENTED = (
    r"^[ \t]+(?!return\b|else\b|case\b|goto\b)[\w:<>*&][\w:<>*& ]*[\s*&]"
    + _NAME
    + r"\([^;\n]*\)[^;\n]*[{;]\s*$"
)
_MEMBER_SOURCES: dict[str, tuple[str, ...]] = {
    "javascript": (_METHOD,),
    "typescript": (_METHOD,),
    "go": (rf"^func\s+\([^)]*\)\s*{_ANY}",),
    "java": (_CALLABLE,),
    "csharp": (_CALLABLE,),
    "c": (_INDENTED,),
    "cpp": (_INDENTED,),
}


def _compiled(sources: dict[str, tuple[str, ...]]) -> dict[str, list[re.Pattern[str]]]:
    return {k: [re.compile(one, re.MULTILINE) for one in v] for k, v in sources.items()}


PATTERNS = _compiled(_SOURCES)
MEMBERS = _compiled(_MEMBER_SOURCES)
PRIVATE = re.compile(r"^\s*(?:local|static)\b|\b(?:private|internal|fileprivate)\b")
PUBLIC = {
    "rust": re.compile(r"\bpub\b(?!\()|macro_rules!"),
    "java": re.compile(r"\bpublic\b"),
    "csharp": re.compile(r"\bpublic\b"),
}
_RESERVED = (
    "if for while switch catch function return else do try new throw typeof await with class def"
    " import export default case in of is not and or as from end then nil null true false self this"
    " super static public private void int char sizeof struct enum union main constructor"
)
WORDS = frozenset(_RESERVED.split())
