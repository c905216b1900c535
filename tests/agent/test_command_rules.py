"""Commands and what rules say of them; the spellings of `rm` are in command_spellings."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cub.agent.command_rules import denies_command, find_possible_commands
from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Decision, PermissionMode, Permissions
from cub.agent.read_state import ReadState
from cub.agent.shell_commands import read_command_line
from cub.agent.shell_programs import find_risks
from cub.agent.tools.bash import BASH
from cub.agent.tools.tool import ToolContext
from cub.processes.command import StopRequest
from tests.agent.command_spellings import DENIED, NOT_FOUND, NOT_TRIED
from tests.conftest import git

EVERYDAY = ("git *", "pytest *", "npm test *", "make *")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolContext]:
    """A project with a folder, a link out of it, and a file with secrets."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("commands")))
    root, home = base / "project", base / "home"
    for folder in (root / "sub", home):
        folder.mkdir(parents=True)
    for file in (root / "a.py", root / ".env", root / "sub/.env", home / "key"):
        file.write_text("x")
    (root / "keys").symlink_to(home)
    for folder in (root / "linked", root / "many"):
        folder.mkdir()
    (root / "linked/key").symlink_to(home / "key")
    for number in range(201):
        (root / f"many/{number}").write_text("")
    stop = StopRequest()
    yield ToolContext(root, root, {"HOME": str(home)}, stop)
    stop.close()


def decide(
    context: ToolContext,
    command: str,
    mode: PermissionMode = "ask",
    *,
    allow: tuple[str, ...] = EVERYDAY,
    deny: tuple[str, ...] = (),
) -> Decision:
    rules = [parse_rule(one if ")" in one else f"Bash({one})") for one in allow]
    permissions = Permissions(mode, rules, [*map(parse_rule, deny)])
    return permissions.decide(BASH, {"command": command}, context)


@pytest.mark.parametrize("command", DENIED)
def test_a_spelling_is_denied(command: str) -> None:
    assert denies_command("rm *", command)


@pytest.mark.parametrize("command", NOT_FOUND)
def test_a_spelling_is_out_of_reach(command: str) -> None:
    assert not denies_command("rm *", command)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("command", [one for one in (*DENIED, *NOT_FOUND) if one not in NOT_TRIED])
def test_a_spelling_removes_the_file(tmp_path: Path, command: str) -> None:
    (tmp_path / "y").write_text("x")
    (tmp_path / "y2").write_text("y\n")
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, check=False, capture_output=True, timeout=20,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert not (tmp_path / "y").exists(), ended.stderr


