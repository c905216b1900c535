"""Prepare a session of the built-in agent: its models, tools, permissions, and system prompt."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cub.actions.command_options import CodeOptions
from cub.actions.context_scripts import make_text_reader
from cub.actions.context_settings import find_untrusted_keys
from cub.actions.mcp_servers import SessionServers, find_servers
from cub.actions.tasks.stores import Stores
from cub.agent.agent_types import BUILT_IN_AGENTS, load_agent_types
from cub.agent.context_window import SessionLimits
from cub.agent.events import SessionEvent
from cub.agent.executor import Toolbox
from cub.agent.explore_cache import ExploreCache
from cub.agent.loop import AgentSession
from cub.agent.memory import Memory, load_memory
from cub.agent.model_settings import (
    ModelSettings,
    find_model_window,
    load_model,
    load_models,
    require_model_server,
    require_prices,
    resolve_model_settings,
)
from cub.agent.permission_rules import compile_hidden_files, parse_rule
from cub.agent.permissions import PermissionMode, Permissions
from cub.agent.session_budget import SessionBudget
from cub.agent.session_store import SessionRecorder, find_session_store
from cub.agent.skill_invocation import SkillInvocation
from cub.agent.skill_tool import add_skill_tool, work_on_skill
from cub.agent.skills import SkillSet, load_skills
from cub.agent.subagents import Subagents
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.toolset import RULE_NAMES, choose_tools
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.processes.command import StopRequest
from cub.project.allowed_rules import load_allowed_rules
from cub.project.config_layers import ConfigValue, ResolvedConfig, resolve_config
from cub.project.project import find_home
from cub.project.setting_kinds import parse_seconds
from cub.prompt.templates import load_shipped_templates

if TYPE_CHECKING:
    from cub.actions.session_checks import SessionChecks

ConfigValues = Mapping[str, ConfigValue]


class SessionSurroundings(NamedTuple):
    """Hold what a session gets from the process that it runs in.

    It starts in `folder`; `today` is in its system prompt. With `is_interactive`, a person can go
    on while agents work in the background; otherwise the session waits for them at its end. With
    `has_terminal`, a person can be asked, and be shown something.
    """

    folder: Path
    environ: Mapping[str, str]
    stop: StopRequest
    today: date
    is_interactive: bool = False
    has_terminal: bool = False


class PreparedSession(NamedTuple):
    """Hold a session that has not begun, the values of the configuration, and warnings.

    `root` is the project's. `checks` are those of the gate, None without one.
    """

    session: AgentSession
    subagents: Subagents
    root: Path
    values: ConfigValues
    models: ModelSettings
    warnings: list[PlanWarning]
    servers: SessionServers
    checks: SessionChecks | None

    def work_on(self, prompt: str, invocation: SkillInvocation | None) -> Iterator[SessionEvent]:
        """Work on a prompt; on that of a skill, if the user has called for one by `invocation`."""
        yield from self.servers.connect(self.session)
        if invocation:
            yield from work_on_skill(self.subagents, invocation, prompt)
        else:
            yield from self.session.work_on(prompt)


@dataclass(frozen=True, slots=True)
class _SessionPlan:
    """Hold what a session is made from: settings, and the texts for its model."""

    stores: Stores
    options: CodeOptions
    surroundings: SessionSurroundings
    layers: ResolvedConfig
    values: Mapping[str, Any]
    models: ModelSettings
    reader: TextReader
    memory: Memory
    skills: SkillSet

    @property
    def folder(self) -> Path:
        """Return the real path of the folder that the session starts in."""
        return self.surroundings.folder.resolve()

    def render_prompt(self, name: str, **values: object) -> str:
        """Return a system prompt, which stays the same for the whole session."""
        root, folder = self.stores.project.root.resolve(), self.folder
        return load_shipped_templates().render_prompt(
            name,
            folder=folder.as_posix(),
            root=root.as_posix(),
            is_git=(root / ".git").exists(),
            platform=sys.platform,
            today=self.surroundings.today.isoformat(),
            instructions=self.memory.instructions,
            additional=[text.strip() for text in self.options.system_texts if text.strip()],
            **values,
        )


def prepare_session(
    stores: Stores,
    options: CodeOptions,
    surroundings: SessionSurroundings,
    checks: SessionChecks | None = None,
    session_id: str = "",
) -> PreparedSession:
    """Return a session, or one to go on with the saved one of an id.

    Its gate keeps what `checks` said before, and what that one's did. Raises CubError for settings
    that are not valid, or not trusted.
    """
    plan = _plan_session(stores, options, surroundings)
    session = _open_session(plan)
    try:
        return _add_companions(plan, session, checks, session_id)
    except BaseException:
        session.close()
        raise


def _plan_session(
    stores: Stores, options: CodeOptions, surroundings: SessionSurroundings
) -> _SessionPlan:
    """Read settings, instructions and skills. Raises CubError."""
    project = stores.project
    layers = resolve_config(project, surroundings.environ, options.profile)
    _require_trusted(stores, layers.values, options)
    values = {key: row.value for key, row in layers.values.items()}
    values["code.model"] = options.model or values["code.model"]
    values["code.small_model"] = options.small_model or values["code.small_model"]
    models = resolve_model_settings(values, surroundings.environ, find_home())
    folder = surroundings.folder.resolve()
    memory = load_memory(make_text_reader(project, folder))
    reader = make_text_reader(project, folder)
    skills = load_skills(reader, layers.values["code.skill_dirs"], RULE_NAMES)
    return _SessionPlan(
        stores, options, surroundings, layers, values, models, reader, memory, skills
    )


def _open_session(plan: _SessionPlan) -> AgentSession:
    """Return a session with its models and the tools that need nothing else. Raises CubError."""
    models, options = plan.models, plan.options
    model, small_model = load_models(models, plan.folder)
    require_model_server(models)
    if options.max_usd is not None:
        require_prices(models)
    limits = SessionLimits(
        models.max_output_tokens,
        models.compaction_threshold,
        options.max_turns,
        plan.values["code.window"],
        partial(find_model_window, models),
    )
    system = plan.render_prompt("code", skills=plan.skills.describe_for_model())
    budget = SessionBudget(options.max_usd)
    return AgentSession(model, small_model, _make_toolbox(plan), system, limits, budget=budget)


def _add_companions(
    plan: _SessionPlan, session: AgentSession, checks: SessionChecks | None, session_id: str
) -> PreparedSession:
    """Add what works beside a session: servers, sub-agents, skills, and reviews of its end."""
    values, surroundings = plan.values, plan.surroundings
    servers = find_servers(
        plan.stores,
        plan.options,
        surroundings.environ,
        session.toolbox.permissions,
        values,
        can_ask=surroundings.has_terminal,
    )
    servers.start(session, parse_seconds(values["code.mcp.timeout"]))
    subagents = Subagents(
        session,
        {row.name: row for row in (*BUILT_IN_AGENTS, *load_agent_types(plan.reader))},
        lambda role: plan.render_prompt("subagent", role=role),
        lambda name: load_model(name, plan.models, plan.folder),
    )
    subagents.add_to_session()
    if plan.skills.for_model:
        add_skill_tool(subagents)
    if not surroundings.is_interactive:
        session.end_reviews.append(subagents.review_end)
    known = plan.stores.project.config.warnings
    warnings = [one for one in plan.layers.warnings if one not in known]
    warnings += [*plan.memory.warnings, *plan.reader.warnings, *servers.warnings]
    choice = plan.options.choose_gate(values["code.gate"])
    if choice != "none":
        from cub.actions.session_checks import add_gate  # imports much of what runs attempts

        store = find_session_store(plan.stores.project.root) if session_id else None
        saved = store.read(session_id).baseline if store else []
        checks, problems = add_gate(session, values, choice, checks, saved)
        warnings += problems
    return PreparedSession(
        session,
        subagents,
        plan.stores.project.root,
        plan.layers.values,
        plan.models,
        warnings,
        servers,
        checks,
    )


def _make_toolbox(plan: _SessionPlan) -> Toolbox:
    values, surroundings = plan.values, plan.surroundings
    context = ToolContext(
        plan.stores.project.root.resolve(),
        plan.folder,
        surroundings.environ,
        surroundings.stop,
        search_url=values["code.search_url"] or "",
        skills=plan.skills,
    )
    permissions = _read_permissions(plan.stores.project.root, values, plan.options)
    context = replace(context, hides_file=compile_hidden_files(permissions.deny, context))
    cache = ExploreCache(
        max_entries=values["code.cache.size"],
        ttl=parse_seconds(values["code.cache.ttl"]),
        is_enabled=values["code.cache.enabled"],
    )
    tools = choose_tools(context, has_terminal=surroundings.has_terminal)
    return Toolbox(tools, context, permissions, cache, plan.memory)


def open_recorder(
    prepared: PreparedSession, prompt: str, session_id: str, *, is_saved: bool
) -> tuple[SessionRecorder | None, list[PlanWarning]]:
    """Return what saves a session, or None, and warnings; delete sessions that are too old.

    The session gets the messages of the one with `session_id`, if that is not "". Raises CubError
    if it can't be resumed; one that can't be saved only gets a warning.
    """
    days = prepared.values["code.session_days"].value
    if not session_id and not (is_saved and days):
        return None, []
    try:
        store = find_session_store(prepared.root)
        if session_id:
            recorder = store.resume(prepared.session, session_id)
        else:
            context = prepared.session.toolbox.context
            folder = context.folder.relative_to(context.root).as_posix().removeprefix(".")
            recorder = store.start(prepared.session, folder, prompt)
        if days:
            store.delete_old(days)
    except CubError as error:
        if session_id:
            raise
        message = f"the session is not saved: {error.message}"
        return None, [PlanWarning(message, error.where, hint=error.hint)]
    return recorder, recorder.warnings


def _require_trusted(stores: Stores, values: ConfigValues, options: CodeOptions) -> None:
    """Raise CubError for keys that need trust, which the project sets and the person did not."""
    if options.trust:
        return
    rows = {key: row for key, row in values.items() if key.startswith("code.")}
    if options.permissions or values["code.permissions"].value == "plan":
        del rows["code.permissions"]
    if options.model:
        del rows["code.model"]
    if options.choose_gate(values["code.gate"].value) in ("checks", "both"):
        rows["run.checks"] = values["run.checks"]
    if options.small_model:
        del rows["code.small_model"]
    hint = "`--trust` allows them for this run only"
    if error := find_untrusted_keys(stores, rows.values(), options.profile, hint):
        raise error


def _read_permissions(root: Path, values: Mapping[str, Any], options: CodeOptions) -> Permissions:
    allow = (*values["code.allow"], *options.allow, *load_allowed_rules(root))
    return Permissions(
        cast("PermissionMode", options.permissions or values["code.permissions"]),
        [parse_rule(text) for text in allow],
        [parse_rule(text) for text in (*values["code.deny"], *options.deny)],
    )
