"""Samples of secrets, by kind, for the rates that docs/reference/masking.md tells.

All are made up of chance; none stands here in one piece, so that no scanner finds it.
"""

from __future__ import annotations

import re
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

_CHANCE = Random(14)
_BASE62 = ascii_letters + digits
HEX = digits + "abcdef"
_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}|AGE-SECRET-KEY-1\w+")


def chance(length: int, signs: str = _BASE62) -> str:
    """So many signs of chance, with small letters, and with capitals and digits where allowed."""
    kinds = (ascii_lowercase, ascii_uppercase, digits)
    while True:
        made = "".join(_CHANCE.choices(signs, k=length))
        if all(set(made) & set(kind) for kind in kinds if set(signs) & set(kind)):
            return made


def key_lines(count: int = 25, width: int = 64, last: int = 20) -> list[str]:
    """The body of a key of chance, as `openssl genrsa` prints it."""
    return ["MIIE" + chance(width - 4), *(chance(width, _BASE62 + "+/") for _ in range(count - 2)),
            chance(last) + "="]  # fmt: skip


def pem(name: str = "RSA PRIVATE KEY", lines: list[str] | None = None) -> list[str]:
    """The lines of a whole key."""
    return [f"-----BEGIN {name}-----", *(lines or key_lines()), f"-----END {name}-----"]


class Sample(NamedTuple):
    """A text, its kind, and what of it is secret."""

    kind: str
    text: str
    secrets: tuple[str, ...] = ()


def _with(kind: str, *parts: tuple[str, str, str]) -> list[Sample]:
    return [Sample(kind, "".join(part), (part[1],)) for part in parts]