@pytest.mark.parametrize(
    "command",
    [
        "git status", "cd sub && git status | head", "git status 2>&1 | head -5",
        'git commit -m "a;b"',
        "git commit -m 'rm x && y'", 'git log --format="$x"',
        "git log --pretty='%h %s' --author='A B'",
        "git diff | grep -n 'foo|bar' | wc -l", "git diff >/dev/null 2>&1", "git add *.py",
        "git add -A && git commit -m x && git push", "git log HEAD~1..HEAD@{1}", "git tag {a,b}",
        "git log \\\n  --oneline", "git status # the state", "git show HEAD:a.py | diff - a.py",
        "git log | sed -n 1,10p | awk '{print $1}'", "git ls-files | sort -u | uniq -c | sort -rn",
        "git ls-files | xargs git add", "git ls-files | tr a-z A-Z | cut -d. -f1",
        'git commit -m "$(cat <<\'EOF\'\nit\'s `x` and $(y)\n\nend\nEOF\n)"',
        "git commit -F a.py <<E\nx $(git log) y\nE", "git apply <<'E'\n+x\nE",
        'for f in a b; do git add "$f"; done', "if [ -f x ]; then git status; else echo no; fi",
        "while true; do git status; sleep 1; done", "case x in x) git status;; esac",
        "[[ -n x ]] && git status", "test -d sub && git status", "! git diff --quiet",
        '[ "$(git rev-parse HEAD)" = x ] && git status', "x=1; git add $x", "x=$(git log); echo $x",
        "(cd sub && make)", "{ make; git status; }", "make & wait", "make -j4 && make test || true",
        "set -euo pipefail; make", "make 2>&1 | tail -n 20", "make -C sub", "make", "time make",
        "timeout 60 pytest -q", "pytest -q tests 2>&1 | tail -20", "nice -n 5 pytest", "nohup make",
        'pytest -x; echo "exit: $?"', "pytest -k 'a and (b or c)'",
        'pytest "tests/test_a.py::test[1]"',
        "pytest $ARGS", "pytest tests/*.py", "npm test", "npm test -- --watch=false",
        "echo a && npm test",
        "pwd; ls -la sub; git status", "cat a.py | head -3; git status", "head -5 sub/*.py; make",
        "grep -rn x . ; make", "wc -l < a.py; make", "git stash list | jq .",
        "printf '%s\\n' x; make",
        "echo $((1 + 2)); make", "echo ${x:-y}; make", "diff <(git show a:x) <(git show b:x)",
        "command git status", "git -C sub status", "git grep -n foo", "git rebase -i main",
        "git checkout -- '*.py'", "git diff --stat HEAD -- 'a b'",
        'git log -1 && echo "a $(git log) b"',
        "whoami; git add $(git ls-files)", "cat <<< x | git apply", "make >/dev/null </dev/null",
        'echo "$x [ok]"; make',
        "cd ./sub; make", "git log | grep '[a-z]'", "git ls-files | xargs -n1 git add",
    ],
)  # fmt: skip
def test_rules_cover_an_everyday_command(context: ToolContext, command: str) -> None:
    assert decide(context, command) == Decision("allow")


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "git status && rm x", "rm x | git apply",
        "make; ./run", "./git status", "gitk", "npm tests", "npm install", "GIT status",
        # the program, or a part of the line, is not known
        "$x status", "g$x status", "git$x status", "`echo git` status", "$(echo git) status",
        "f() { git status; }; f", "git() { rm x; }; git", "eval git status", "source a.sh; make",
        "git status; (( x = 1 ))", "git status; echo $((x))", "git status; echo ${x@P}",
        "git status; [[ 'a[$(rm x)]' -eq 0 ]]", "git status; test -v 'a[$(rm x)]'",
        "git status; printf -v 'a[$(rm x)]' y", "git log ${!x}", "git status; read x",
        "git log $[1+1]", "git status |& sh", "git status & rm x", "git diff <(rm x)",
        "git diff >(x)",
        "git log `rm x`", "git log\r\nrm x", "git difftool x", "cat <<E\n$(rm x)\nE\ngit log",
        "git commit -F - <<E\n`rm x`\nE", "git status; alias x=y", "git status \\", "git 'x",
        "git status; {git,log}", "x='-c a=b'; git $x status", "x=output=y; git log --$x",
        'x=output=y; git log "--$x"', "timeout $x make", "time -o x make",
        "x='-v a[$(rm${IFS}x)] y'; printf $x; make", "x='-v a[$(rm${IFS}x)]'; [ $x ]; make",
        "[ \"$x\"'' 'a[$(rm x)]' ]; make",
        "[ * ]; make", "[ a > out ]; make", "[ -f x -o -v 'a[$(rm x)]' ]; make", "test *; make",
        "wait -p 'a[$(rm x)]'; make", '[ "\\"" = $x ]; make',
        "x='-v a[$(rm${IFS}x)]'; test $x; make", "x=-v; test \"$x\" 'a[$(rm x)]'; make",
        "x=-v; [ \"$x\" 'a[$(rm x)]' ]; make", "[\t-v 'a[$(rm x)]' ]; make", "date +%s -s x; make",
        "git\u00a0status", "git status\r", "git log ~root/x; cat ~root/x",
        # what a program does goes by the environment
        "PATH=. git status", "PATH=.; git status", "GIT_PAGER=x git log",
        "export PATH=.; git status",
        "for PATH in .; do git status; done", "http_proxy=x; git fetch", "x=y git status",
        # a program runs another one
        "sudo git status", "env git status", "sh -c 'git status'", "xargs git < a.py | rm x",
        "find . -exec git add {} \\;", "exec git status", "trap 'git status' EXIT",
        "coproc git status",
        "xargs --arg-file head touch ran; make", "timeout --unknown 5 make",
        "git ls-files | xargs wc -l",
        # files outside of the project, or written, or not known
        "cat /etc/passwd; make", "cat ~/key; make", "cat ../x; make", "cat keys/key; make",
        "head keys/k*; make", "cd .. && make", "cd && make", "cd - && make", "cd $x && make",
        "cd keys; make",
        "cd sub; cat ../../x; make", "cat $x; make", 'cat "sub/$x"; make', "make < /etc/passwd",
        "make < $x", "make > out", "make >> a.py", "make &> out", "make >| out", "make 2>err",
        "make <> x",
        "make > $x", "make | tee out", "make > ~/out", "make >& out",
        # options that run or write
        "git diff | sort -o x", "git diff | sort --outp=x", "git diff | sort -uo x",
        "git log | sed s/a/b/e", "git log | sed '/a\\/p/e x/'", "git log | sed '/[/]p/e x/'",
        "git log | sed '/a/w x'", "git log | awk 'NR<5 {print > \"x\"}'",
        "git log | sed -i s/a/b/ a.py", "git log | sed 'w x'", "git log | awk '{print > \"x\"}'",
        "git log | awk 'BEGIN{system(\"x\")}'", "git log | uniq - x",
        "git log | grep -f /etc/passwd",
        "git log | jq -f x", "git ls-files | wc --files0-from=-", "git log | sort $x",
        "git log | sort *", "git log | sort -*",
        'git log | sort ""*',
        "git log --output-directory=x", "git stash show --output=x", "git rev-list --outp x",
        "git log | grep -ex /etc/passwd", "git log | grep -nex /etc/passwd",
        "git log | grep --regexp=x /etc/passwd", "git log | rg --files /etc",
        "git log | column -t /etc/passwd", "git log | ls -w /etc",
        "make; cat /*/*/*/*/*/x", f"make; uniq {'-' * 50} x",
    ],
)  # fmt: skip
def test_rules_cover_nothing_else(context: ToolContext, command: str) -> None:
    assert decide(context, command).answer == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ls", "ls -la sub", "cat a.py", "cat sub/../a.py | head -3", "echo hi", "cd sub && ls -a",
        "grep -rn x . | head", "grep -n '[a-z]*' a.py", "rg -n x sub 2>/dev/null", "head *.py",
        "find . -name '*.py' -type f | sort | wc -l", "sed -n 1,3p a.py", "wc -l < a.py",
        "sed -n '/a/,/b c/p' a.py", "awk 'NR>=2 && NR<5' a.py", "awk 'NR==1{print $1}' a.py",
        "[ -f a.py ] && echo yes", "[[ $x == a* || ! -d sub ]] && ls",
        'test -n "$x"', '[ "$x" = y ]', "x=1", "cd ''", "cat ''", "command -v git",
        "diff a.py .env", "stat a.py", "file sub", "du -sh .", "tree -L 2", "sha256sum a.py", "id",
        "realpath a.py", "seq 3", "od -c a.py", "paste a.py a.py",
    ],
)  # fmt: skip
def test_a_command_that_only_reads_in_the_project_needs_no_rule(
    context: ToolContext, command: str
) -> None:
    for mode in ("ask", "accept-edits", "plan"):
        assert decide(context, command, mode, allow=()) == Decision("allow")


