"""Spellings of `rm -rf y`, and what `Bash(rm *)` says of them; y is a file in the folder.

A real bash tries all but the rows of `NOT_TRIED`: afterwards y is gone.
"""

from __future__ import annotations

DENIED = (
    "rm -rf y", "rm y", "rm -fr y", "rm -r -f y", "rm --recursive --force y", "rm -f -- y",
    "rm   y", " rm y", "rm\ty", "rm y;", "true; rm y", "true && rm y", "false || rm y",
    "true | rm y", "true & rm y", "true\nrm y", "(rm y)", "{ rm y; }", "! rm y",
    "echo $(rm y)", "echo `rm y`", 'echo "$(rm y)"', 'echo "`rm y`"', "cat <(rm y)", "true >(rm y)",
    "x=$(rm y)", "export x=$(rm y)", "a=(1 $(rm y))", "echo ${x:-$(rm y)}", "echo $((1+$(rm y)0))",
    "cat <<E\n$(rm y)\nE", "cat <<E\n`rm y`\nE", 'cat <<< "$(rm y)"', "cat < `rm y; echo y2` y2",
    "if true; then rm y; fi", "if rm y; then :; fi", "while rm y; do break; done",
    "until rm y; do :; done", "for a in 1; do rm y; done", "for ((;;)); do rm y; break; done",
    "case x in x) rm y;; esac", "case $(rm y) in *) ;; esac", "[[ -n $(rm y) ]]",
    "select x in $(rm y); do :; done",
    "f() { rm y; }; f", "function f { rm y; }; f", "f() ( rm y ); f",
    "A=b rm y", "A=b C+=d rm y", ">log rm y", "rm y >log 2>&1", "2>/dev/null rm y", "<y rm y",
    "/bin/rm y", "/usr/bin/../bin/rm y", "'rm' y", '"rm" y', "r''m y", 'r""m y', "\\rm y", "r\\m y",
    "r\\\nm y", "$'rm' y", "$'r\\x6d' y", "$'\\162m' y", "$'\\u0072m' y", '$"rm" y', "{rm,-rf,y}",
    "{rm,y}", "{r,}m y",
    "true; {rm,y}", "rm$IFS-rf${IFS}y", "rm${IFS}y", "r$@m y", "rm$x y", "$x rm y", "rm${x} y",
    "r$(true)m y", "$(true) rm y",
    "$(echo rm y)", "`echo rm y`", "$(printf 'rm y')", "echo rm y | sh", "printf 'rm y' | bash",
    "echo 'rm y' | xargs -I{} sh -c '{}'",
    "sh <<< 'rm y'", "sh <<E\nrm y\nE", "bash -s <<'E'\ntrue\nrm y\nE", "cat <<E | sh\nrm y\nE",
    "source <(echo rm y)", ". /dev/stdin <<< 'rm y'", "bash <(echo rm y)",
    "sh -c 'rm y'", "bash -lc 'rm y'", "bash -xec 'rm y'", "bash --norc -c 'rm y'",
    "bash -o pipefail -c 'rm y'", "dash -c 'rm y'", "zsh -c 'rm y'", "ksh -c 'rm y'",
    "ash -c 'rm y'", "fish -c 'rm y'", "rbash -c 'rm y'",
    "sh -c 'sh -c \"rm y\"'", 'sh -c "true; (rm y)"',
    "eval rm y", "eval 'rm y'", 'eval "true; rm y"', "exec rm y", "exec -a x rm y", "command rm y",
    "command -p rm y", "coproc rm y; wait", "time rm y", "time -p rm y", "time ! rm y",
    "trap 'rm y' EXIT", "trap -- 'rm y' 0",
    "env rm y", "env -i rm y", "env -u X A=b rm y", "env -S 'rm y'", "/usr/bin/env rm y",
    "nohup rm y", "nice rm y", "nice -n 5 rm y", "nice -5 rm y", "ionice -c 3 rm y",
    "timeout 5 rm y", "timeout -s KILL 5 rm y", "timeout $x 5 rm y", "setsid rm y",
    "setsid -w rm y", "stdbuf -oL rm y", "stdbuf -o L rm y",
    "flock lock rm y", "flock lock -c 'rm y'", "chroot / rm $PWD/y", "taskset 1 rm y",
    "taskset -c 0 rm y", "chrt -o 0 rm y", "prlimit --nofile=99 rm y", "setarch x86_64 rm y",
    "busybox rm y", "busybox sh -c 'rm y'", "toybox rm y", "unshare rm y", "nsenter -t $$ rm y",
    "strace -o log rm y", "ltrace rm y", "script -c 'rm y' log", "script -qc 'rm y' log",
    "watch -n 1 rm y", "parallel rm ::: y",
    "parallel 'rm {}' ::: y", "sudo rm y", "sudo -u root -n rm y", "sudo A=b rm y",
    "sudo sh -c 'rm y'", "doas rm y", "su -c 'rm y'", "su root -c 'rm y'",
    "runuser -u root -- rm y", "systemd-run --user -p A=b rm y", "dbus-run-session rm y",
    "fakeroot rm y", "unbuffer rm y",
    "xargs rm < y2", "xargs -0 rm y < /dev/null", "echo y | xargs rm",
    "echo y | xargs -n 1 -I{} rm {}", "find . -name y -exec rm {} \\;",
    "find . -name y -execdir rm {} +", "find y -exec sh -c 'rm y' \\;",
    "awk 'BEGIN { system(\"rm y\") }'", "awk 'BEGIN { \"rm y\" | getline }'",
    "awk 'BEGIN { print | \"rm y\" }'", "python3 -c \"import os; os.system('rm y')\"",
    "perl -e 'system(\"rm y\")'",
    "npx -c 'rm y'", "npx rm y", "npm exec -- rm y", "npm exec -c 'rm y'", "uvx rm y",
    "uv run rm y", "poetry run rm y", "bundle exec rm y", "pipx run rm y", "git bisect run rm y",
    "git submodule foreach 'rm y'",
    "sudo env A=b nice -n 3 timeout 5 sh -c 'rm y'",
)  # fmt: skip
# What no rule about a command can see: the program has another name, or comes from elsewhere.
NOT_FOUND = (
    "mv y /dev/shm/cub-gone-$$", "find y -delete", "unlink y", "perl -e 'unlink q(y)'",
    "python3 -c 'import os; os.remove(\"y\")'", "echo cm0geQ== | base64 -d | sh",
    "a=r; b=m; $a$b y",
    "x='rm y'; $x", "x='rm y'; eval \"$x\"", "cp /bin/rm ./other; ./other y",
    "ln -s /bin/rm other; ./other y",
    "{r..r}m y", "$(echo r)m y", "/bin/[r]m y", "f() { $1 y; }; f rm",
)  # fmt: skip
# They need a program that is not everywhere, a repository, or more rights.
_RARE = (
    "zsh", "ksh", "ash ", "fish", "rbash", "busybox", "toybox", "ltrace", "strace", "parallel",
    "sudo", "doas", "su ", "runuser", "systemd-run", "dbus-run", "unbuffer", "fakeroot", "script",
    "npx", "npm", "uvx", "uv ", "pipx", "poetry", "bundle", "bisect", "submodule", "chroot",
    "unshare", "nsenter", "setarch", "watch", "perl", "awk", "python3", "ionice", "chrt", "prlimit",
    "taskset", "stdbuf", "setsid", "flock",
)  # fmt: skip
NOT_TRIED = frozenset(one for one in (*DENIED, *NOT_FOUND) if any(name in one for name in _RARE))
