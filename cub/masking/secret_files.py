"""Tell whether a file is one of secrets, by its name and what it says, or by what it says alone.

Unlike a mask, which may hide too much, this takes files away: it has to be certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.masking import mask_text
from cub.masking.named_values import rate_name
from cub.masking.value_heuristics import is_harmless_value, looks_random
from cub.masking.vendor_keys import find_vendor_keys

_ENVIRONMENT = re.compile(r"\.envrc|\.env(?:[._-].+)?|.+\.env")
# Templates that are to be filled in, and settings of tests.
_TEMPLATE = re.compile(
    r".*[._-](?:examples?|samples?|templates?|tmpl|tpl|dist|defaults?|schema|tests?|testing|ci)"
    r"(?:[._-].*)?|(?:example|sample|template|default|test)[._-]?.*"
)
_CREDENTIALS = re.compile(
    r"[._]netrc|\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.dockercfg"
    r"|\.s3cfg|\.boto|\.htpasswd|.+\.tfvars"
    r"|(?:.*[._-])?(?:credentials?|secrets?|client[-_]secrets?|service[-_]account)(?:[._-].*)?"
    r"(?:\.(?:json|ya?ml|toml|ini|cfg|conf|properties|txt|csv))|credentials"
)
_ASSIGNMENT = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?P<name>\w[\w.-]{0,120})[ \t]*[=:][ \t]*"
    r"(?P<value>[^\s#][^\r\n]*)"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<kind>(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?P<body>[^-]{60,32768}(?:-[^-]{1,1000}){0,9})-----END (?P=kind)-----"
)
_LINE_END = re.compile(r"(?:\\+[rn])+|\s+")
_BASE64 = re.compile(r"=?[A-Za-z0-9+/]+={0,2}")
_MIN_KEY_BODY = 60  # base64 characters: an Ed25519 key has 64
# Prefixes that nothing but a key has, and of keys that are not meant to be public.
_CERTAIN_KEY = re.compile(
    r"ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|sk-ant-|sk-proj-|sk-svcacct-|sk-or-v1-|sk_live_|rk_live_"
    r"|xox[abprs]-|xapp-|AKIA|SG\.|npm_|pypi-AgE|hf_|GOCSPX-|do[opr]_v1_|shpat_|hvs\.|glsa_|ya29\."
    r"|AGE-SECRET-KEY-1|lin_api_|dckr_pat_|sntry[su]_|tskey-|xai-|gsk_|PMAK-|nvapi-|dapi|ATATT3"
)
_FILLER = re.compile(
    r"(?i)example|sample|dummy|placeholder|fake|x{4}|(.)\1{5}|0?123456|abcdef|fedcba|987654|deadbeef"
)


def is_credentials_file(name: str, text: str) -> bool:
    """Return whether a file, by its name one for credentials or an environment, holds a secret."""
    name = name.lower()
    if _TEMPLATE.fullmatch(name):
        return False
    if _ENVIRONMENT.fullmatch(name):
        return mask_text(text) != text or any(_iter_assigned_secrets(text))
    return _CREDENTIALS.fullmatch(name) is not None and mask_text(text) != text


def holds_certain_secret(text: str) -> bool:
    """Return whether a text holds a whole private key, or a key that only one vendor makes."""
    return _holds_private_key(text) or any(map(_is_certain_key, find_vendor_keys(text)))


def _iter_assigned_secrets(text: str) -> Iterator[str]:
    for match in _ASSIGNMENT.finditer(text):
        value = match["value"].strip().strip("\"'")
        if rate_name(match["name"]) and value and not is_harmless_value(value):
            yield value


def _holds_private_key(text: str) -> bool:
    for match in _PRIVATE_KEY.finditer(text):
        words = [word.strip("\"'+,;>|\\ ") for word in _LINE_END.split(match["body"])]
        body = "".join(word for word in words if _BASE64.fullmatch(word))
        if len(body) >= _MIN_KEY_BODY and looks_random(body) and not _FILLER.search(body):
            return True
    return False


def _is_certain_key(key: str) -> bool:
    prefix = _CERTAIN_KEY.match(key)
    rest = key[prefix.end() :] if prefix else ""
    return looks_random(rest) and not _FILLER.search(rest)
