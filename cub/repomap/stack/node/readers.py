"""JavaScript and TypeScript: all manifests."""

from __future__ import annotations

from cub.repomap.stack.node import configs, deno, package_json, workspace_files

READERS = (
    *package_json.READERS,
    *deno.READERS,
    *workspace_files.READERS,
    *configs.READERS,
)