@pytest.mark.parametrize(
    "command",
    [
        "cat ../x", "ls ~", "cat *", "cat keys/key", "cat < ~/key", "cd keys && ls",
        "cd .. && cat x",
        "head k*/*", "echo ~/*", "echo /etc/*", "cat many/*", "grep -R x .", "rg -L x",
        "grep --dereference x .", "find -L . -name key", "find / -name x", "find keys/ -name x",
        "find . -delete", "find * -name x", "sort -* a.py", "diff . keys", "diff -r . sub",
        "diff linked sub", "rg --pre x y", "rg x ~", "cat a.py > b", "ls; make", "make",
        "ls $x", "A=b ls", "./ls", "xargs cat", "cat a.py | sh", "date -s x", "command make",
        "file -C -m x", "file -f a.py", "tree -o x", "tree -l", "tree -R -L 1", "du -L .",
        "du /etc", "stat ~/key", "realpath ../x",
    ],
)  # fmt: skip
def test_what_may_do_more_than_to_read_in_the_project_needs_a_rule(
    context: ToolContext, command: str
) -> None:
    assert decide(context, command, allow=()).answer == "ask"
    assert decide(context, command, "plan", allow=EVERYDAY).answer == "deny"


@pytest.fixture(scope="module")
def repository(context: ToolContext, tmp_path_factory: pytest.TempPathFactory) -> ToolContext:
    """A repository with a folder, beside another folder."""
    root = tmp_path_factory.mktemp("repository") / "project"
    shutil.copytree(context.root / "sub", root / "sub")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    (root.parent / "beside").mkdir()
    git(root, "branch", "odd")
    return replace(context, folder=root, root=root)


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git diff HEAD~1..HEAD -- sub", "cd sub && git log --oneline | head -3",
        "git --no-pager show --stat", "git -C sub blame .env", "git branch -a", "git tag -l 'v*'",
        "git remote -v", "git stash list", "git rev-parse --show-toplevel", "git grep -n x",
        "git diff -- {root}/sub", "git show HEAD:sub/.env", "git diff main...dev",
        "git ls-files ..", "git merge-base HEAD odd && git status -sb",
    ],
)  # fmt: skip
def test_a_git_that_only_reads_needs_no_rule(repository: ToolContext, command: str) -> None:
    folder = repository.root / "sub" if ".." in command.split() else repository.root
    context = replace(repository, folder=folder)
    for mode in ("ask", "plan"):
        line = command.replace("{root}", str(repository.root))
        assert decide(context, line, mode, allow=()) == Decision("allow")


