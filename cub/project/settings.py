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
DEFAULT_CONTEXT_TIMEOUT, DEFAULT_CONTEXT_OUTPUT = "10s", "64kB"
_ROWS = (
    Setting("schema", "whole", None, "The last applied migration; written by cub."),
    Setting("requires-cub", "specifier", None, "The allowed versions of cub."),
    Setting("targets", "targets", [*DEFAULT_TARGETS], "The instruction files to manage."),
    Setting("placement", "choice", "bottom", "Where a new section goes.", ("bottom", "top")),
    Setting("inline", "choices", [], "What to put into the section itself, for agents that don't "
            "follow @path.", ("map", "constitution")),
    Setting("map.tokens", "whole", DEFAULT_MAP_TOKENS,
            "Size limit of the map in tokens; 0 turns the map off."),
    Setting("map.exclude", "texts", [], "Paths that the map leaves out; .gitignore syntax."),
    Setting("map.commit", "flag", True, "Whether git tracks the map."),
    Setting("tasks.backend", "choice", "jsonl", "Where tasks are stored.", ("jsonl", "beads")),
    Setting("tasks.commit", "flag", True, "Whether git tracks the tasks."),
    Setting("run.harness", "text", "auto", "The agent that works on tasks; a list "
            "with commas names fallbacks."),
    Setting("run.model", "text", None, "The model that the agent uses."),
    Setting("run.checks", "texts", [], "Commands that must succeed before a task is done."),
    Setting("run.known_failures", "choice", "fix", "Whether a task without its own check must "
            "fix a check that failed before.", ("fix", "excuse")),
    Setting("run.accept_unverified", "flag", False, "Whether a task can be done when no check "
            "could verify it."),
    Setting("run.allow_removed_tests", "flag", False, "Whether an attempt may remove tests."),
    Setting("run.protect", "texts", [], "Paths that no attempt may change; .gitignore syntax."),
    Setting("run.max_attempts", "whole", 3, "How many attempts a task gets.", minimum=1),
    Setting("run.timeout", "time", "30m", "Time limit of an attempt."),
    Setting("run.idle_timeout", "time", "15m", "How long an agent may go without output."),
    Setting("run.commit", "flag", True, "Whether cub commits finished tasks."),
    Setting("run.message", "template", "{type}({id}): {title}", "The commit message of a task.",
            ("type", "id", "title")),
    Setting("run.branch", "template", None, "The branch that a run uses.", ("run", "date", "epic")),
    Setting("run.permissions", "choice", "auto", "What the agent may do without asking.",
            ("auto", "bypass")),
    Setting("run.wrap", "texts", [], "A command that starts the agent, such as a sandbox."),
    Setting("run.jobs", "whole", 1, "How many attempts run at the same time.", minimum=1),
    Setting("run.place", "choice", "auto", "Where attempts work: bound to the project's path, or "
            "aside, in a separate directory; auto binds where the system allows it.",
            ("auto", "bound", "aside")),
    Setting("run.share", "texts", [], "Ignored directories that attempts read from your checkout, "
            "besides those of package managers; .gitignore syntax."),
    Setting("run.setup", "texts", [], "Commands that install what an attempt needs; run again when "
            "a lock file or manifest changes."),
    Setting("run.writable", "texts", [], "Directories outside the project that agents may write "
            "to, such as ~/.cache/tool."),
    Setting("run.hide_env", "texts", [], "Variables to hide from agents and checks, such "
            "as AWS_*."),
    Setting("run.max_file_size", "size", "1GB", "Size limit of a file that git doesn't ignore."),
    Setting("run.notify", "text", None, "A command that cub runs when a run needs you."),
    Setting("run.budget.usd", "number", None, "Cost limit of a run in dollars."),
    Setting("run.budget.tokens", "whole", None, "Token limit of a run."),
    Setting("run.budget.iterations", "whole", None, "Attempt limit of a run."),
    Setting("code.model", "text", None, "The model of the built-in agent, such as "
            "openai/MODEL or ollama/MODEL. Without it, the key that is set decides."),
    Setting("code.small_model", "text", None, "The model that summarizes long conversations."),
    Setting("code.base_url", "text", None, "The URL of the model provider's service."),
    Setting("code.api_key", "text", None, "The API key for that service."),
    Setting("code.timeout", "time", "5m", "How long a model may go without output."),
    Setting("code.effort", "choice", None, "How much the model thinks before it answers. Without "
            "it, the service decides.",
            ("none", "minimal", "low", "medium", "high", "xhigh", "max")),
    Setting("code.max_output_tokens", "whole", None, "Length limit of a reply in tokens; 16384 "
            "if not set.", minimum=1),
    Setting("code.compaction_threshold", "whole", None, "The number of tokens from which old "
            "messages are summarized; 160000 if not set.", minimum=1),
    Setting("code.window", "whole", None, "The number of tokens that the model can read. Without "
            "it, the model's server or a table says so.", minimum=1000),
    Setting("code.permissions", "choice", "ask", "What the built-in agent may do without asking.",
            ("ask", "accept-edits", "plan", "bypass")),
    Setting("code.allow", "texts", [], "Calls that need no approval, such as Bash(git diff *)."),
    Setting("code.deny", "texts", [], "Calls that are never allowed, such as Read(.env). "
            "cub combines the lists of all configuration files.", is_collected=True),
    Setting("code.skill_dirs", "texts", [], "More directories with skills, besides .claude/skills "
            "and .agents/skills; relative to the project."),
    Setting("code.gate", "choice", "none", "What reviews the work when the built-in agent has "
            "finished: the project's checks, three judges, which are models, or both.",
            ("none", "checks", "judges", "both")),
    Setting("code.search_url", "text", None, "The URL of a SearXNG server for WebSearch."),
    Setting("code.cache.enabled", "flag", True, "Whether results of Read, Glob, and Grep are "
            "reused."),
    Setting("code.cache.size", "whole", 200, "How many results the cache keeps.", minimum=1),
    Setting("code.cache.ttl", "time", "30s", "How long a result of Glob or Grep is reused."),
    Setting("code.session_days", "whole", 30, "After how many days without use a saved session "
            "is deleted; 0 saves none."),
    Setting("code.mcp.enabled", "flag", True, "Whether MCP servers are started."),
    Setting("code.mcp.timeout", "time", "30s", "How long an MCP server may take to start."),
    Setting("code.debug", "flag", False, "Whether turns, retries, and tokens are shown on stderr."),
    Setting("harnesses.*.argv", "texts", [], "The command that starts the agent NAME."),
    Setting("harnesses.*.prompt", "choice", "stdin", "How the agent gets its prompt.",
            ("stdin", "file", "arg")),
    Setting("harnesses.*.success", "text", "exit", "How cub detects that the agent succeeded."),
    Setting("harnesses.*.env", "mapping", {}, "Environment variables for the agent."),
    Setting("harnesses.*.acp", "texts", [], "The command of an agent that supports the Agent "
            "Client Protocol."),
    Setting("harnesses.*.modes", "mapping", {}, "That agent's modes for auto and bypass."),
    Setting("harnesses.*.args", "texts", [], "More arguments for an agent that cub supports."),
    Setting("harnesses.*.model", "text", None, "The agent's model if run.model is not set."),
    Setting("harnesses.*.user_settings", "flag", True, "Whether the agent reads your own settings "
            "for all projects; only for claude and codex."),
    Setting("ledger.commit", "flag", True, "Whether git tracks the ledger."),
    Setting("context_commands", "commands", [], "Commands that add their output to prompts."),
    Setting("context_timeout", "time", DEFAULT_CONTEXT_TIMEOUT, "Time limit of each of these "
            "commands."),
    Setting("context_max_output", "size", DEFAULT_CONTEXT_OUTPUT, "How much of stdout, and of "
            "stderr, of each of these commands is kept."),
    Setting("context_parallel", "whole", 8, "How many of these commands run at the same time.",
            minimum=1),
)  # fmt: skip

# The keys of each item of `context_commands`.
REQUIRED_COMMAND_KEYS = ("name", "command")
COMMAND_KEYS = (
    Setting("name", "text", None, "The name of the block."),
    Setting("command", "text", None, "The command line, run by /bin/sh."),
    Setting("on_failure", "choice", "warn", "What happens if the command fails.",
            ("warn", "ignore", "fail")),
    Setting("timeout", "time", None, "Time limit of the command, instead of context_timeout."),
    Setting("max_output", "size", None, "How much of stdout, and of stderr, is kept, instead of "
            "context_max_output."),
)  # fmt: skip

SETTINGS = tuple(row._replace(is_project_only=row.path[0] in _PROJECT_ONLY) for row in _ROWS)
SECTION_DESCRIPTIONS = {
    "map": "The map of the project.",
    "tasks": "The tasks of the project.",
    "run": "The run loop.",
    "run.budget": "The limits of a run.",
    "code": "The built-in agent.",
    "code.cache": "The explore cache of the built-in agent.",
    "code.mcp": "The MCP servers of the built-in agent.",
    "harnesses": "Agents by name: your own, or changes to those that cub supports.",
    "ledger": "The record of all attempts.",
    "profiles": "Named sets of values that replace others.",
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
