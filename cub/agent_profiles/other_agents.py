"""Describe agents that cub can't start, by the files that they read."""

from __future__ import annotations

from cub.agent_profiles.agent_profile import AgentProfile

COPILOT = AgentProfile(
    title="Copilot",
    project_files=(".github/copilot-instructions.md", ".github/instructions/", "AGENTS.md"),
    user_files=(".copilot/copilot-instructions.md", ".copilot/instructions/"),
    executables=(r"\.github/(?:agents|prompts|chatmodes)/.*",),
    settings=(r"\.vscode/mcp\.json",),
)
CURSOR = AgentProfile(
    title="Cursor",
    project_files=(".cursor/rules/", ".cursorrules", "AGENTS.md"),
    folder=".cursor",
    settings=(r"\.cursor/mcp\.json",),
    executables=(r"\.cursor/(?:agents?|commands?)/.*",),
)
AMP = AgentProfile(
    title="Amp",
    project_files=("AGENTS.md",),
    parent_files=("AGENTS.md",),
    user_files=(".config/amp/AGENTS.md",),
)
ZED = AgentProfile(title="Zed", project_files=("AGENTS.md",), user_files=(".config/zed/AGENTS.md",))
WINDSURF = AgentProfile(
    title="Windsurf", project_files=(".windsurf/rules/", ".windsurfrules", "AGENTS.md")
)
CLINE = AgentProfile(
    title="Cline",
    project_files=(".clinerules", ".clinerules/", "AGENTS.md"),
    user_files=("Documents/Cline/Rules/",),
)
JUNIE = AgentProfile(
    title="Junie",
    project_files=(".junie/*", "AGENTS.md"),  # it has other things below
    user_files=(".junie/AGENTS.md",),
)
KIRO = AgentProfile(
    title="Kiro", project_files=(".kiro/steering/", "AGENTS.md"), user_files=(".kiro/steering/",)
)
AUGMENT = AgentProfile(title="Augment", project_files=(".augment/rules/", ".augment/guidelines.md"))
GEMINI_CODE_ASSIST = AgentProfile(
    title="Gemini Code Assist", project_files=(".gemini/styleguide.md",)
)
