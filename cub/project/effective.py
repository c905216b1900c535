"""All values that count in a project, from all the places that may set them."""

from __future__ import annotations

from collections.abc import Mapping

from cub.debug_log import log_debug
from cub.project.config import CONFIG
from cub.project.config_layers import Layers, read_layer, settled
from cub.project.project import Project
from cub.project.user_config import read_user_file, shown, user_file


def effective(project: Project, environ: Mapping[str, str], profile: str | None = None) -> Layers:
    """The values of all keys; see `cub.project.config_layers.settled`."""
    own = read_layer(project.tree.read(CONFIG), CONFIG)
    user = read_layer(read_user_file(), shown(user_file()))
    layers = settled(own, user, environ, profile)
    for row in layers.rows():
        if row.origin != "default":
            log_debug(f"{row.key} is set by {row.where or row.origin}")
    return layers
