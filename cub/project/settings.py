"""List all keys of config.yaml: parsing, `cub config`, the JSON Schema and the reference use it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from cub.project.targets import DEFAULT_TARGETS

SettingKind = Literal[
    "flag", "whole", "number", "text", "time", "size", "choice", "choices",
    "texts", "commands", "mapping", "specifier", "targets", "template",
]  # fmt: skip
SettingPath = tuple[str, ...]


class Setting(NamedTuple):
    """Describe a key of the configuration; `*` in it stands for a name that the user chooses.

    `is_project_only`: taken from the project's own file only. `is_collected`: the items of all
    layers count, so that none takes back what another one forbids. A default of None, and null in
    a file, mean "not set". The `choices` of a template are the words that it may hold.
    """

    key: str
    kind: SettingKind
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    minimum: int = 0
    is_project_only: bool = False
    is_collected: bool = False

    @property
    def path(self) -> SettingPath:
        """Return the key's parts."""
        return tuple(self.key.split("."))


_PROJECT_ONLY = (
    "schema", "requires-cub", "targets", "placement", "inline", "map", "tasks", "ledger",
)  # fmt: skip
DEFAULT_MAP_TOKENS = 1500
_ROWS = (
    Setting("schema", "whole", None, "The last migration applied; cub writes it."),
    Setting("requires-cub", "specifier", None, "The versions of cub that may work here."),
    Setting("targets", "targets", [*DEFAULT_TARGETS], "The instruction files to manage."),
    Setting("placement", "choice", "bottom", "Where a new section goes.", ("bottom", "top")),
    Setting("inline", "choices", [], "What stands in the section itself, for agents that do "
            "not follow @path.", ("map", "constitution")),
    Setting("map.tokens", "whole", DEFAULT_MAP_TOKENS,
            "How long the map may be, in tokens; 0 for none."),
    Setting("map.exclude", "texts", [], "Paths that the map leaves out, as in a .gitignore."),
    Setting("map.commit", "flag", True, "Whether the map is shared through git."),
    Setting("tasks.backend", "choice", "jsonl", "Where the tasks are kept.", ("jsonl", "beads")),
    Setting("tasks.commit", "flag", True, "Whether the tasks are shared through git."),
    Setting("run.harness", "text", "auto", "The agent that works on the tasks; several "
            "with commas, the next one for when one can't go on."),
    Setting("run.model", "text", None, "The model that the agent is to use."),
    Setting("run.checks", "texts", [], "Commands that must succeed before a task is done."),
    Setting("run.known_failures", "choice", "fix", "Whether a task without a check of its own has "
            "to fix a failure from before.", ("fix", "excuse")),
    Setting("run.accept_unverified", "flag", False, "Whether a task may be done although no check "
            "could judge it."),
    Setting("run.allow_removed_tests", "flag", False, "Whether an attempt may remove tests."),
    Setting("run.protect", "texts", [], "Paths that no attempt may change, as in a .gitignore."),
    Setting("run.max_attempts", "whole", 3, "How often a task is tried.", minimum=1),
    Setting("run.timeout", "time", "30m", "How long an attempt may take."),
    Setting("run.idle_timeout", "time", "15m", "How long an agent may be silent."),
    Setting("run.commit", "flag", True, "Whether finished tasks are committed."),
    Setting("run.message", "template", "{type}({id}): {title}", "The message of such a commit.",
            ("type", "id", "title")),
    Setting("run.branch", "template", None, "The branch to work on.", ("run", "date", "epic")),
    Setting("run.permissions", "choice", "auto", "What the agent may do without asking.",
            ("auto", "bypass")),
    Setting("run.wrap", "texts", [], "A command that the agent is started with."),
    Setting("run.hide_env", "texts", [], "Variables that agents and checks do not get, as AWS_*."),
    Setting("run.max_file_size", "size", "1GB", "How large a file may be that git does not "
            "ignore."),
    Setting("run.keep_ignored", "size", "64MB", "How much of ignored files an attempt can't lose; "
            "0 for nothing."),
    Setting("run.notify", "text", None, "A command that is told when a run needs a person."),
    Setting("run.budget.usd", "number", None, "How many dollars a run may cost."),
    Setting("run.budget.tokens", "whole", None, "How many tokens a run may use."),
    Setting("run.budget.iterations", "whole", None, "How many attempts a run may make."),
    Setting("code.model", "text", None, "The model of the built-in agent, such as "
            "openai/MODEL or ollama/MODEL. Without it, the key that is set decides."),
    Setting("code.small_model", "text", None, "The model that summarizes long conversations."),
    Setting("code.base_url", "text", None, "The address of the service, for the model's provider."),
    Setting("code.api_key", "text", None, "The key for it."),
    Setting("code.timeout", "time", "5m", "How long a model may send nothing."),
    Setting("code.max_output_tokens", "whole", None, "How long a reply may be, in tokens; 16384 "
            "without a value.", minimum=1),
    Setting("code.compaction_threshold", "whole", None, "From how many tokens on old messages are "
            "summarized; 160000 without a value.", minimum=1),
    Setting("code.permissions", "choice", "ask", "What the built-in agent may do without asking.",
            ("ask", "accept-edits", "plan", "bypass")),
    Setting("code.allow", "texts", [], "Calls that need no approval, as Bash(git diff *)."),
    Setting("code.deny", "texts", [], "Calls that are never allowed, as Read(.env). Those of all "
            "configurations count.", is_collected=True),
    Setting("code.search_url", "text", None, "A SearXNG server, which WebSearch asks."),
    Setting("code.cache.enabled", "flag", True, "Whether results of Read, Glob and Grep are "
            "reused."),
    Setting("code.cache.size", "whole", 200, "How many results are kept.", minimum=1),
    Setting("code.cache.ttl", "time", "30s", "How long a result of Glob or Grep is reused."),
    Setting("code.debug", "flag", False, "Whether turns, retries and tokens are shown on stderr."),
    Setting("harnesses.*.argv", "texts", [], "The command that starts the agent NAME."),
    Setting("harnesses.*.prompt", "choice", "stdin", "How the agent gets its prompt.",
            ("stdin", "file", "arg")),
    Setting("harnesses.*.success", "text", "exit", "How the agent tells that it succeeded."),
    Setting("harnesses.*.env", "mapping", {}, "Environment variables for the agent."),
    Setting("harnesses.*.acp", "texts", [], "The command of an agent that speaks the Agent Client "
            "Protocol."),
    Setting("harnesses.*.modes", "mapping", {}, "Modes of such an agent, for auto and bypass."),
    Setting("harnesses.*.args", "texts", [], "Further arguments of an agent that cub knows."),
    Setting("harnesses.*.model", "text", None, "The model of the agent NAME, without run.model."),
    Setting("harnesses.*.user_settings", "flag", True, "Whether the agent uses your settings for "
            "all projects; only for claude and codex."),
    Setting("ledger.commit", "flag", True, "Whether the ledger is shared through git."),
    Setting("context_commands", "commands", [], "Commands whose output goes in front of prompts."),
    Setting("context_parallel", "whole", 8, "How many of these commands run at the same time.",
            minimum=1),
)  # fmt: skip

