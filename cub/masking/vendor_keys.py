"""Hide keys that have a form of their own: a prefix, a fixed length, a host.

Each form comes from public documentation of its vendor or of a secret scanner. A line ending
or characters without a width may split a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.masking.value_heuristics import MASK, looks_like_id, looks_random, mask_group, mask_spans

_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
# Sorted by the first letters; a prefix that is also a word's requires more characters.
_FORMS = (
    rf"AKC{_A}{{10,}}|cmVmdGtuO{_A}{{20,}}|AP[0-9A-F](?=[A-Za-z]*\d){_A}{{8,}}",  # Artifactory
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
    rf"(?:SK|AC)[0-9a-z]{{32}}(?!{_A})",  # Twilio
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
    r"[0-9a-z]{32}-us\d{1,2}(?!\w)",  # Mailchimp
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
    rf"\d{{8,10}}:{_W}{{35}}(?!{_W})|(?:bot)?\d{{6,12}}:AA(?!AA){_W}{{32,36}}(?!{_W})",  # Telegram
)
_KEY = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_FORMS)})")
# Secrets in the path of an address, of which the rest stays.
_URL_SECRET = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks/\d+"
    r"|api\.telegram\.org/bot|(?<![\w-])[\w-]{1,63}\.webhook\.office\.com/webhookb2"
    r"|chat\.googleapis\.com/v1|api\.softlayer\.com/soap/v3(?:\.1)?"
    r"|hooks\.zapier\.com/hooks/catch|open\.feishu\.cn/open-apis/bot/v2/hook)"
    r"/?(?P<value>[\w@:/.-]{16,})"
)
_URL_HINTS = ("hook", "api.telegram", "chat.google", "api.softlayer")
# Keys without a form, which the words in front of them announce.
_AWS_SECRET = re.compile(
    r"(?i)aws.{0,20}?(?:key|pwd?|pass|token).{0,20}?[\"'](?P<value>[0-9a-z/+]{40})[\"']"
)
_IBM_KEY = re.compile(
    r"(?i)(?<!\w)(?:cl|clou|cloudant|sl|softlayer|iam|(?:ibm[_-]?)?cloud(?:[_-]?iam)?|ibm(?:[_-]?iam)?)"
    r"[_-]?(?:api)?[_-]?(?:key|pwd?|pass(?:word)?|token)[\"'\]]{0,2} {0,9}(?:=>|:=|::|[:= ]) {0,9}"
    r"[\"']?(?P<value>[0-9a-z]{64}|[0-9a-f]{48}|[\w-]{44}|[a-z]{24})(?![\w-])"
)
# A soft hyphen, and spaces and joiners of no width.
ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_LONG_WORD = re.compile(rf"[\w.~+/=:@{ZERO_WIDTH}-]{{15,}}")
_ZERO_WIDTH_TABLE = dict.fromkeys(map(ord, ZERO_WIDTH))
_CHARACTER = r"[\w.~+/=:@-]"
# As a terminal wraps a line, or as a shell continues one. The key's start has to be recognizable.
_MIN_START = 8
_LINE_END = re.compile(
    rf"(?<!{_CHARACTER})(?P<first>{_CHARACTER}{{{_MIN_START},}}+)\\?\r?\n[ \t]{{0,16}}"
    rf"(?=(?P<rest>{_CHARACTER}++))"
)
_RUN = re.compile(rf"{_A}+")
_MIN_JOINED_RUN, _MIN_CONTINUED_RUN = 16, 12


def mask_split_keys(text: str) -> str:
    """Replace the parts of each key that is split by line ends with the mask."""
    return mask_spans(text, _find_parts(text)) if "\n" in text else text


def _find_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of split keys are."""
    next_part = (-1, -1)  # a part that fills its line: the key may go on
    for match in _LINE_END.finditer(text):
        first, rest, rest_start = match["first"], match["rest"], match.start("rest")
        if match.span("first") == next_part:
            length = len(rest) if _continues_key(rest) else 0
        else:
            start, length = _find_split_key(first, rest)
            if length:
                yield match.start() + start, match.end("first")
        if length:
            yield rest_start, rest_start + length
        next_part = (rest_start, rest_start + length)


def _find_split_key(first: str, rest: str) -> tuple[int, int]:
    """Return where a key starts in `first`, and how much of `rest` belongs to it; 0 if nothing."""
    for key in _KEY.finditer(first + rest):
        start, length = key.start(), key.end() - len(first)
        if start <= len(first) - _MIN_START and length > 0:
            if _KEY.match(first, start):  # a whole key, after which another word may follow
                return start, length if _continues_key(rest[:length]) else 0
            longest = max(_RUN.findall(key[0]), key=len)
            is_random = len(longest) >= _MIN_JOINED_RUN and not longest.isalpha()
            return start, length if is_random and not longest.isdigit() else 0
    return 0, 0


def _continues_key(part: str) -> bool:
    """Tell whether the first word of a line, after a whole key, looks like more of that key."""
    longest = max(_RUN.findall(part), key=len, default="")
    return looks_random(longest, _MIN_CONTINUED_RUN) and not looks_like_id(part)


def mask_vendor_keys(text: str) -> str:
    """Replace the keys that a vendor's form gives away with the mask."""
    text = _IBM_KEY.sub(mask_group, _AWS_SECRET.sub(mask_group, text))
    if "/" in text and any(hint in text for hint in _URL_HINTS):
        text = _URL_SECRET.sub(mask_group, text)
    return _LONG_WORD.sub(_mask_word, text)


def find_vendor_keys(text: str) -> Iterator[str]:
    """Yield the keys that a vendor's form gives away."""
    for word in _LONG_WORD.finditer(text):
        for key in _KEY.finditer(word[0]):
            if not _is_phrase(key[0]):
                yield key[0]


def _mask_word(match: re.Match[str]) -> str:
    word = match[0] if match[0].isascii() else match[0].translate(_ZERO_WIDTH_TABLE)
    masked = _KEY.sub(_mask_key, word)
    return match[0] if masked == word else masked


def _mask_key(match: re.Match[str]) -> str:
    return match[0] if _is_phrase(match[0]) else MASK


def _is_phrase(key: str) -> bool:
    """Tell whether it is a name such as `sk-learn-contributed-models`, which begins like a key."""
    return key.islower() and key.replace("-", "a").isalpha()
