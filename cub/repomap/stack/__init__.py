"""What the manifests of a project say: technologies, commands, entry points and packages."""
