"""Which files are taken for secrets: by name and content, or by content alone."""

from __future__ import annotations

import json

import pytest

from cub.masking.secret_files import holds_certain_secret, is_credentials_file
from tests.masking.samples import chance, pem


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "API_KEY=1\n"),
        (".env", "PORT=80\nexport DB_PASSWORD='hunter22'\n"),
        (".env.local", "DATABASE_URL=postgres://me:hunter22@db/shop\n"),
        ("prod.env", "SECRET_KEY: x9\n"),
        (".envrc", "export GITHUB_TOKEN=abc\n"),
        (".netrc", "machine example.com login me password hunter22\n"),
        (".npmrc", f"//registry.npmjs.org/:_authToken={chance(36)}\n"),
        (".git-credentials", "https://me:hunter22@example.com\n"),
        ("credentials.json", json.dumps({"client_secret": chance(24)})),
        ("secrets.yaml", f"password: {chance(12)}\n"),
        ("credentials", f"[default]\naws_secret_access_key = {chance(40)}\n"),
    ],
)
def test_a_file_for_credentials_that_holds_one(name: str, text: str) -> None:
    assert is_credentials_file(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "PORT=3000\nDEBUG=true\nTOKEN_LIMIT=5\n"),
        (".env", "API_KEY=\nPASSWORD=changeme\nTOKEN=<your token>\nSECRET=${SECRET}\n"),
        (".env", "API_KEY= # get one\n"),
        (".env.example", "API_KEY=1\n"),
        (".env.local.sample", "API_KEY=1\n"),
        (".env.test", "API_KEY=1\n"),
        ("template.env", "API_KEY=1\n"),
        (".npmrc", "registry=https://registry.npmjs.org/\n//a/:_authToken=${NPM_TOKEN}\n"),
        ("credentials.json", '{"client_secret": "YOUR_SECRET_HERE"}'),
        ("credentials.py", f'PASSWORD = "{chance(20)}"\n'),
        ("environment.py", "API_KEY = 1\n"),
        ("test_login.py", f'PASSWORD = "{chance(20)}"\n'),
    ],
)
def test_another_name_or_nothing_to_hide(name: str, text: str) -> None:
    assert not is_credentials_file(name, text)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(pem()),
        "\n".join(pem("EC PRIVATE KEY", ["MHcCAQEE" + chance(56), chance(40) + "="])),
        json.dumps({"private_key": "\n".join(pem("PRIVATE KEY"))}),
        f"token = 'ghp_{chance(36)}'",
        f"client = Client(api_key='sk-ant-api03-{chance(80)}')",
    ],
)
def test_content_that_can_only_be_a_secret(text: str) -> None:
    assert holds_certain_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEexample\n-----END RSA PRIVATE KEY-----",
        "\n".join(pem("PUBLIC KEY")),
        "\n".join(pem("CERTIFICATE")),
        'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("-----END PRIVATE KEY-----")',
        "AKIAIOSFODNN7EXAMPLE",
        "token = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "sk-ant-your-key-goes-here-and-nowhere-else",
        f"password = '{chance(24)}'",
        f"etag = '{chance(40)}'",
    ],
)
def test_content_that_may_be_anything(text: str) -> None:
    assert not holds_certain_secret(text)
