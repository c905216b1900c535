"""Find the keys of config.yaml and the files of a repository that run something."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from cub.agent_profiles.profiles import PROFILES
from cub.errors import CubError
from cub.project.config import CONFIG_FILE, parse_config_tree

ExecutableKind = Literal["command", "hook", "bootstrap", "agent file", "agent setting"]

# Of `run`; the last ones say what those commands may see, and whether checks have to decide.
_RUN_KEYS = ("checks", "harness", "permissions", "wrap", "notify", "hide_env", "accept_unverified",
         "known_failures", "allow_removed_tests", "protect")  # fmt: skip
# Of `code`: where keys and texts are sent (a script as the model is commands), and what needs no
# approval.
_CODE_KEYS = ("model", "small_model", "base_url", "api_key", "search_url", "permissions", "allow")
_SCRIPTED = "scripted/"  # the replies of a file, which may call Bash
_NAMED_SECTIONS = ("harnesses", "context_commands")

_FOLDERS = [re.escape(profile.folder) for profile in PROFILES if profile.folder]
# In any folder: agents look for these from where they are started.
_FILES: tuple[tuple[ExecutableKind, Iterable[str]], ...] = (
    ("bootstrap", [r"\.[^/]+/.*-bootstrap"]),
    ("hook", [r"\.cub/hooks/.*", *(rf"{folder}/hooks(?:/.*|\.json)" for folder in _FOLDERS)]),
    ("hook", [r"\.github/hooks(?:/.*|\.json)", r"\.githooks/.*|\.husky/.*"]),
    ("hook", [r"\.pre-commit-config\.yaml|\.?lefthook\.ya?ml"]),
    ("agent setting", chain.from_iterable(profile.settings for profile in PROFILES)),
    ("agent file", [r"\.cub/agents/.*|\.agents/(?!rules/).*"]),
    ("agent file", chain.from_iterable(profile.executables for profile in PROFILES)),
)
# Some disks ignore case: there, `.Claude/settings.json` is read as well.
_FLAGS = re.DOTALL | re.IGNORECASE
_PATTERNS = [
    (kind, re.compile(rf"(?:.*/)?(?:{'|'.join(patterns)})", _FLAGS)) for kind, patterns in _FILES
]
# A link or a submodule under one of these names is a whole folder of such files.
_FOLDER_PATTERN = re.compile(
    rf"(?:.*/)?(?:\.(?:agents|cub|githooks|github|husky|vscode)|{'|'.join(_FOLDERS)})/", _FLAGS
)
_MAX_VALUE_CHARS = 10_000  # aliases of YAML can make a small file a huge value


def classify_executable_path(path: str) -> ExecutableKind | None:
    """Return the kind of a file that runs, or makes something run; None for all others.

    A path with `/` at its end is a folder that is taken from elsewhere as a whole.
    """
    kind = next((row_kind for row_kind, pattern in _PATTERNS if pattern.fullmatch(path)), None)
    return kind or ("agent setting" if _FOLDER_PATTERN.fullmatch(path) else None)


def list_config_commands(
    data: bytes | None, path: str = CONFIG_FILE, omit: Collection[str] = ()
) -> dict[str, str]:
    """Return the dotted keys of a config.yaml that hold commands, with their values as JSON.

    The keys of `omit` are left out, those of profiles, too: here, as an agent or a profile may have
    any name, also that of a key. Raises CubError for a file that can't be read.
    """
    tree = parse_config_tree(data, path) if data and data.strip() else None
    try:
        commands = dict(_list_overlay_commands(tree, "", omit))
        for name, overlay in _iter_entries(_get_value(tree, "profiles")):
            commands |= _list_overlay_commands(overlay, f"profiles.{name}.", omit)
    except (TypeError, ValueError, RecursionError) as error:
        raise CubError("cannot show a value of this file", where=path) from error
    return commands


def _list_overlay_commands(
    tree: Any, prefix: str, omit: Collection[str]
) -> Iterator[tuple[str, str]]:
    for section, keys in (("run", _RUN_KEYS), ("code", _CODE_KEYS)):
        values = _get_value(tree, section)
        for key in keys:
            if f"{section}.{key}" not in omit and _get_value(values, key) is not None:
                yield f"{prefix}{section}.{key}", _to_json(values[key])
    model = _get_value(_get_value(tree, "run"), "model")
    if "run.model" not in omit and isinstance(model, str) and model.startswith(_SCRIPTED):
        yield f"{prefix}run.model", _to_json(model)
    for key in (key for key in _NAMED_SECTIONS if key not in omit):
        for name, value in _iter_entries(_get_value(tree, key)):
            yield f"{prefix}{key}.{name}", _to_json(value)


def _iter_entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a mapping by key, of a list by number; a scalar is one entry."""
    if isinstance(value, dict):
        yield from ((str(key), entry) for key, entry in value.items())
    elif isinstance(value, list):
        yield from ((str(number), entry) for number, entry in enumerate(value))
    elif value is not None:
        yield "", value


def _get_value(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, dict) else None


def _to_json(value: Any) -> str:
    """Return JSON on one line; ValueError for too much of it."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        text += piece
        if len(text) > _MAX_VALUE_CHARS:
            raise ValueError(len(text))
    return text
