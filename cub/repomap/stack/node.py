"""JavaScript and TypeScript: all manifests."""

from __future__ import annotations

from cub.repomap.stack import deno, node_configs, package_json, workspace_files

READERS = (
    *package_json.READERS,
    *deno.READERS,
    *workspace_files.READERS,
    *node_configs.READERS,
)
