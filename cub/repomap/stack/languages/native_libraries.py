"""The libraries of C and C++ that the map names, whoever looks for them."""

from __future__ import annotations

from collections.abc import Iterable

from cub.repomap.stack.facts import Technology

_KNOWN = {
    "boost": "Boost", "catch2": "Catch2", "cuda": "CUDA", "cudatoolkit": "CUDA",
    "doctest": "doctest", "eigen": "Eigen", "eigen3": "Eigen", "fmt": "fmt", "glfw3": "GLFW",
    "googletest": "GoogleTest", "grpc": "gRPC", "gtest": "GoogleTest", "gtk": "GTK",
    "gtk+-3.0": "GTK", "gtk4": "GTK", "opencv": "OpenCV", "openmp": "OpenMP",
    "protobuf": "Protobuf", "pybind11": "pybind11", "qt5": "Qt", "qt6": "Qt", "sdl2": "SDL",
    "sdl3": "SDL", "spdlog": "spdlog", "torch": "LibTorch", "vulkan": "Vulkan",
}  # fmt: skip


def libraries(needed: Iterable[tuple[str, str]], source: str) -> tuple[Technology, ...]:
    """The technologies among libraries with their versions, each once, in the given order."""
    found: dict[str, Technology] = {}
    for package, version in needed:
        name = _KNOWN.get(package.lower())
        if name and not (name in found and found[name].version):
            found[name] = Technology(name, "library", version, source)
    return tuple(found.values())
