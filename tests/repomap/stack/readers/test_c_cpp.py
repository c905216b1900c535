from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "Meson": (
        {
            "meson.build": """
                project('tool', 'c', 'cpp',
                  version: '0.1',
                  meson_version: '>=0.60',
                  default_options: ['c_std=c11', 'cpp_std=gnu++17'])
                dep = dependency('gtk4')
                executable('tool', 'src/tool.c', dependencies: dep)
                test('all', exe)
            """,
            "src/tool.c": "",
            "sub/meson.build": "executable('none', 'none.c')\n",
        },
        """
        language C 11
        language C++ 17
        library GTK
        build Meson >=0.60
        build: meson setup build && meson compile -C build
        test: meson test -C build
        tool -> src/tool.c
        package . tool
        """,
    ),
    "Autotools": (
        {"configure.ac": "AC_INIT([tool], [1.0])\nAC_PROG_CC\nAC_PROG_CXX\n", "autogen.sh": ""},
        """
        language C
        language C++
        build Autotools
        build: ./autogen.sh && ./configure && make
        test: make check
        package . tool
        """,
    ),
    "Conan": (
        {
            "conanfile.txt": """
                [requires]
                fmt/10.2.1
                boost/[>=1.80]
                [options]
            """
        },
        """
        library fmt 10.2.1
        library Boost >=1.80
        manager Conan
        install: conan install . --build=missing
        """,
    ),
    "Conan in Python": (
        {"conanfile.py": '    def requirements(self):\n        self.requires("gtest/1.14")\n'},
        """
        library GoogleTest 1.14
        manager Conan
        install: conan install . --build=missing
        """,
    ),
    "vcpkg": (
        {
            "vcpkg.json": """
                {"name": "tool", "description": "A tool",
                 "dependencies": ["fmt", {"name": "sdl2"}, 3]}
            """
        },
        """
        library fmt
        library SDL
        manager vcpkg
        install: vcpkg install
        package . tool: A tool
        """,
    ),
}

test_meson_autotools_and_packages_are_read = make_test(CASES)
