"""Tell which files of a project make something run that nobody calls.

Such a file acts when a person enters a folder, opens an editor, installs, commits, or pushes, or it
names whom to trust then. A file that people call in order to run it, such as a Makefile,
package.json, or a test, is not one: to edit these is the daily work of an agent.
"""

from __future__ import annotations

import re

# Hooks, and the files of agents, are in the table of cub.project.executable_config.
_PATTERNS = (
    r"\.envrc|\.?mise(?:\.\w+)?\.toml|\.tool-versions",  # a shell enters the folder
    r"\.vscode/(?:tasks|launch|settings|extensions)\.json|[^/]+\.code-workspace|\.idea/.*",
    r"\.devcontainer/.*|\.devcontainer\.json|\.exrc|\.n?vimrc|\.nvim\.lua|\.dir-locals\.el",
    r"\.github/(?:workflows|actions)/.*|\.gitlab-ci\.ya?ml|\.circleci/.*|\.travis\.yml",
    r"\.gitea/workflows/.*|\.forgejo/workflows/.*|azure-pipelines\.ya?ml|Jenkinsfile",
    r"\.npmrc|\.yarnrc(?:\.yml)?|\.yarn/(?:releases|plugins)/.*|\.pnpmfile\.c?js|pip\.conf",
    r"\.gitmodules|\.gitconfig|\.hgrc|\.cargo/config(?:\.toml)?|\.mvn/.*|gradle/wrapper/.*",
    r"\.(?:bash|zsh)(?:rc|env|_profile|_login|_logout)|\.z?profile|\.gdbinit|\.lldbinit",
    r"sitecustomize\.py|usercustomize\.py|[^/]+\.pth",
)
_PATTERN = re.compile("|".join(_PATTERNS), re.DOTALL | re.IGNORECASE)


def find_running_part(path: str) -> str:
    """Return the part of a relative path that makes a file one of these; "" for all others."""
    from cub.project.executable_config import classify_executable_path

    parts = path.split("/")
    names = ("/".join(parts[at:]) for at in range(len(parts) - 1, -1, -1))
    return next(
        (name for name in names if _PATTERN.fullmatch(name) or classify_executable_path(name)), ""
    )