@pytest.mark.parametrize(
    "command",
    [
        "git branch new", "git branch -D odd", "git branch -l -D odd", "git branch -v new",
        "git tag v1", "git tag -d v1", "git remote add x y", "git stash", "git stash drop",
        "git reflog expire --all", "git worktree add x", "git worktree list -z x", "git add a",
        "git -c core.fsmonitor=x status", "git -p log", "git --git-dir=x log",
        "git --work-tree=/ diff", "git diff --output=x", "git diff --no-index sub /etc",
        "git diff --no-ind a b",
        "git diff ../beside sub", "git diff sub/../../beside x", "git diff ~/x y",
        "git diff /etc /x", "git blame --contents /etc/passwd sub/.env", "git grep -O x",
        "git blame -S /etc/passwd sub/.env", "git blame -wSx sub/.env",
        "git grep x ../beside",
        "git -C .. status", "git -C ../beside status", "git -C gone status", "cd .. && git status",
        "git $x", "git diff $x", "git diff *", "GIT_DIR=x git status", "git", "git -C",
        "git -C sub",
        "git status > sub/.env", "cd sub && cd .. && cd sub && git status", "./git status",
        "git fetch", "git archive HEAD", "git rm x", "git config -l", "git log --ext-diff | sh",
    ],
)  # fmt: skip
def test_a_git_that_may_do_more_needs_a_rule(repository: ToolContext, command: str) -> None:
    assert decide(repository, command, allow=()).answer == "ask"


def test_a_git_asks_where_the_repository_names_a_program(repository: ToolContext) -> None:
    git(repository.root, "config", "diff.x.textconv", "x")
    reason = "needs approval: the repository's configuration sets diff.x.textconv"
    try:
        asked = decide(repository, "git status", allow=())
        assert asked == Decision("ask", f"this command {reason}")
        assert decide(repository, "ls; git diff", allow=()).reason == f"`git diff` {reason}"
        asked = decide(repository, "git -C ../beside log", allow=())
        assert asked.reason.startswith("the command reads ../beside: ")
        assert decide(repository, "git status", allow=("git *",)).answer == "allow"
    finally:
        git(repository.root, "config", "--unset", "diff.x.textconv")


