"""The manifests of JavaScript and TypeScript."""
