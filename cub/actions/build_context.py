"""Build a context: choose its sources, then run what belongs to it, as far as that is trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cub.actions.command_options import ContextOptions
from cub.actions.context_scripts import describe_bootstraps, describe_task, make_text_reader
from cub.actions.context_settings import (
    ContextSettings,
    find_refusal,
    resolve_context_settings,
)
from cub.actions.tasks.current_attempt import build_environment, find_current_attempt
from cub.actions.tasks.stores import Stores
from cub.context.assembly import (
    AssembledContext,
    ContextPlan,
    ContextRequest,
    assemble_context,
    plan_context,
)
from cub.context.bootstraps import Bootstrap, BootstrapRun, find_bootstraps, run_bootstraps
from cub.context.context_commands import (
    CommandEnvironment,
    CommandOutput,
    ContextCommand,
    list_output_warnings,
    make_cli_commands,
    run_context_command,
    run_context_commands,
)
from cub.context.output_blocks import make_blocks
from cub.context.text_reader import TextReader
from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.project.config_layers import resolve_config
from cub.project.trust_store import load_trust

_EMPTY_HINT = "write rules to AGENTS.md, or pass a task file or --prompt"
_HINT = "review it, then run `cub trust`; `--trust` allows it for this run only"


@dataclass(slots=True)
class ContextBuild:
    """Hold a context that is about to be built, and what has run for it.

    `approved` are scripts and commands of the project, by their text, that the person has agreed
    to: of what the project contains, no other text runs.
    """

    reader: TextReader
    plan: ContextPlan
    settings: ContextSettings
    are_commands_trusted: bool
    bootstraps: Sequence[Bootstrap]
    environment: CommandEnvironment
    approved: frozenset[str]
    warnings: list[PlanWarning]
    outputs: list[CommandOutput] = field(default_factory=list)
    _inline_outputs: dict[str, str | None] = field(default_factory=dict)

    def list_commands(self, *, trusted: bool) -> list[ContextCommand]:
        """Return all that runs: bootstraps, context commands, those of the task file.

        Unless `trusted`, return those of them that are not going to run.
        """
        bootstraps, inline = self._split_scripts(trusted=trusted)
        commands = self.settings.commands if self.are_commands_trusted == trusted else ()
        described = [ContextCommand("Bootstrap", one.script, one.name) for one in bootstraps]
        return [*described, *commands, *inline]

    def _split_scripts(self, *, trusted: bool) -> tuple[list[Bootstrap], list[ContextCommand]]:
        bootstraps = [
            bootstrap
            for bootstrap in self.bootstraps
            if self._may_run(bootstrap.script, is_project=bootstrap.is_project) == trusted
        ]
        inline = [
            self._make_inline(text)
            for text in (self.plan.task.commands if self.plan.task else ())
            if self._may_run(text, is_project=self._has_project_task) == trusted
        ]
        return bootstraps, inline

    def run_bootstraps(self) -> Iterator[BootstrapRun]:
        """Run the bootstraps of the rules that are taken, as far as they are trusted."""
        untrusted, _ = self._split_scripts(trusted=False)
        for bootstrap in untrusted:
            message = "this bootstrap is not trusted and was not run"
            self.warnings.append(PlanWarning(message, bootstrap.name, hint=_HINT))
        trusted, _ = self._split_scripts(trusted=True)
        for run in run_bootstraps(trusted, self.environment):
            problem = run.problem and f"this bootstrap {run.problem}"
            for message in filter(None, (problem, run.loss)):
                self.warnings.append(PlanWarning(message, run.bootstrap.name))
            yield run

    def assemble(self, report: Callable[[str], None] = log_debug) -> AssembledContext:
        """Run the context commands, and put everything together; `report` gets a line for each.

        Raises CubError for a command whose failure counts, and for a required parameter.
        """
        self.outputs += run_context_commands(
            self.settings.commands, self.environment, self.settings.parallel, report=report
        )
        self.warnings += list_output_warnings(self.outputs)
        blocks = [(block.name, block.format()) for block in make_blocks(self.outputs)]
        run_inline = partial(self._run_inline, report)
        return self._add_warnings(assemble_context(self.reader, self.plan, blocks, run_inline))

    def preview(self) -> AssembledContext:
        """Put everything together without running anything."""
        return self._add_warnings(assemble_context(self.reader, self.plan))

    def _add_warnings(self, context: AssembledContext) -> AssembledContext:
        """Return the context with all warnings; one of them if there is nothing to print."""
        empty = [] if context.text else [PlanWarning("there is nothing to print", hint=_EMPTY_HINT)]
        return context._replace(warnings=[*self.warnings, *context.warnings, *empty])

    def _run_inline(self, report: Callable[[str], None], command: str) -> str | None:
        """Return the output of a command of the task file, run once; None if it is not trusted."""
        if command in self._inline_outputs:
            return self._inline_outputs[command]
        inline, self._inline_outputs[command] = self._make_inline(command), None
        if not self._may_run(command, is_project=self._has_project_task):
            message = f"the command {command!r} is not trusted and was not run"
            self.warnings.append(PlanWarning(message, inline.origin, hint=_HINT))
            return None
        output = run_context_command(inline, self.environment)
        self.outputs.append(output)
        report(output.to_audit_line())
        self.warnings += list_output_warnings([output])
        self._inline_outputs[command] = output.text
        return output.text

    def _make_inline(self, command: str) -> ContextCommand:
        origin = self.plan.task.name if self.plan.task else ""
        (inline,) = make_cli_commands([command], self.settings.limits)
        return inline._replace(name="Command", origin=origin)

    @property
    def _has_project_task(self) -> bool:
        return self.plan.task is not None and self.plan.task.is_project

    def _may_run(self, script: str, *, is_project: bool) -> bool:
        return not is_project or script in self.approved


def prepare_context(
    stores: Stores,
    request: ContextRequest,
    options: ContextOptions,
    directory: Path,
    environ: Mapping[str, str],
    *,
    is_preview: bool,
) -> ContextBuild:
    """Choose the sources of a context, and look up what may run; nothing has run yet.

    Raises CubError for a task file that can't be chosen, and UsageError for wrong options. Unless
    it is for a preview, also for context commands that the person has not agreed to.
    """
    project = stores.project
    reader = make_text_reader(project, directory)
    plan = plan_context(reader, request)
    layers = resolve_config(project, environ, options.profile)
    settings = resolve_context_settings(layers.values, options)
    refusal = find_refusal(stores, layers.values, settings, options)
    if refusal and not is_preview:
        raise refusal
    bootstraps, warnings = find_bootstraps(() if options.no_bootstrap else plan.rules, reader)
    scripts = [*describe_bootstraps(bootstraps), *(describe_task(plan.task) if plan.task else ())]
    texts = [script.text for script in scripts]
    if texts and not is_preview and find_current_attempt(stores.root):
        hint = "add `--no-bootstrap`, or use a task file without commands"
        raise CubError("the project's commands cannot be run inside an attempt", hint=hint)
    untrusted = [] if options.trust else load_trust(stores.root).list_untrusted(texts)
    variables = build_environment(layers.values["run.hide_env"].value, environ)
    environment = CommandEnvironment(reader.start, variables, request.parameters)
    approved = frozenset(texts).difference(untrusted)
    build = ContextBuild(
        reader, plan, settings, not refusal, bootstraps, environment, approved,
        [*(w for w in layers.warnings if w not in project.config.warnings), *warnings],
    )  # fmt: skip
    if not is_preview and build.list_commands(trusted=True):
        build.preview()  # what is missing is said before anything runs
    return build
