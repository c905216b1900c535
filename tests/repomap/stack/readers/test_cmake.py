from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a project with tests": (
        {
            "CMakeLists.txt": """
                cmake_minimum_required(VERSION 3.20...3.29)
                # project(old C)
                project(tool
                    VERSION 1.2.3
                    DESCRIPTION "A small tool"
                    LANGUAGES CXX)
                set(CMAKE_CXX_STANDARD 20)
                find_package(Qt6 6.5 REQUIRED COMPONENTS Core)
                FetchContent_Declare(googletest GIT_REPOSITORY x)
                ADD_EXECUTABLE(${PROJECT_NAME} src/util.cpp src/main.cpp)
                add_executable(${name} src/main.cpp)
                add_executable(alias ALIAS tool)
                enable_testing()
                add_subdirectory(lib)
            """,
            "src/main.cpp": "",
            "src/util.cpp": "",
            "lib/CMakeLists.txt": "target_compile_features(lib PUBLIC c_std_11)\n",
        },
        """
        language C++ 20
        language C 11
        library Qt 6.5
        library GoogleTest
        build CMake >=3.20
        build: cmake -B build && cmake --build build
        test: cmake -B build && cmake --build build && ctest --test-dir build
        tool -> src/main.cpp
        package . tool: A small tool
        """,
    ),
    "presets": (
        {
            "CMakeLists.txt": "project(p C)\ninclude(CTest)\n",
            "CMakePresets.json": """
                {
                  "configurePresets": [
                    {"name": "base", "hidden": true}, {"name": "a b"}, {"name": "dev"}
                  ],
                  "buildPresets": [{"name": "dev-build"}],
                  "testPresets": {"name": "x"}
                }
            """,
        },
        """
        language C
        build CMake
        build: cmake --preset dev && cmake --build --preset dev-build
        build: cmake -B build && cmake --build build
        test: cmake -B build && cmake --build build && ctest --test-dir build
        package . p
        """,
    ),
}

test_cmake_is_read = make_test(CASES)
