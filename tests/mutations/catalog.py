"""All mutations, one folder of cub's after the other."""

from __future__ import annotations

from tests.mutations.edit import EDIT
from tests.mutations.files import FILES
from tests.mutations.git import GIT
from tests.mutations.prompt import PROMPT
from tests.mutations.run import RUN
from tests.mutations.store import STORE

MUTATIONS = (*EDIT, *FILES, *GIT, *RUN, *STORE, *PROMPT)
