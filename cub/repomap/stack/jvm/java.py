"""Where the classes of the JVM's languages are, for all of their build tools."""

from __future__ import annotations

from collections.abc import Iterator

from cub.repomap.stack.around import below, beside, path_of
from cub.repomap.stack.facts import EntryPoint, Manifest

_FOLDERS = ("src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy", "app", "src")
_ENDINGS = (".java", ".kt", ".scala", ".groovy")
_APPLICATIONS = ("Application.java", "Application.kt")


def class_file(manifest: Manifest, name: str) -> str:
    """The file that a main class is most likely in; the class itself if there is none."""
    path = name.replace(".", "/").removesuffix("Kt")
    usual = [f"{folder}/{path}{ending}" for folder in _FOLDERS for ending in _ENDINGS]
    found = beside(manifest, *usual)
    return path_of(manifest, found) if found else name


def spring_applications(manifest: Manifest) -> Iterator[EntryPoint]:
    """The main classes of Spring Boot, which finds them by itself, where they end as most do."""
    for folder in _FOLDERS[:2]:
        for path in below(manifest, folder):
            if path.endswith(_APPLICATIONS):
                name = path.rpartition("/")[2].rpartition(".")[0]
                yield EntryPoint(name, path_of(manifest, f"{folder}/{path}"), manifest.path)
