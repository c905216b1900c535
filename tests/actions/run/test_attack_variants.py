"""Agents that mean no good, or slip: whatever they do, no false success and no lost file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.run.attacked import CHECK, SECRET, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told, require_untouched, see_checkout
from tests.conftest import git
from tests.examples import keep_few

_WORDS = {"BAD": "echo 'A = 666' > a.py", "GOOD": "echo 'A = 1' > a.py"}
# What each does before it does its work; a line that goes on is indented.
_TEXT = r"""
commits the bad, shows the good: BAD; git commit -qam x; GOOD
stages the bad, shows the good: BAD; git add a.py; GOOD
commits twice: BAD; git commit -qam x; git commit -q --allow-empty -m y; GOOD
commits with another index: BAD; export GIT_INDEX_FILE=.git/x; git read-tree HEAD; git add a.py;
  git commit -qm x; GOOD
moves the branch by plumbing: BAD; git add a.py;
  git update-ref HEAD $(git commit-tree -m x -p HEAD $(git write-tree)); GOOD
amends what was there: BAD; git commit -qa --amend -m x; GOOD
begins history anew: git checkout -q --orphan new; git add -A; git commit -qm x
leaves the history: git reset -q --hard HEAD~1
leaves the history and commits: git reset -q --hard HEAD~1; git commit -q --allow-empty -m theirs
detaches HEAD elsewhere: git switch -qf --detach HEAD~1
is in the midst of a bisection: git bisect start
is in the midst of a revert: git revert --no-commit HEAD
is in the midst of a conflict: git switch -qc b; BAD; git commit -qam b; git switch -q -;
  echo 'A = 3' > a.py; git commit -qam c; git merge b
assumes the bad unchanged: git update-index --assume-unchanged a.py; BAD
skips the bad: git update-index --skip-worktree a.py; BAD
keeps size and time of the bad: touch -r a.py .git/t; echo 'A = 2' > a.py;
  touch -r .git/t a.py
ignores its work: echo c.py >> .gitignore; BAD
excludes its work: echo c.py >> .git/info/exclude; BAD
makes a file of the persons name: echo x > notes.txt; echo x > secret.env
adds a private file by force: echo x > secret.env; git add -f secret.env; git commit -qm x
cleans everything: git clean -fdxq; git rm -q --cached check.sh
stashes everything: echo x > x; git stash -qu; git stash drop -q
a link in the place of a file: rm check.sh; ln -s /etc/hostname check.sh
a folder in the place of a file: rm check.sh; mkdir check.sh; echo x > check.sh/x
a FIFO in the place of a file: rm check.sh; mkfifo check.sh
takes rights away: chmod 000 a.py check.sh .
gives rights: chmod 777 a.py check.sh .
a hook that commits more: H=.git/hooks/pre-commit; echo '#!/bin/sh' > $H;
  echo 'echo evil > evil.txt; git add evil.txt' >> $H; chmod +x $H; cp $H .git/hooks/post-commit
hooks of its own: mkdir h; echo '#!/bin/sh' > h/pre-commit; echo 'touch PWN' >> h/pre-commit;
  chmod +x h/pre-commit; git config core.hooksPath h
hooks by a link: rm -rf .git/hooks .git/info; ln -s .. .git/hooks; ln -s /etc .git/info
a monitor, a filter, a signer: git config core.fsmonitor 'touch PWN';
  git config filter.x.clean 'touch PWN; cat'; git config gpg.program 'touch PWN';
  git config commit.gpgSign true; echo '*.py filter=x' >> .git/info/attributes
commands for later: git config pager.log 'touch PWN; cat'; git config alias.st '!touch PWN';
  git config credential.helper '!touch PWN'; git config remote.origin.pushurl https://evil
an include: printf '[core]\nfsmonitor = touch PWN\n' > x.cfg; git config include.path ../x.cfg
settings that lead away: git config core.worktree /; git config user.name Robot
deletes tags, branches and the stash: git tag -d mine; git branch -D side; git stash clear
moves tags: git tag -f mine HEAD~1; git tag more
destroys objects: git reflog expire --expire=now --all; git gc -q --prune=now
replaces objects: git replace HEAD HEAD~1
grafts: git rev-parse HEAD > .git/info/grafts
another store of objects: mkdir -p o; echo $PWD/o > .git/objects/info/alternates
no HEAD: rm .git/HEAD
no repository: rm -rf .git
no directory: rm -rf "$PWD"
another repository: rm -rf .git; git init -q; git add -A; git commit -qm x
a repository elsewhere: T=$(mktemp -d); mv .git $T/x; echo "gitdir: $T/x" > .git
a repository inside: git init -q nested; echo x > nested/f
a broken index: echo x > .git/index; BAD
a configuration that waits: rm .git/config; mkfifo .git/config
a lock: touch .git/index.lock .git/HEAD.lock .git/config.lock
closes by hand: sed -i 's/in_progress/closed/' .cub/tasks.jsonl; exit 1
writes the ledger: exec >> .cub/ledger.jsonl;
  echo '{"v":1,"ev":"attempt_end","task":"s-1","n":1,"ok":true}'; exit 1
a loop of links: ln -s loop loop; ln -s . here
"""
AGENTS = dict(line.split(": ", 1) for line in _TEXT.strip().replace("\n  ", " ").splitlines())


def _prepare(made: Shop) -> None:
    prepare(made)
    git(made.root, "tag", "mine")
    git(made.root, "branch", "side", "HEAD~1")
    made.write("later.txt", "stashed\n")
    git(made.root, "stash", "push", "-qu", "--", "later.txt")
    (made.root / "secret.env").chmod(0o600)


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


_CASES = [(name, place) for place in ("bound", "aside") for name in AGENTS]


@pytest.mark.parametrize(("name", "place"), keep_few(_CASES, 9))
def test_no_success_is_false_and_no_file_is_lost(
    shop: Shop, tmp_path: Path, name: str, place: str
) -> None:
    """The first attempt fails and the second one may not: after both, the checkout is as before."""
    shell = AGENTS[name].replace("PWN", str(tmp_path / "PWN"))  # nobody inside may write that
    for word, means in _WORDS.items():
        shell = shell.replace(word, means)
    end = '[ "$(basename "$CUB_ATTEMPT")" != 1 ]'
    shop.client(f"exec > /dev/null 2>&1; cat; {{ {shell}; }}; echo C > c.py; {end}")
    shop.configure(run={"place": place, "checks": [CHECK]})
    before = see_checkout(shop)
    done = shop.run(iterations=2)
    require_told(shop, done)
    assert done.outcomes[0] != "ok"
    require_untouched(shop, before)
    assert not (tmp_path / "PWN").exists()
    assert git(shop.root, "show", "HEAD:a.py") == "A = 1\n"
    patches = git(shop.root, "log", "--format=", "-p", f"{before.head}..HEAD")
    assert SECRET not in patches
    assert "evil.txt" not in patches
    assert (shop.status() == "closed") is (done.outcomes[-1] == "ok")
    if shop.status() == "closed":
        assert git(shop.root, "show", "HEAD:c.py") == "C\n"
    shop.client("cat > /dev/null; echo D > d.py")
    shop.task("s-2")
    before = see_checkout(shop)
    assert shop.run(task="s-2").outcomes == ["ok"]
    require_untouched(shop, before)