def test_a_git_that_prints_files_needs_a_rule_where_one_denies_reading(
    repository: ToolContext,
) -> None:
    for line in ("git diff", "git show HEAD:sub/.env", "git log -p", "git grep x"):
        assert decide(repository, line, allow=(), deny=("Read(.env)",)).answer == "ask"
    assert decide(repository, "git status", allow=(), deny=("Read(.env)",)).answer == "allow"
    assert decide(repository, "git status", allow=(), deny=("Bash(git *)",)).answer == "deny"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("ls -a", "allow"), ("cat a.py | grep x", "allow"), ("find . -name .env", "allow"),
        ("cat .env", "deny"), ("diff . sub", "deny"),
        ("grep -nr x .", "ask"), ("rg x", "ask"), ("diff a.py sub/a.py", "ask"),
    ],
)  # fmt: skip
def test_a_rule_that_denies_reading_holds_without_a_rule_that_allows(
    context: ToolContext, command: str, answer: str
) -> None:
    assert decide(context, command, allow=(), deny=("Read(.env)",)).answer == answer


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("git -c core.pager=x log", "-c"),
        ("git -C sub -c core.pager=x log", "-c"),
        ("git --exec-path=x log", "--exec-path"),
        ("git --config-env=core.pager=X log", "--config-env"),
        ("git grep -Orm x", "-O"),
        ("git grep -nOrm x", "-O"),
        ("git grep --open-files-in-pager=rm x", "--open-files-in-pager"),
        ("git grep --open=rm x", "--open-files-in-pager"),
        ("git diff --output=/etc/x", "--output"),
        ("git log --outp /etc/x", "--output"),
        ("git config alias.x '!rm'", "config"),
        ("git clone -u x y", "-u"),
        ("git fetch --upload-pack=x", "--upload-pack"),
        ("git push --exec=x", "--exec"),
        ("git rebase -x make", "-x"),
        ("git rebase --exec make", "--exec"),
        ("git bisect run x", "bisect"),
        ("git submodule foreach x", "submodule"),
        ("git credential fill", "credential"),
    ],
)
def test_a_rule_has_to_name_an_option_that_runs_or_writes(
    context: ToolContext, command: str, option: str
) -> None:
    assert decide(context, command, allow=("git *",)).answer == "ask"
    assert decide(context, command, allow=("git *", command)).answer == "allow"
    assert option in find_risks(read_command_line(command).commands[0])


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git -c *", "git -c core.pager=x log"),
        ("git config *", "git config user.name x"),
        ("git rebase -x *", "git rebase -x make main"),
        ("find * -delete", "find . -name x -delete"),
        ("git diff --output=/etc/x", "git diff --output=/etc/x"),
        ("CI=1 npm test *", "CI=1 npm test"),
        ("make x > out", "make x > out"),
        ("cat *", "cat a.py"),
        ("sh -c *", "sh -c 'rm x'"),
        ("sudo make *", "sudo make x"),
    ],
)
def test_a_rule_may_name_what_no_wildcard_covers(
    context: ToolContext, rule: str, command: str
) -> None:
    assert decide(context, command, allow=(rule,)).answer == "allow"