# The keys of each item of `context_commands`; the first two are required.
COMMAND_KEYS = (
    Setting("name", "text", None, "What the block is called."),
    Setting("command", "text", None, "The line that /bin/sh runs."),
    Setting("on_failure", "choice", "warn", "What a failure does.", ("warn", "ignore", "fail")),
    Setting("timeout", "time", 10, "How long it may take."),
    Setting("max_output", "size", "64kB", "How much of stdout, and of stderr, is taken."),
)

SETTINGS = tuple(row._replace(is_project_only=row.path[0] in _PROJECT_ONLY) for row in _ROWS)
SECTION_DESCRIPTIONS = {
    "map": "The map of the project.",
    "tasks": "The tasks of the project.",
    "run": "The run loop.",
    "run.budget": "What a run may use up.",
    "code": "The built-in agent.",
    "code.cache": "The explore cache of the built-in agent.",
    "harnesses": "Agents by name: your own, or changes to those that cub knows.",
    "ledger": "The record of all attempts.",
    "profiles": "Overlays of the keys that count everywhere, by name.",
}
USER_NAMED_SECTIONS = ("harnesses", "profiles")  # users choose the names in them
TOP_LEVEL_KEYS = tuple(dict.fromkeys([*(setting.path[0] for setting in SETTINGS), "profiles"]))


def find_setting(path: SettingPath) -> Setting | None:
    """Return the row of a key; None if it is unknown."""
    table_path = _to_table_path(path)
    return next((setting for setting in SETTINGS if setting.path == table_path), None)


def list_member_keys(path: SettingPath) -> SettingPath:
    """Return the keys that the mapping at `path` may have; none if it is not a mapping of keys."""
    table_path = _to_table_path(path)
    depth = len(table_path)
    inner = (s.path[depth] for s in SETTINGS if s.path[:depth] == table_path != s.path)
    return tuple(dict.fromkeys(key for key in inner if key != "*")) if path else TOP_LEVEL_KEYS


def _to_table_path(path: SettingPath) -> SettingPath:
    """Return `path` as it is in the table."""
    return (path[0], "*", *path[2:]) if path[:1] == ("harnesses",) and path[1:] else path
