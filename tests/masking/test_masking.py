from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.masking import MASK, mask_text
from tests.examples import few_examples
from tests.masking.innocents import INNOCENTS
from tests.masking.samples import SECRETS as SAMPLES

MANY = 65_536
UPPER, MIXED = "ABCDEFGHIJ234567", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
HEX = "0123456789abcdef0123456789abcdef"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz"

# The part of each that is secret. Made up, and put together here so that no scanner finds them.
SECRETS = {
    "aws id": "AKIA" + UPPER,
    "github": "ghp_" + (MIXED * 2)[:36],
    "github, fine-grained": "github_pat_" + MIXED * 2,
    "gitlab": "glpat-" + MIXED[:20],
    "anthropic": "sk-ant-api03-" + MIXED * 3,
    "openai": "sk-proj-" + MIXED * 2,
    "openai, older": "sk-" + (MIXED * 2)[:48],
    "google": "AIza" + (MIXED * 2)[:35],
    "npm": "npm_" + (MIXED * 2)[:36],
    "pypi": "pypi-AgEIcHlwaS5vcmc" + MIXED * 3,
    "slack": "xoxb-" + "123456789012-" * 2 + MIXED[:24].lower(),
    "slack hook": "https://hooks.slack.com/services/T0000AAAA/B0000BBBB/" + MIXED[:24],
    "stripe": "sk_live_" + MIXED[:24],
    "sendgrid": "SG." + MIXED[:22] + "." + (MIXED * 2)[:43],
    "twilio": "SK" + HEX,
    "jwt": JWT,
    "artifactory, encrypted password": "AP5" + MIXED[:20],
    "mailchimp": "z1y2" * 8 + "-us12",
    "twilio account": "AC" + "z1y2" * 8,
}
# What stands around a secret, which stays.
NAMED = [
    ("https://me:", "s3cr3tpass", "@example.org/x"),
    ("postgres://:", "s3cr3tpass", "@db/x"),
    ("Authorization: Bearer ", MIXED, ""),
    ("export OPENAI_API_KEY=", "abcdefgh", " && run"),
    ("curl 'https://x.org/?a=1&api_key=", "abcdefgh", "&b=2'"),
    ("curl https://x.org/?key=", "abcdefgh", ""),
    ("DB_PASSWORD=", "hunter22", "\n"),
    ("aws_secret_access_key = ", MIXED[:20] + "/" + MIXED[:19], ""),
    ("//registry.npmjs.org/:_authToken=", "0123-abcd", ""),
    ('password = "', "hunter2", '"'),
    ("db_password: '", "it is; one", "' # x"),
    ('{"secret": "', "x", '", "other": "y"}'),
    ('{\\"api_key\\": \\"', "abc def", '\\", \\"n\\": 1}'),
    ('a = "x"; password := `', "hunter2", "`"),
    ("pwd => '", "hunter2", "'"),
    ('if ("', "hunter2", '" == user_password) {'),
    ('private_key "', "something", '";'),
    ("cloudant_pw: ", HEX * 2, ""),
    ("'cl_api_key' => '", "abcdefgh" * 3, "'"),
    ("sl-key ", HEX * 2, ""),
    ("ibm_cloud_iam_key ", MIXED + MIXED[:17], ""),
    ("aws key of the day: '", MIXED[:20] + "/" + MIXED[:19], "'"),
    ("https://api.softlayer.com/soap/v3.1/", HEX * 2, ""),
    ("mysql -h db -uroot -p", "root", " shop"),
    ("mysqldump -p'", "my dog is 7", "' shop"),
    ("$(/usr/bin/mariadb -p", "hunter2", ")"),
    ("mysqladmin --password=", "swordfish", "; x"),
]
HARMLESS = [
    "",
    "tests/store/test_task_ids.py::test_new_ids[token-secret] PASSED",
    "tests/test_x.py::test_token[key=value1] FAILED",
    "FAILED tests/auth/test_password.py::test_a_password_is_asked_for - AssertionError",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "index 83db48f..bf2a6d1 100644",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "/home/me/projects/cub/store/file_backend.py:12:34: error: no such key",
    "src/components/password-input/index.tsx",
    "E   KeyError: 'password'",
    "assert masked('x') == 'x'",
    "sorted(names, key=lambda name: name.lower())",
    "rows = max(found, key=itemgetter(1))",
    "https://example.org/a:b/c?x=1&y=2#token",
    "git@github.com:me/project.git",
    "2026-01-01T00:00:00.000Z",
    "127.0.0.1:8000 and 192.168.0.1",
    "risk-assessment-of-everything-there-is",
    "the secret is out, and 'this' is it",
    "key: value",
    "-----BEGIN CERTIFICATE-----",
    "Bearer of bad news",
    "1234567890:",
    "cub-4k2xq, cub-9ab12.3",
    "class APActivityMonitor, APEXLOCATOR",
    "cloud_key: a_name_that_has_no_secret_in_it",
    "MASK = '[masked]'",
    "mysql -u root -p shop",
    'mysql -u root -p"$PASSWORD" shop',
    "find /var/lib/mysql -print",
    "mkdir mysql -pv",
    "docker run --name mysql -p3306:3306 mariadb -p 22",
    "grep: keys:123456:AAAAB3NzaC1yc2EAAAADAQABAAABgQC7h6",
    "sk-learn-2\nfoo-bar2-baz_of_many_words",
    "the service\nsvc-us-east\n1a2b3c4d",
    "co\u00adoperation and risk\u00admanagement-of-everything\u200b-there-is",
    "azbfS2KB93+xAjPW+M1IRb23bdyWzmY5M3QhYlF4c+LPyc633gH+9I08U9nP5EdH",
]
AROUND = ["{}", "x {} y", '"{}"', "a\n{}\nb", "x={}", "({})"]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("around", AROUND)
def test_known_secrets_are_masked(secret: str, around: str) -> None:
    found = mask_text(around.format(secret))
    assert MASK in found
    assert secret not in found
    assert secret[len(secret) // 2 :] not in found


@pytest.mark.parametrize(("before", "secret", "after"), NAMED)
def test_what_a_name_calls_secret_is_masked_alone(before: str, secret: str, after: str) -> None:
    assert mask_text(before + secret + after) == before + MASK + after


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\\\n", "\\\n    "])
@pytest.mark.parametrize("at", [8, 14, 30])
def test_both_parts_of_a_key_are_masked_and_the_line_ending_stays(gap: str, at: int) -> None:
    key = SECRETS["anthropic"]
    assert mask_text(f"x {key[:at]}{gap}{key[at:]} y") == f"x {MASK}{gap}{MASK} y"


@pytest.mark.parametrize(
    "following",
    ["hello world", "3f786850e387550fdab836ed7e6dc881de23001b", "x86_64-linux-gnu", "aB3dE6gH9"],
)
def test_a_line_that_follows_a_whole_key_stays(following: str) -> None:
    assert mask_text(f"{SECRETS['github']}\n{following}") == f"{MASK}\n{following}"


def test_every_secret_of_a_line_is_masked() -> None:
    line = "password = \"one1\"; old_password = 'two2'; A_TOKEN=three TOKEN=four"
    assert not re.search("one1|two2|three|four", mask_text(line))


def test_a_short_secret_is_masked_where_it_stands_and_nowhere_else() -> None:
    assert mask_text('a = pass; password = "a"') == f'a = pass; password = "{MASK}"'


def test_a_whole_key_is_masked() -> None:
    assert mask_text(f"a\n{KEY}\nb {KEY}") == f"a\n{MASK}\nb {MASK}"
    assert mask_text(f"a\n{KEY[:70]}") == f"a\n{MASK}"
    assert mask_text(KEY.replace("\n", "\\n")) == MASK


def test_a_text_that_speaks_of_keys_stays() -> None:
    text = "Refuse -----BEGIN PRIVATE KEY----- headers in uploads.\nThen tell why.\n"
    assert mask_text(text) == text


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless_lines_stay(line: str) -> None:
    assert mask_text(line) == line


PIECES = st.sampled_from(
    [
        *SECRETS.values(), *(piece for parts in NAMED for piece in parts), *HARMLESS, KEY, MASK,
        *(sample.text for sample in [*SAMPLES, *INNOCENTS] if len(sample.text) < 200),
        "password", "secret", "=", ":", '"', "'", "`", ";", " ", "\n", "\\", "==", "bearer ", "[",
    ]
)  # fmt: skip


@few_examples
@given(st.lists(PIECES | st.text(max_size=3), max_size=8).map("".join))
def test_what_is_masked_once_is_masked(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once


# Beginnings of what the patterns look for, and what may stand again and again in a line.
BEGINNINGS = [
    "eyJ", "eyJ-", "eyJaaaaaaaa.", "sk-", "_sk-", "://", "://:", "://a", "://a:", "://a:b", "///",
    "A3TX", "SG.", "SG.a", "-----BEGIN ", "-----END ", "PRIVATE KEY", "key=", "==key", "token",
    "secret", "password", "password=", "password: ", "'", '"a" == ', "secret='", "password[",
    "secret=\"secret='secret=`", "aws key ", "bearer ", "basic ", "xoxb-1-", "cl_api_",
    "a", "-", "_", "0", " ", "\n", "\\", "\\'", 'pwd\\"\\', "\\n", "\\\\n", "E   ", "| ", "1 ",
    "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "Private-Lines: 1\n",
    "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA12\n", "MIIEabc1\n", "aB3", "aB3/", "x-amz-",
    "cookie", "cookie: a=b; ", "authorization: ", "authorization: digest a=", "?sig=", "&sig=",
    "token is ", "token of for ", "the api key ", "machine x login ", "--user=a:", "docker login ",
    "<password>", "name: a value: ", '"kty""d":"', "webhook", "lsv2_pt_webhook://a",
    "hooks.slack.com/services/", "://a:bpassword",
    "12345678:", "lsv2_pt_", "re_abcdefgh", "dt0c01.A1b2", "dp.pt.", "pk.eyJ", "AKC", "a_b_1_C_",
    "\u0130token=", "\x1b[0m", "password: string=", "key: '", "-p ", "sshpass ", "redis-cli a ",
    "mysql ", "mysql -p", "ghp_aB3d\n", "aB3dE6gH9jK2mN5p\\\n", "ghp_\u200b", "bot123456789:AA",
    "aws", "aws key '", "cl_key", "cloud_iam_key= ", "AP5",
]  # fmt: skip


# Others of their kinds cost less.
COSTLY = {
    "lsv2_pt_webhook://a", "://a:bpassword", "key=", "eyJ-", "==key", "key: '", "password: ",
    "Private-Lines: 1\n", "secret=\"secret='secret=`", "x-amz-", "-----END PRIVATE KEY-----\n",
    "PRIVATE KEY", "\u0130token=", "password=", "password: string=", "-----END ",
}  # fmt: skip


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(piece, marks=pytest.mark.thorough) if piece in COSTLY else piece
        for piece in BEGINNINGS
    ],
)
def test_many_beginnings_of_secrets_come_to_an_end(piece: str) -> None:
    # Minutes each, where the time grows with the square of a line's length.
    text = (piece * MANY)[:MANY]
    once = mask_text(text)
    assert mask_text(once) == once