@pytest.mark.parametrize(
    ("command", "rules", "mode", "answer"),
    [
        ("make > out", ("make *",), "accept-edits", "allow"),
        ("make > out", ("make *", "Edit(out)"), "ask", "allow"),
        ("make > out", ("make *", "Edit(src/**)"), "ask", "ask"),
        ("make > .envrc", ("make *",), "accept-edits", "ask"),
        ("make > .git/hooks/x", ("make *",), "accept-edits", "ask"),
        ("make > ~/x", ("make *",), "accept-edits", "ask"),
        ("make > ~/x", ("make *", "Edit(~/x)"), "ask", "allow"),
        ("cd sub && make > ../../x", ("make *",), "accept-edits", "ask"),
        ("make | tee out", ("make *", "tee *"), "ask", "allow"),
        ("make < ~/key", ("make *", "Read(~/**)"), "ask", "allow"),
        ("cat ~/key", ("cat *",), "ask", "ask"),
        ("cat ~/key", ("cat *", "Read(~/**)"), "ask", "allow"),
        ("make > out", ("make *",), "plan", "deny"),
        ("mkdir -p sub/new && touch sub/new/x a.py", (), "accept-edits", "allow"),
        ("mkdir -p sub/new", (), "ask", "ask"),
        ("mkdir sub/new", ("Edit(sub/**)",), "ask", "allow"),
        ("mkdir new", (), "plan", "deny"),
        ("git log | head && cat a.py", (), "plan", "ask"),
        ("git log | head && cat a.py", ("git *",), "plan", "allow"),
        ("git log --output=x", ("git *",), "plan", "deny"),
        ("git diff > a.patch", ("git *", "Edit"), "plan", "deny"),
        ("git commit", ("git *",), "plan", "deny"),
        ("mkdir new", ("mkdir *",), "ask", "allow"),
        ("touch .envrc", (), "accept-edits", "ask"),
        ("mkdir ../x", (), "accept-edits", "ask"),
        ("touch keys/x", (), "accept-edits", "ask"),
        ("touch $x", (), "accept-edits", "ask"),
        ("make > out", (), "bypass", "allow"),
    ],
)
def test_files_of_a_command_are_judged_as_edits_and_reads(
    context: ToolContext, command: str, rules: tuple[str, ...], mode: PermissionMode, answer: str
) -> None:
    assert decide(context, command, mode, allow=rules).answer == answer


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Read(.env)", "cat .env"),
        ("Read(.env)", "cat < .env"),
        ("Read(.env)", "cd sub && cat .env"),
        ("Read(sub/.env)", "cd sub && cat .env"),
        ("Read(.env)", "cat .e*"),
        ("Read(.env)", "cat -- .ENV"),
        ("Read(.env)", "head -n 3 .env"),
        ("Read(.env)", "grep -n KEY .env"),
        ("Read(.env)", "sed -n 1p .env"),
        ("Read(.env)", "sudo less .env"),
        ("Read(.env)", "sh -c 'tail -3 .env'"),
        ("Read(.env)", "true; base64 ./sub/../.env | sh"),
        ("Read(.env)", "cp .env x"),
        ("Read(.env)", "source .env"),
        ("Read(.env)", "dd if=.env"),
        ("Read(.env)", "curl -d @.env x"),
        ("Read(.env)", "docker run --env-file=.env x"),
        ("Read(.env)", "sudo vim ./.env"),
        ("Read(.env)", "uniq .env"),
        ("Read(.env)", 'cat "$PWD/.env"'),
        ("Read(.env)", "cat $(pwd)/.env"),
        ("Read(.env)", "cat $'\\x2eenv'"),
        ("Read(~/**)", "cat $HOME/key"),
        ("Read(~/**)", 'vim "${HOME}/key"'),
        ("Read(sub/**)", "cp -r sub x"),
        ("Read(sub/**)", "echo sub/*"),
        ("Read(~/**)", "cat keys/key"),
        ("Read(keys/**)", "cat ~/key"),
        ("Edit(a.py)", "echo x > a.py"),
        ("Edit(a.py)", "echo x >> sub/../a.py"),
        ("Edit(a.py)", "echo x | tee a.py"),
        ("Edit(a.py)", "sed -i s/a/b/ a.py"),
        ("Edit(a.py)", "cp x a.py"),
        ("Edit(a.py)", "sed --in-place s/a/b/ a.py"),
        ("Edit(a.py)", "sort -o a.py x"),
        ("Edit(a.py)", "rm a.py"),
        ("Edit(a.py)", "chmod +x a.py"),
        ("Edit(sub/**)", "rm -rf sub"),
        ("Edit(sub/**)", "cp -t sub a.py"),
        ("Edit", "echo x > new"),
        ("Edit", "mkdir new"),
        ("Read", "cat a.py"),
        ("Read", "ls -l"),
        ("Read", "find -name x"),
        ("Read", "rg x"),
        ("Read", "grep -r x"),
    ],
)
def test_rules_about_files_deny_commands_that_name_them(
    context: ToolContext, rule: str, command: str
) -> None:
    assert decide(context, command, "bypass", deny=(rule,)).answer == "deny"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Read(.env)", "grep -n .env a.py"),
        ("Read(.env)", "echo .env"),
        ("Read(.env)", "cat a.py"),
        ("Read(.env)", "cat *"),
        ("Read(.env)", "git add .env"),
        ("Read(.env)", "echo .env >> .gitignore"),
        ("Read(.env)", "./run .env.example sub"),
        ("Read", "pytest a.py"),
        ("Edit(a.py)", "cat a.py"),
        ("Edit(a.py)", "python a.py"),
        ("Edit", "make > /dev/null 2>&1"),
        ("Bash(rm *)", "git commit -m 'rm x; rm y'"),
        ("Bash(rm *)", "timeout 5 git rm x"),
        ("Bash(rm *)", "sudo -u root git rm x"),
        ("Bash(rm *)", "rmdir x"),
        ("Bash(rm *)", "cat a/rm > rm"),
        ("Bash(rm *)", "xargs grep rm x"),
        ("Bash(rm *)", "echo 'rm x' | cat"),
        ("Bash(rm -rf *)", "rm -r x"),
        ("Bash(rm -rf *)", "rm --force x"),
        ("Bash(git push --force *)", "git push origin"),
    ],
)
def test_rules_deny_no_more_than_that(context: ToolContext, rule: str, command: str) -> None:
    assert decide(context, command, "bypass", deny=(rule,)).answer == "allow"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("rm -rf *", "rm -fr x"),
        ("rm -rf *", "rm -r -f x"),
        ("rm -rf *", "rm x -rf"),
        ("rm -rf *", "rm -Rvf x"),
        ("rm -rf *", "rm --recursive --force x"),
        ("rm -rf *", "rm -f --recursive -- x"),
        ("rm -rf *", "sudo rm -fr x"),
        ("rm -rf *", "cd x && {rm,-f,-r,y}"),
        ("rm --force *", "rm -f x"),
        ("git push --force *", "git push origin main -f"),
        ("git push -f *", "git push --force"),
        ("chmod -R *", "chmod --recursive 777 x"),
    ],
)
def test_options_are_compared_in_any_order_and_spelling(pattern: str, command: str) -> None:
    assert denies_command(pattern, command)


