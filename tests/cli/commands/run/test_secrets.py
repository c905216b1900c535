"""What `cub run` prints holds no secret: as lines, as JSON, in errors, and before it begins."""

from __future__ import annotations

import pytest

from cub.masking import MASK
from tests.actions.run.shop import Shop
from tests.conftest import Cub
from tests.masking.samples import chance

SECRET = "ghp_" + chance(36)
CHECK = f"GH_TOKEN={SECRET} true"


@pytest.fixture
def talking(bakery: Shop) -> Shop:
    bakery.client(f"cat > /dev/null; echo with {SECRET}; echo {SECRET} >&2; exit 3")
    bakery.task(title=f"Use {SECRET}")
    return bakery


@pytest.mark.usefixtures("talking")
@pytest.mark.parametrize("words", [(), ("--json",), ("--dry-run",), ("--dry-run", "--json")])
def test_no_secret_is_printed(cub: Cub, words: tuple[str, ...]) -> None:
    done = cub("run", "--trust", "--once", "--check", CHECK, *words)
    assert SECRET not in done.out + done.err
    assert MASK in done.out


@pytest.mark.usefixtures("talking")
def test_the_status_of_a_run_holds_none(cub: Cub) -> None:
    cub("run", "--trust", "--once", "--check", CHECK)
    assert SECRET not in cub("run", "status").out + cub("run", "status", "--json").out


def test_the_name_of_a_file_that_is_not_committed_holds_none(talking: Shop, cub: Cub) -> None:
    talking.write(f"{SECRET}.txt", "x")
    talking.commit()
    talking.write(f"{SECRET}.txt", "changed")
    done = cub("run", "--trust", "--no-checks", "--once")
    assert (SECRET in done.out, f"uncommitted changes in {MASK}" in done.out) == (False, True)
