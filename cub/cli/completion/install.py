"""Install completion: write a shell's script, and add at most one line to a start-up file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from shlex import quote

from cub.cli import output
from cub.errors import UsageError
from cub.files.single_file import read_single_file, replace_single_file
from cub.project.config_layers import abbreviate_home

_BASH = r"""_cub_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$(printf '%q' "$line")")
    done < <(IFS=$'\n'; env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
        _CUB_COMPLETE=complete_bash "$1" 2>/dev/null)
}
complete -o default -o nosort -F _cub_completion cub 2>/dev/null ||
    complete -o default -F _cub_completion cub
"""

_ZSH = r"""#compdef cub
_cub_completion() {
    eval "$(env _TYPER_COMPLETE_ARGS="${(j: :)words[1,$CURRENT]}" \
        _CUB_COMPLETE=complete_zsh $words[1] 2>/dev/null)"
}
if [ "$funcstack[1]" = _cub ]; then
    _cub_completion "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _cub_completion cub
fi
"""

_FISH = r"""function __cub_complete
    set -l found (env _TYPER_COMPLETE_ARGS=(commandline -cp | string collect) \
        _CUB_COMPLETE=complete_fish cub 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command cub --no-files --keep-order --arguments '(__cub_complete)'
"""

SHELL_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def install_completion(name: str) -> None:
    """Write the script of the shell `name`, let the shell load it, and say so; "" is this shell."""
    shell = resolve_shell(name)
    script, loader = install_completion_script(shell)
    output.print_line(f"The completion for {shell} is in {abbreviate_home(script)}.")
    if loader is not None:
        output.print_line(f"A line at the end of {abbreviate_home(loader)} loads it.")
    output.print_message("Open a new shell to use it.")


def install_completion_script(shell: str) -> tuple[Path, Path | None]:
    """Write the script, and let the shell load it; a second time changes nothing.

    Return the script, and the start-up file that got a line to load it; None if none was needed.
    typer's own way decodes and rewrites your file: with other line endings, without whitespace at
    its ends, and with a style for all menus of zsh.
    """
    from platformdirs import user_data_path

    home = Path.home()
    if shell == "fish":  # it loads all scripts of its directory
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        script = config / "fish" / "completions" / "cub.fish"
        _write(script, SHELL_SCRIPTS[shell].encode())
        return script, None
    script = user_data_path("cub") / f"completion.{shell}"
    _write(script, SHELL_SCRIPTS[shell].encode())
    quoted = quote(script.as_posix())
    line = f"[ -r {quoted} ] && . {quoted}".encode()
    zsh = Path(os.environ.get("ZDOTDIR") or home)
    loader = home / ".bashrc" if shell == "bash" else zsh / ".zshrc"
    before = read_single_file(loader, abbreviate_home(loader)) or b""
    if line in before.split(b"\n"):
        return script, None
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    _write(loader, before + gap + line + b"\n")
    return script, loader


def _write(path: Path, data: bytes) -> None:
    before = read_single_file(path, abbreviate_home(path))
    if before != data:
        replace_single_file(path, before, data, abbreviate_home(path))


def resolve_shell(name: str) -> str:
    """Return a shell that cub completes in; for "", the one that started this process."""
    shell = name or _find_current_shell()
    if shell not in SHELL_SCRIPTS:
        what = f"no completion for {name!r}" if name else "unknown shell"
        *others, last = SHELL_SCRIPTS
        raise UsageError(what, hint=f"choose from {', '.join(others)} or {last}")
    return shell


def _find_current_shell() -> str:
    """Return the nearest shell among the parent processes; else the account's shell."""
    import psutil

    names = []
    with suppress(psutil.Error):  # a parent has ended, or belongs to another user
        names = [process.name().removeprefix("-") for process in psutil.Process().parents()]
    login = Path(os.environ.get("SHELL", "")).name
    return next((name for name in (*names, login) if name in SHELL_SCRIPTS), login)
