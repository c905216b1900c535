from __future__ import annotations

from tests.repomap.stack.projects import Files
from tests.repomap.stack.told import Cases, make_test

WORKSPACE: Files = {
    "Cargo.toml": """
        [workspace]
        members = ["crates/*"]
        [workspace.package]
        edition = "2021"
        rust-version = "1.75"
        [workspace.dependencies]
        tokio = { version = "1", features = ["full"] }
    """,
    "crates/api/Cargo.toml": """
        [package]
        name = "shop-api"
        description = "The HTTP interface."
        edition.workspace = true
        [dependencies]
        tokio.workspace = true
        web = { package = "axum", version = "0.7" }
        shop-core = { path = "../core" }
    """,
    "crates/api/src/main.rs": "",
    "crates/core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "crates/core/src/lib.rs": "",
}
CASES: Cases = {
    "a virtual workspace": (
        WORKSPACE,
        """
        language Rust 1.75, edition 2021
        framework axum 0.7
        library Tokio 1
        manager Cargo
        build: cargo build
        test: cargo test
        lint: cargo clippy
        lint: cargo fmt --check
        format: cargo fmt
        shop-api -> crates/api/src/main.rs
        package crates/api shop-api: The HTTP interface.
        package crates/core shop-core
        """,
    ),
    "a root package leaves its members out unless told otherwise": (
        {
            "Cargo.toml": """
                [package]
                name = "tool"
                [workspace]
                members = ["a"]
            """,
            "src/main.rs": "",
            "src/lib.rs": "",
            "a/Cargo.toml": '[package]\nname = "a"\n',
        },
        """
        language Rust
        manager Cargo
        build: cargo build --workspace
        test: cargo test --workspace
        lint: cargo clippy --workspace
        lint: cargo fmt --check
        format: cargo fmt
        run: cargo run
        tool -> src/main.rs
        tool -> src/lib.rs
        package . tool
        package a a
        """,
    ),
    "binaries that are listed and binaries that Cargo finds": (
        {
            "Cargo.toml": """
                [package]
                name = "tool"
                [[bin]]
                name = "listed"
                path = "app/entry.rs"
                [[bin]]
                name = "outside"
                path = "../../entry.rs"
                [target.'cfg(unix)'.dev-dependencies]
                proptest = "1"
            """,
            "src/bin/one.rs": "",
            "src/bin/two/main.rs": "",
            "src/bin/two/other.rs": "",
        },
        """
        language Rust
        manager Cargo
        tool proptest 1
        build: cargo build
        test: cargo test
        lint: cargo clippy
        lint: cargo fmt --check
        format: cargo fmt
        listed -> app/entry.rs
        one -> src/bin/one.rs
        two -> src/bin/two/main.rs
        package . tool
        """,
    ),
    "files beside Cargo.toml": (
        {
            ".cargo/config.toml": """
                [alias]
                lint = "clippy --all-targets"
                ci-test = ["test", "--workspace"]
                co = "checkout"
            """,
            "rust-toolchain": "1.77.2\n",
            "clippy.toml": "",
            "rustfmt.toml": "",
            "deny.toml": "",
            ".config/nextest.toml": "",
        },
        """
        language Rust 1.77.2
        tool Clippy
        tool rustfmt
        tool cargo-deny
        tool cargo-nextest
        test: cargo ci-test
        test: cargo nextest run
        lint: cargo lint
        lint: cargo deny check
        """,
    ),
    "a toolchain as TOML": (
        {"rust-toolchain.toml": '[toolchain]\nchannel = "nightly-2024-05-01"\n'},
        "language Rust nightly-2024-05-01",
    ),
    "a toolchain as TOML without the ending": (
        {"rust-toolchain": '[toolchain]\nchannel = "stable"\nprofile = "minimal"\n'},
        "language Rust stable",
    ),
    "targets for fuzzing are no programs of the project": (
        {
            "fuzz/Cargo.toml": """
                [package]
                name = "fuzz"
                metadata = { cargo-fuzz = true }
                [[bin]]
                name = "parse"
                path = "parse.rs"
                [workspace]
            """
        },
        """
        language Rust
        manager Cargo
        package fuzz fuzz
        """,
    ),
    "a broken file costs itself alone": (
        {"Cargo.toml": '[package]\nname = "a\n', "clippy.toml": ""},
        """
        tool Clippy
        note Cargo.toml: line 2: this is not TOML: Illegal character '\\n'
        """,
    ),
    "values of any type": (
        {
            "Cargo.toml": """
                package = { name = 1, edition = [], autobins = 3 }
                workspace = 4
                bin = "x"
                lib = []
                dependencies = [1]
                target = { x = 1, y = { dependencies = { tokio = 1 } } }
            """
        },
        """
        language Rust
        library Tokio 1
        manager Cargo
        build: cargo build
        test: cargo test
        lint: cargo clippy
        lint: cargo fmt --check
        format: cargo fmt
        """,
    ),
}

test_cargo_and_its_tools_are_read = make_test(CASES)
