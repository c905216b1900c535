from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

COMMANDS = """
    build: go build ./...
    test: go test ./...
    lint: go vet ./...
"""
CASES: Cases = {
    "a module with its direct requirements": (
        {
            "go.mod": """
                module example.org/shop/v2 // the second one

                go 1.22.1

                require github.com/spf13/cobra v1.8.0
                require (
                    // a comment
                    github.com/labstack/echo/v4 v4.12.0
                    github.com/gin-gonic/gin v1.9.0 // indirect
                )
                exclude (
                    github.com/gofiber/fiber v1.0.0
                )
            """,
            "main.go": "",
        },
        f"""
        language Go 1.22.1
        framework Echo v4.12.0
        library Cobra v1.8.0
        {COMMANDS}
        format: go fmt ./...
        run: go run .
        shop -> main.go
        package . example.org/shop/v2
        """,
    ),
    "programs in cmd": (
        {
            "go.mod": 'module "example.org/shop"\n',
            "cmd/api/main.go": "",
            "cmd/api/inner/main.go": "",
            "cmd/worker/main.go": "",
            "cmd/notes/notes.go": "",
        },
        f"""
        language Go
        {COMMANDS}
        format: go fmt ./...
        api -> cmd/api/main.go
        worker -> cmd/worker/main.go
        package . example.org/shop
        """,
    ),
    "one program in a nested module": (
        {"svc/go.mod": "module example.org/svc\n", "svc/cmd/svc/main.go": ""},
        """
        language Go
        build: go build ./... in svc
        test: go test ./... in svc
        lint: go vet ./... in svc
        format: go fmt ./... in svc
        run: go run ./cmd/svc in svc
        svc -> svc/cmd/svc/main.go
        package svc example.org/svc
        """,
    ),
    "a workspace": ({"go.work": "go 1.23\n\nuse (\n\t./a\n\t./b\n)\n"}, "language Go 1.23"),
    "golangci-lint": (
        {".golangci.yml": "version: 2\n"},
        """
        tool golangci-lint
        lint: golangci-lint run
        """,
    ),
    "targets of Mage, the plainest first": (
        {
            "magefile.go": """
                //go:build mage
                package main

                func Check(ctx context.Context) error {
                func TestRace() error {
                func Test() error {
                func helper() {}
                func Publish() error {
            """
        },
        """
        build Mage
        test: mage test
        test: mage check
        test: mage testRace
        """,
    ),
    "an empty go.mod keeps a folder out": ({"vendor2/go.mod": "\n"}, ""),
}

test_modules_and_their_tools_are_read = make_test(CASES)
