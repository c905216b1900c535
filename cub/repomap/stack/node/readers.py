"""JavaScript and TypeScript: all manifests."""

from __future__ import annotations

from cub.repomap.stack.readers import deno, node_package_manager, package_json, version_files

READERS = (
    *package_json.READERS,
    *deno.READERS,
    *node_package_manager.READERS,
    *version_files.READERS,
)
