from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "stages": (
        {
            "Dockerfile": """
                # syntax=docker/dockerfile:1
                ARG NODE=20
                FROM --platform=$BUILDPLATFORM node:${NODE}-alpine AS web
                RUN npm ci && \\
                    # a comment in between
                    npm run build
                CMD ["npm", "start"]
                FROM web AS same
                FROM ghcr.io/acme/python:3.12.3-slim@sha256:abc
                EXPOSE 8000 $PORT
                ENTRYPOINT ["python", "-m"]
                CMD ["shop"]
            """
        },
        """
        runtime Node.js 20
        runtime Python 3.12.3
        tool Docker
        Dockerfile -> python -m shop (port 8000)
        """,
    ),
    "a command as a line, and nothing but a system below it": (
        {"app/Containerfile": "from debian:12\ncmd exec ./run\n"},
        """
        tool Docker
        Containerfile -> exec ./run
        """,
    ),
    "composed services": (
        {
            "compose.yaml": """
                services:
                  api:
                    build: ./api
                  web:
                    build:
                      context: .
                      dockerfile: web.Dockerfile
                  db:
                    image: "postgres:${PG:-16}-alpine"
                  cache:
                    image: redis
                  own:
                    image: acme/own:1
            """,
            "api/Dockerfile": "FROM scratch\n",
            "web.Dockerfile": "FROM scratch\n",
            "docker-compose.override.yml": "services: {}\n",
        },
        """
        tool Docker
        tool PostgreSQL 16
        tool Redis
        tool Docker Compose
        run: docker compose up
        api -> api/Dockerfile
        web -> web.Dockerfile
        """,
    ),
    "no Dockerfile": (
        {"Dockerfile": "hello\n", "Dockerfile.dockerignore": "x\n"},
        "note Dockerfile: no base image: FROM is missing",
    ),
}

test_dockerfiles_and_compose_files_are_read = make_test(CASES)
