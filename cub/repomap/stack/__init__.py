"""Read what the manifests of a project say: technologies, commands, entry points, packages."""
