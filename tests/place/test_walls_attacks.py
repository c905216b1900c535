"""Commands that try to get out of a bound place."""

from __future__ import annotations

import os

import pytest

from tests.place.walled import Walled

if os.name != "posix":
    pytest.skip("walls need Linux", allow_module_level=True)

# Each succeeds without walls. $OUTER is a process outside.
ON_FILES = (
    "echo x > $BASE/new",
    "echo x >> $HOME/.gitconfig",
    "cd .. && echo x > new",
    "cd ../home && : > .gitconfig",
    "rm $HOME/.gitconfig",
    "mv $HOME/.gitconfig $HOME/moved",
    "chmod 777 $HOME/.gitconfig",
    "touch -d 2001-01-01 $HOME/.gitconfig",
    "ln $HOME/.gitconfig linked",
    "mkdir $HOME/.config",
    "ln -s / $HOME/root",
    "git config --global core.pager evil",
    "env -i HOME=$HOME git config --global core.pager evil",
    "cat $BASE/state/key",
    "cat $BASE/tree/../state/key",
    "kill -0 $OUTER",
    "ls /proc/$OUTER",
    "ls /proc/$OUTER/root/",
)
# These would change the machine without walls.
ON_MOUNTS = (
    "umount $BASE/checkout",
    "umount -l /tmp",
    "mount -t tmpfs x /mnt",
    "mount -o remount,bind,rw /",
    "unshare -Urm umount $BASE/state",
    "unshare -Urm umount -l $BASE/checkout",
    "unshare -Urm mount -o remount,bind,rw /",
    "unshare -Urm mount -o remount,bind,rw $HOME",
    "unshare -Urm mount --bind / /mnt",
    "unshare -Urm sh -c 'mount --rbind / /mnt && echo x > /mnt/$BASE/new'",
    "nsenter -t 1 -m true",
    "nsenter -t 1 -U true",
    "nsenter -t $OUTER -m true",
    "kill -9 1; kill -0 1 && false",
    "cat /proc/1/root/$BASE/state/key",
    "cd /proc/1/cwd && cat ./$BASE/state/key",
    "cd /proc/1/root/$BASE && echo x > new",
    "for file in /proc/1/fd/*; do cat $file/$BASE/state/key && exit; done; false",
    ": >> /proc/sys/kernel/core_pattern",
    ": >> /proc/sysrq-trigger",
    ": >> /proc/self/root/$BASE/new",
    "head -c 1 /dev/mem",
    "for disk in $(find /dev -type b); do head -c 1 $disk && exit; done; false",
    "test $(grep -c 'Cap.*:.0*$' /proc/self/status) != 5",
    "grep -q 'NoNewPrivs:.0' /proc/self/status",
    "ls /run/user/*",
)


def test_no_attack_gets_out(bound: Walled) -> None:
    before = bound.list_files()
    assert _attack(bound, *ON_FILES, *ON_MOUNTS) == []
    assert bound.list_files() == before


def test_each_attack_on_files_works_without_walls(bound: Walled) -> None:
    free = bound.with_means("none")
    ineffective = [attack for attack in ON_FILES if not _attack(free, f"{_RESET}; {attack}")]
    assert ineffective == []


_RESET = "rm -rf $HOME/* $HOME/.[a-z]* linked; echo '[user]' > $HOME/.gitconfig; rm -f $BASE/new"


def _attack(walled: Walled, *attacks: str) -> list[str]:
    """The attacks that succeed, as far as the command itself can tell."""
    lines = [f"({attack}) > /dev/null 2>&1 && echo BROKE {n}" for n, attack in enumerate(attacks)]
    printed = walled.run("\n".join(lines), None, OUTER=str(os.getpid())).splitlines()
    return [attacks[int(line.split()[1])] for line in printed if line.startswith("BROKE")]
