"""Keys that their makers gave a form of their own: a prefix, a fixed length, a host.

Each form is from public documentation of its vendor or of a secret scanner.

detect-secrets' patterns, for what cub's own do not know.

The library takes longer to load than most commands to run, and its patterns longer than all of
cub's: it is asked about lines alone that hold what may be a key.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from cub.masking.value_heuristics import MASK

_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
# By the first letters, so that a reader finds one; where a prefix is also a word's, more is asked.
_FORMS = (
    rf"AKC{_A}{{10,}}|cmVmdGtuO{_A}{{20,}}",  # Artifactory
    rf"AGE-SECRET-KEY-1{_A}{{20,}}",
    r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",  # AWS
    rf"AIza{_W}{{35}}",  # Google
    rf"AQ\.Ab8{_W}{{20,}}",  # Google, newer
    rf"ATATT3{_W}{{20,}}(?:=[A-F0-9]{{8}})?|ATCTT3{_W}{{20,}}(?:=[A-F0-9]{{8}})?",  # Atlassian
    rf"ATBB{_A}{{28,}}",  # Bitbucket
    r"CCIPAT_\w{20,}",  # CircleCI
    rf"CFPAT-{_W}{{30,}}",  # Contentful
    rf"EAAC{_A}{{30,}}|EAA[A-Z]{_A}{{80,}}|EAAA[A-Z]{_W}{{50,}}",  # Facebook, Square
    rf"FLWSECK(?:_TEST)?-{_W}{{12,}}",  # Flutterwave
    rf"GOCSPX-{_W}{{20,}}",
    rf"GR1348941{_W}{{20,}}",
    rf"NRAK-{_A}{{20,}}|NRJS-{_A}{{15,}}|NRII-{_W}{{20,}}",  # New Relic
    rf"PMAK-{_A}{{20,}}-{_A}{{20,}}",  # Postman
    rf"SG\.{_W}{{16,}}\.{_W}{{20,}}",  # SendGrid
    rf"SK[0-9a-z]{{32}}(?!{_A})|AC[0-9a-f]{{32}}(?!{_A})",  # Twilio
    r"FwoGZXIvYXdz[\w+/=-]{20,}|IQoJb3JpZ2lu[\w+/=-]{20,}",  # AWS session tokens
    rf"ap[ip]_{_A}{{32,}}|apify_api_{_A}{{20,}}",
    rf"(?:api|pat|prt|svc)-(?:us|eu|na|ap)\d?-{_A}{{8,}}[\w-]{{8,}}|pat-{_A}{{20,}}",  # HubSpot
    rf"b(?:kua|uildkite)_{_A}{{30,}}",
    rf"ctx7sk-{_W}{{20,}}",
    r"dapi[0-9a-f]{32}(?:-\d)?|dkea[0-9a-f]{32}|dose[0-9a-f]{32}",  # Databricks
    rf"dckr_[op]at_{_W}{{20,}}",
    rf"do[opr]_v1_{_A}{{32,}}",  # DigitalOcean
    rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{1,40}}\.)?{_A}{{20,}}",  # Doppler
    rf"duffel_(?:test|live)_{_W}{{20,}}",
    rf"dt0[a-z]\d\d\.{_A}{{20,}}\.{_A}{{20,}}",  # Dynatrace
    rf"e2b_{_A}{{20,}}|exa_{_A}{{20,}}",
    rf"ey[JA]{_W}{{8,2000}}\.{_W}{{8,}}={{0,2}}(?:\.[\w=-]*)?",  # JWT
    rf"figd_{_W}{{20,}}",
    rf"fio-u-{_W}{{20,}}",
    r"f[mo][12][ar]?_[\w+/=-]{20,}",  # Fly
    rf"gh[opsur]_{_A}{{20,}}",
    r"github_pat_\w{22,}",
    rf"gl(?:pat|dt|ft|soat|rt|rtr|cbt|imt|ptt|agent|oas|wt|ffct)-{_W}{{20,}}(?:\.{_W}{{2,}})*",
    rf"glc_[\w+/=-]{{20,}}|glsa_{_A}{{20,}}(?:_[0-9a-f]{{8}})?",  # Grafana
    rf"gsk_{_A}{{20,}}",  # Groq
    rf"hf_{_A}{{20,}}|api_org_{_A}{{20,}}",  # Hugging Face
    rf"hv[sbr]\.{_W}{{20,}}",  # Vault
    rf"lin_(?:api|oauth)_{_A}{{20,}}",  # Linear
    rf"lsv2_(?:pt|sk)_{_A}{{20,}}(?:_{_A}{{8,}})?",  # LangSmith
    rf"mfa\.{_W}{{60,}}|[MNO][\w-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,}}",  # Discord
    r"[0-9a-f]{32}-us\d{1,2}(?!\w)",  # Mailchimp
    rf"key-[0-9a-f]{{32}}(?!{_A})",  # Mailgun
    rf"nfp_{_A}{{20,}}|nfc_{_A}{{20,}}",  # Netlify
    rf"napi_{_A}{{20,}}",  # Neon
    rf"npm_{_A}{{20,}}",
    rf"nvapi-{_W}{{20,}}",
    rf"ntn_{_A}{{20,}}|secret_{_A}{{40,}}",  # Notion
    rf"ops_eyJ{_W}{{20,}}",  # 1Password
    r"oy2[a-z0-9]{43}(?![a-z0-9])",  # NuGet
    rf"ph[cx]_{_A}{{30,}}",  # PostHog
    rf"pk\.eyJ{_W}{{20,}}\.{_W}{{10,}}|sk\.eyJ{_W}{{20,}}\.{_W}{{10,}}",  # Mapbox
    rf"pplx-{_A}{{20,}}",
    rf"pscale_(?:tkn|pw|oauth)_{_W}{{20,}}",
    r"pul-[0-9a-f]{32,}",  # Pulumi
    rf"pypi-{_W}{{16,}}",
    rf"r8_{_A}{{20,}}",  # Replicate
    rf"re_{_A}{{8,}}_{_A}{{16,}}",  # Resend
    r"rdme_[a-z0-9]{60,}",
    rf"rnd_{_A}{{20,}}|rpa_{_A}{{30,}}",  # Render, RunPod
    r"rubygems_[0-9a-f]{40,}",
    rf"sb(?:p_(?:v0_)?{_A}{{20,}}|_secret_{_W}{{20,}})",  # Supabase
    rf"sh(?:pat|pca|ppa|pss)_{_A}{{20,}}",  # Shopify
    rf"shippo_(?:live|test)_{_A}{{20,}}",
    rf"(?:sk|rk|pk)_(?:live|test|prod)_{_A}{{16,}}",  # Stripe
    rf"sk-{_W}{{20,}}",
    rf"sk_{_A}{{40,}}",  # ElevenLabs and others
    rf"sl\.(?:u\.)?{_W}{{60,}}",  # Dropbox
    r"sntry[su]_[\w+/=-]{20,}",  # Sentry
    rf"sq0(?:atp|csp|idp)-{_W}{{20,}}",  # Square
    r"sqp_[0-9a-f]{40}|squ_[0-9a-f]{40}|sqa_[0-9a-f]{40}",  # SonarQube
    rf"tfp_{_W}{{30,}}|{_A}{{14}}\.atlasv1\.{_W}{{50,}}",  # Typeform, Terraform
    rf"tvly-{_W}{{20,}}|tskey-[a-z]{{2,10}}-{_W}{{16,}}",  # Tavily, Tailscale
    r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}",  # Cloudflare
    rf"vc[apikr]_{_A}{{20,}}|vercel_{_A}{{20,}}",
    r"whsec_[\w+/=-]{20,}",
    r"x(?:ox[abcdeoprs]|ox[e]\.xox[bp]|app)-[\w-]{10,}",  # Slack
    rf"xai-{_A}{{20,}}",
    rf"ya29\.{_W}{{20,}}|1//0{_W}{{30,}}",  # Google
    rf"{_W}{{3}}\dQ~[\w~.-]{{28,}}",  # Azure
    rf"\d{{8,10}}:{_W}{{35}}(?!{_W})",  # Telegram
)
_KEY = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_FORMS)})")
# A secret in the path of an address, of which the rest stays.
_HOOKS = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks/\d+"
    r"|api\.telegram\.org/bot|(?<![\w-])[\w-]{1,63}\.webhook\.office\.com/webhookb2"
    r"|chat\.googleapis\.com/v1"
    r"|hooks\.zapier\.com/hooks/catch|open\.feishu\.cn/open-apis/bot/v2/hook)"
    r"/?(?P<value>[\w@:/.-]{16,})"
)
_LONG = re.compile(r"[\w.~+/=:@-]{15,}")


def mask_vendor_keys(text: str) -> str:
    """A text without keys that tell by themselves what they are."""
    if "/" in text and ("hook" in text or "api.telegram" in text or "chat.google" in text):
        text = _HOOKS.sub(lambda found: found[0][: -len(found["value"])] + MASK, text)
    return _LONG.sub(_without_keys, text)


def _without_keys(word: re.Match[str]) -> str:
    return _KEY.sub(_mask_match, word[0])


def _mask_match(match: re.Match[str]) -> str:
    """A name such as `sk-learn-contributed-models` begins like a key, and is none."""
    return match[0] if match[0].islower() and match[0].replace("-", "a").isalpha() else MASK


# A public address is no secret. Of an address's user cub hides the password alone, of a key its
# body. The others take the square of a line's length for some lines, and are among cub's own, too.
_LEFT_OUT = (
    "IPPublicDetector", "BasicAuthDetector", "JwtTokenDetector", "NpmDetector", "OpenAIDetector",
    "KeywordDetector", "PrivateKeyDetector",
)  # fmt: skip
# What its patterns ask for that no pattern of cub's own has: a long word of letters and digits in
# turns, or Artifactory's prefixes.
_CANDIDATE = re.compile(r"[A-Za-z0-9_-]{24,}|\bAP[\dA-F]\w{8,}|\bAKC\w{10,}")
_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_FEWEST = 5


def mask_library_secrets(text: str) -> str:
    """A text without what the library's patterns find."""
    if not _may_have_any(text):
        return text
    lines = text.split("\n")
    return "\n".join(_without(line) if _may_have_any(line) else line for line in lines)


def _may_have_any(text: str) -> bool:
    return any(_has_chance(found[0]) for found in _CANDIDATE.finditer(text))


def _has_chance(word: str) -> bool:
    return len(word) < 24 or len(_KINDS.findall(word)) >= _FEWEST


def _without(line: str) -> str:
    for pattern in _patterns():
        line = pattern.sub(MASK, line)
    return line


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    plugins: list[type[Any]] = [*get_mapping_from_secret_type_to_class().values()]
    return tuple(
        pattern
        for plugin in plugins
        if issubclass(plugin, RegexBasedDetector) and plugin.__name__ not in _LEFT_OUT
        for pattern in plugin().denylist
    )