def _keys() -> list[Sample]:
    forms = {
        "plain": "\n".join(pem()),
        "pkcs8": "\n".join(pem("PRIVATE KEY")),
        "openssh": "\n".join(pem("OPENSSH PRIVATE KEY", key_lines(width=70))),
        "ec": "\n".join(pem("EC PRIVATE KEY", key_lines(3))),
        "encrypted": "\n".join(
            [*pem()[:1], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0F", "", *pem()[1:]]
        ),
        "pgp": "\n".join(
            ["-----BEGIN PGP PRIVATE KEY BLOCK-----", "Version: GnuPG v2", "", *key_lines(),
             "=aB3x", "-----END PGP PRIVATE KEY BLOCK-----"]
        ),
        "pytest": "\n".join(f"E   {line}" for line in pem()),
        "quoted": "\n".join(f"> {line}" for line in pem()),
        "diff": "\n".join(f"+ {line}" for line in pem()),
        "table": "\n".join(f"| {line} |" for line in pem()),
        "numbered": "\n".join(f"{number:4} | {line}" for number, line in enumerate(pem(), 1)),
        "coloured": "\n".join(f"\x1b[31m{line}\x1b[0m" for line in pem()),
        "logged": "\n".join(f"2026-01-01T00:00:00Z web.1: {line}" for line in pem()),
        "json": '{"private_key": "' + "\\n".join(pem("PRIVATE KEY")) + '\\n"}',
        "json in json": '{"a": "{\\"key\\": \\"' + "\\\\n".join(pem()) + '\\"}"}',
        "source": "\n".join(f'    "{line}\\n"' for line in pem()),
        "one line": " ".join(pem()),
        "without BEGIN": "\n".join(pem()[4:]),
        "without END": "\n".join(pem()[:-3]),
        "cut in BEGIN": "\n".join(pem())[20:],
        "cut in a line": "\n".join(pem())[100:],
        "cut in END": "\n".join(pem())[:-9],
    }  # fmt: skip
    age = "AGE-SECRET-KEY-1" + chance(58, ascii_uppercase + digits)
    forms |= {
        "age": age,
        "putty": "\n".join(
            ["Private-Lines: 14", *key_lines(14), f"Private-MAC: {chance(40, HEX)}"]
        ),
    }
    return [Sample("private keys", text, tuple(_BODY.findall(text))) for text in forms.values()]


def _prefixed() -> list[Sample]:
    upper = ascii_uppercase + digits
    keys = [
        "AKIA" + chance(16, upper), "ASIA" + chance(16, upper),
        "ghp_" + chance(36), "gho_" + chance(36), "ghu_" + chance(36), "ghs_" + chance(36),
        "ghr_" + chance(36), "github_pat_" + chance(22) + "_" + chance(59),
        "glpat-" + chance(20), "glrt-" + chance(20), "gldt-" + chance(20),
        "sk-ant-api03-" + chance(90), "sk-proj-" + chance(48), "sk-" + chance(48),
        "sk-or-v1-" + chance(64, HEX), "AIza" + chance(35), "ya29." + chance(60),
        "GOCSPX-" + chance(28), "1//0" + chance(40),
        "xoxb-" + "123456789012-" * 2 + chance(24), "xoxp-" + "123456789012-" * 3 + chance(32, HEX),
        "xapp-1-A0123456789-" + "1234567890123-" + chance(64, HEX),
        "hf_" + chance(34), "gsk_" + chance(52), "xai-" + chance(80), "pplx-" + chance(48),
        "r8_" + chance(37), "nvapi-" + chance(64), "hvs." + chance(90), "hvb." + chance(90),
        "dop_v1_" + chance(64, HEX), "dckr_pat_" + chance(27), "shpat_" + chance(32, HEX),
        "dapi" + chance(32, HEX), "sk_live_" + chance(24), "rk_live_" + chance(24),
        "sk_test_" + chance(24), "whsec_" + chance(32),
        "SG." + chance(22) + "." + chance(43), "key-" + chance(32, HEX),
        "sq0atp-" + chance(22), "sq0csp-" + chance(43), "EAAC" + chance(60),
        "pat-na1-" + chance(8, HEX) + "-" + chance(12, HEX) + "-" + chance(12, HEX),
        "lin_api_" + chance(40), "ntn_" + chance(46), "secret_" + chance(43), "figd_" + chance(40),
        "nfp_" + chance(36), "fm2_" + chance(60), "sbp_" + chance(40, HEX),
        "pscale_tkn_" + chance(43), "dp.pt." + chance(43), "ATATT3" + chance(180),
        "PMAK-" + chance(24, HEX) + "-" + chance(34, HEX), "npm_" + chance(36),
        "pypi-AgEIcHlwaS5vcmc" + chance(120), "1234567890:AA" + chance(33),
        "M" + chance(23) + "." + chance(6) + "." + chance(27),
        "eyJ" + chance(30) + "." + "eyJ" + chance(40) + "." + chance(43),
        "SK" + chance(32, HEX), chance(32, HEX) + "-us12", "sntrys_" + chance(60),
        "glsa_" + chance(32) + "_" + chance(8, HEX), "NRAK-" + chance(27, upper),
        "tskey-auth-" + chance(12) + "-" + chance(32), chance(3) + "8Q~" + chance(34),
        "lsv2_pt_" + chance(32, HEX) + "_" + chance(10, HEX), "re_" + chance(8) + "_" + chance(24),
        "IQoJb3JpZ2lu" + chance(120), "sl." + chance(130),
    ]  # fmt: skip
    around = ("{}", "got {} here", 'x = "{}"', "({})", "E   assert '{}'", "{},", "\n{}\n")
    return [
        Sample("vendors' keys", around[number % len(around)].format(key), (key,))
        for number, key in enumerate(keys)
    ]


def _named() -> list[Sample]:
    return _with(
        "named values",
        ("secretAccessKey: ", chance(20) + "/" + chance(19), "\n"),
        ("  password: ", "hunter22", "\n"),
        ("db:\n  user: me\n  password: ", "p4ss+word!", "\n  host: x"),
        ("export API_TOKEN='", chance(24), "'"),
        ("DB_PASS=", "correcthorse", "\n"),
        ("export OPENAI_API_KEY=", "abcdefgh", " && run"),
        ("POSTGRES_PASSWORD=", "swordfish", ""),
        ("aws_secret_access_key = ", chance(40), ""),
        ("SECRET_KEY_BASE=", chance(64, HEX), ""),
        ("spring.datasource.password=", "tiger99", ""),
        ('password = "', "hunter2", '"'),
        ("db_password: '", "it is; one", "' # x"),
        ('{"secret": "', "x1", '", "other": "y"}'),
        ('{\\"api_key\\": \\"', "abc def", '\\"}'),
        ("'client_secret' => '", "open sesame", "',"),
        ('if ("', "hunter2", '" == user_password) {'),
        ("const apiKey: string = '", "topsecret", "';"),
        ("<password>", "hunter2", "</password>"),
        ("mysql --password=", "hunter2", " -u root"),
        ("tool --api-key ", chance(24), " run"),
        ("curl -u admin:", "hunter2", " https://example.org"),
        ("machine example.org login me password ", "hunter2", ""),
        ("AccountName=x;AccountKey=", chance(86) + "==", ";EndpointSuffix=core"),
        ("Server=x;User Id=sa;Password=", "Winter24", ";"),
        ("API key: ", chance(32, HEX), ""),
        ("the token is ", chance(32), ", as it was"),
        ("HEROKU_API_KEY=", "0a1b2c3d-0a1b-4c2d-8e3f-0a1b2c3d4e5f", ""),
        ('"auth": "', chance(24) + "==", '"'),
        ('{"kty": "OKP", "d": "', chance(43), '"}'),
        ("//registry.npmjs.org/:_authToken=", chance(20), ""),
        ("E   assert settings.token == '", "abc123", "'"),
        ("INFO  connecting with credentials=", chance(30), ""),
        ("  api_key: ", chance(32, HEX), ""),
        ("apiKey=", chance(20), ""),
        ("client-secret: ", chance(24), ""),
        ("  SECRET: ", "s3cr3t-v4lue", ""),
        ("TOKEN ", chance(40), ""),
        ("Logging in with token ", chance(40, HEX), " ..."),
        ("got access_token=", chance(80), " from cache"),
        ("{'token': '", chance(32), "'}"),
        ('{token: "', chance(32), '"}'),
        ("AWS_SESSION_TOKEN=", chance(200) + "==", ""),
        ('password: "', "correct horse battery staple", '"'),
        ("PGPASSWORD=", "letmein1", " psql"),
        ("sshpass -p ", "hunter2", " ssh x"),
        ("docker login -u me -p ", "hunter2", ""),
        ("redis-cli -a ", "hunter2", ""),
        ("--token=", chance(20), ""),
        ("--auth-token ", chance(30), ""),
        ("-Dpassword=", "hunter2", ""),
        ("smtp_pass: ", "hunter2", ""),
        ("ENCRYPTION_KEY=base64:", chance(43) + "=", ""),
        ("JWT_SECRET=", "mysupersecretvalue", ""),
        ("private_key = ", chance(44), ""),
        ("passphrase: ", "tr0ub4dor&3", ""),
        ('{"refresh_token":"', chance(50), '","expires_in":3600}'),
        ("- name: DB_PASSWORD\n  value: ", "hunter2", ""),
        ("webhook_secret: '", "abc123def", "'"),
        ('"SlackToken": "', chance(24), '"'),
        ("TWILIO_AUTH_TOKEN: ", chance(32, HEX), ""),
        ("password=", "swordfish", ""),
        ("password: ", "swordfish", ""),
        ("E       AssertionError: expected token '", chance(24), "' to be refreshed"),
        ("E       -  'password': '", "hunter2", "',"),
        ("secret_key_base: ", chance(128, HEX), ""),
        (
            "[profile x]\naws_access_key_id = x\naws_secret_access_key=",
            chance(
                40,
            ),
            "",
        ),
        ("set MY_TOKEN=", chance(12), ""),
        ('$env:API_KEY = "', chance(16), '"'),
        ("pw = '", chance(10), "'"),
        ("auth=('me', '", "hunter2", "')"),
        ("ACCESS_KEY_SECRET: ", chance(30), ""),
        ("cloud_iam_key = ", chance(44), ""),
        ("Private key: ", chance(64, HEX), ""),
        ("mnemonic: ", "abandon ability able about above absent absorb abstract", ""),
        ('"password": "', "Xy7(kL9)mN2q", '"'),
        ("password: '", "my dog is 7", "'"),
        ("password: ", "12345abcde", ""),
    )


def _requests() -> list[Sample]:
    basic = chance(20) + "=="
    return _with(
        "requests and addresses",
        ("Authorization: Bearer ", chance(27), ""),
        ("Authorization: Basic ", basic, ""),
        ("authorization: token ", chance(40, HEX), ""),
        ('Authorization: Digest username="', 'me", response="' + chance(32, HEX), '"'),
        ("-H 'Authorization: Basic ", basic, "' x"),
        ('{"Authorization": "Basic ', basic, '"}'),
        ("Proxy-Authorization: Basic ", basic, ""),
        ("Authorization: ApiKey ", chance(30), ""),
        ("x-api-key: ", chance(32), ""),
        ("X-Vault-Token: ", chance(26), ""),
        ("PRIVATE-TOKEN: ", chance(20), ""),
        ("Set-Cookie: session=", chance(32), "; Path=/; HttpOnly"),
        ("Cookie: lang=en; sid=", chance(26), "; theme=dark"),
        ("https://", chance(40), "@example.org/x.git"),
        ("https://me:", "s3cr3tpass", "@example.org/x"),
        ("postgres://app:", "swordfish", "@db/x"),
        ("redis://:", "s3cr3tpass", "@cache:6379"),
        ("https://x.blob.core.windows.net/c?sv=2022&sig=", chance(43) + "%3D", "&se=2026"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=", chance(64, HEX), ""),
        ("https://b.s3.amazonaws.com/k?X-Amz-Security-Token=", chance(60), "&X-Amz-Date=1"),
        ("GET /v1?api_key=", "abcdefgh", "&b=2"),
        ("https://example.org/?access_token=", chance(30), ""),
        ("https://hooks.slack.com/services/", "T0000AAAA/B0000BBBB/" + chance(24), ""),
        ("https://discord.com/api/webhooks/123456789012345678/", chance(68), ""),
        ("DATABASE_URL=mysql2://root:", chance(12), "@10.0.0.1/app"),
        ('MONGO_URI="mongodb+srv://u:', chance(14), '@c.mongodb.net/x"'),
        ("jdbc:postgresql://h/db?user=a&password=", "hunter2", "&ssl=true"),
        ("amqp://guest:", "guest1", "@mq"),
        ("X-Auth-Token: ", chance(32, HEX), ""),
        ("x-goog-api-key: ", chance(39), ""),
        ("Ocp-Apim-Subscription-Key: ", chance(32, HEX), ""),
        ("cookie: JSESSIONID=", chance(32, HEX).upper(), ""),
        ("Set-Cookie: auth_token=", chance(40), "; Secure"),
        ("https://oauth2:", chance(20), "@gitlab.com/x.git"),
    )


def _bots() -> list[Sample]:
    token = "123456789:AA" + chance(33)
    return _with(
        "vendors' keys",
        ("https://proxy.example.org/", f"bot{token}", "/getMe"),
        ("TELEGRAM ", "987654321:AA" + chance(35), ""),
    )


def _split() -> list[Sample]:
    """Keys that a line ending, or a character without a width, splits."""
    short, long = "ghp_" + chance(36), "sk-ant-api03-" + chance(90)
    aws = "AKIA" + chance(16, ascii_uppercase + digits)
    parts = {
        "a terminal": ("x {}\n{} y", short[:10], short[10:]),
        "after a whole key": ("{}\r\n{}", long[:60], long[60:]),
        "three lines": ("'{}\n{}\n{}'", long[:40], long[40:70], long[70:]),
        "a shell": ("TOKEN={}\\\n{}", short[:25], short[25:]),
        "indented": ('"{}\\\n    {}"', short[:16], short[16:]),
        "a short key": ("{}\n{}", aws[:11], aws[11:]),
        "no width": ("{}\u200b{}", short[:9], short[9:]),
        "each": ("{}", "\u2060".join(short)),
        "soft hyphens": ("{}\u00ad{}\u00ad{}", short[:9], short[9:20], short[20:]),
    }
    return [
        Sample("vendors' keys", form.format(*secrets), secrets)
        for form, *values in parts.values()
        for secrets in [tuple(values)]
    ]


def _mysql() -> list[Sample]:
    return _with(
        "named values",
        ("mysql -uroot -p", chance(12), " shop < dump.sql"),
        ("mysqldump -u root -p'", chance(6) + " " + chance(6), "' shop"),
        ("mariadb-admin --password=", "seahorses", " ping"),
        ('["CMD", "mysqladmin", "ping", "-h", "localhost", "-p', "swordfish", '"]'),
        ("docker exec db /usr/bin/mysql -p", "12345678", ""),
    )


SECRETS = [
    *_keys(), *_prefixed(), *_named(), *_requests(), *_bots(), *_split(), *_mysql(),
]  # fmt: skip