def test_a_command_overwrites_only_what_the_model_knows(context: ToolContext) -> None:
    own = replace(context, reads=ReadState())
    reason = decide(own, "make > a.py", "accept-edits").reason
    assert reason == "the command writes a.py: it was not read yet: use Read first"
    for command in ("make >> a.py", "make > new"):
        assert decide(own, command, "accept-edits").answer == "allow"
    assert decide(own, "make > a.py", allow=("make *", "Edit(a.py)")).answer == "allow"
    own.reads.record_file(own.root / "a.py", b"x")
    assert decide(own, "make > a.py", "accept-edits").answer == "allow"


def test_a_reason_names_the_part_that_no_rule_allows(context: ToolContext) -> None:
    assert decide(context, "git status && rm x").reason == "`rm x` needs approval"
    assert decide(context, "make > out").reason.startswith("the command writes out: Edit needs")
    assert decide(context, "make > $x").reason == "cub can't determine which file it writes"
    assert decide(context, "f() { x; }").reason == "cub can't determine what this command runs"
    assert decide(context, "make; cat ../x").reason.endswith("x is outside of the project")


def test_a_command_is_judged_in_two_milliseconds(context: ToolContext) -> None:
    commands = [f"cd sub && git log --oneline -{count} 2>&1 | head -20" for count in range(100)]
    decide(context, commands[0], deny=("Bash(rm -rf *)",))
    started = time.process_time()
    for command in commands:
        decide(context, command, deny=("Bash(rm -rf *)", "Read(.env)"))
    assert (time.process_time() - started) / len(commands) < 0.02  # ten times what it takes


@pytest.mark.parametrize(
    "command", ["sudo " * 100_000, "$(" * 10_000, "{a,b}" * 1_000, "a;" * 9_000, "x <<E\n" * 3_000]
)
def test_a_huge_command_is_judged_in_time(command: str) -> None:
    started = time.process_time()
    assert len(find_possible_commands(command).commands) < 20_000
    assert not read_command_line(f"{command} x").is_certain or ";" in command
    assert time.process_time() - started < 5
