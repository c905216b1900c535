"""The scripts that make the shells ask cub."""

from __future__ import annotations

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

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
