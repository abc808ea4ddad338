"""Rules as data for keys and tokens that vendors give a form of their own. To add a vendor, add a line.

The forms are those that the vendors document for secret scanners. `detect-secrets` is left out: its
plugins read source files line by line and bring an HTTP client along. Patterns are matched inside of
unbroken stretches of at least sixteen characters of `A-Z a-z 0-9 _ - . + / = ~`, never after a letter or a digit.
"""

import re
from itertools import pairwise
from typing import NamedTuple

_WORD = r"[A-Za-z0-9]"
_URL = r"[A-Za-z0-9_\-]"
_HEX = r"[0-9a-f]"


class TokenRule(NamedTuple):
    vendor: str
    pattern: str
    checked: bool = False
    """The form is not telling enough by itself: the match must also mix capitals, small letters and digits."""


RULES = (
    TokenRule("OpenAI, Anthropic, OpenRouter", rf"sk-{_URL}{{16,}}"),
    TokenRule("Stripe", rf"(?:sk|pk|rk)_(?:live|test)_{_WORD}{{10,}}"),
    TokenRule("Stripe, Svix webhooks", r"whsec_[A-Za-z0-9+/=]{16,}"),
    TokenRule("GitHub", rf"gh[pousr]_{_WORD}{{20,}}"),
    TokenRule("GitHub fine-grained", r"github_pat_[A-Za-z0-9_]{20,}"),
    TokenRule("GitLab", rf"gl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|ffct|oas)-{_URL}{{16,}}"),
    TokenRule("GitLab runner registration", rf"GR1348941{_URL}{{16,}}"),
    TokenRule("Slack", r"xox[a-z](?:-|\.xox[a-z]-)[A-Za-z0-9\-]{10,}"),
    TokenRule("Slack app", r"xapp-[0-9]-[A-Za-z0-9\-]{16,}"),
    TokenRule("AWS key id", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    TokenRule("AWS session token", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{40,}"),
    TokenRule("Google API", rf"AIza{_URL}{{30,}}"),
    TokenRule("Google OAuth access", rf"ya29\.{_URL}{{20,}}"),
    TokenRule("Google OAuth refresh", rf"1//0{_URL}{{30,}}"),
    TokenRule("Google OAuth client", rf"GOCSPX-{_URL}{{20,}}"),
    TokenRule("Firebase messaging", r"APA91b[A-Za-z0-9_\-]{60,}"),
    TokenRule("SendGrid", rf"SG\.{_URL}{{16,}}\.{_URL}{{16,}}"),
    TokenRule("Mailgun", rf"key-{_HEX}{{32}}(?![A-Za-z0-9])"),
    TokenRule("Mailchimp", rf"{_HEX}{{32}}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    TokenRule("Brevo", rf"xkeysib-{_HEX}{{32,}}(?:-{_WORD}{{8,}})?"),
    TokenRule("Postmark, Loops and others", r"SLK-[A-Za-z0-9]{20,}"),
    TokenRule("npm", rf"npm_{_WORD}{{30,}}"),
    TokenRule("PyPI", rf"pypi-Ag{_URL}{{32,}}"),
    TokenRule("RubyGems", rf"rubygems_{_HEX}{{40,}}"),
    TokenRule("crates.io", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", checked=True),
    TokenRule("Docker Hub", rf"dckr_(?:pat|oat)_{_URL}{{20,}}"),
    TokenRule("Hugging Face", rf"(?:hf|api_org)_{_WORD}{{30,}}"),
    TokenRule("Replicate", rf"r8_{_WORD}{{30,}}"),
    TokenRule("Groq", rf"gsk_{_WORD}{{40,}}"),
    TokenRule("xAI", rf"xai-{_WORD}{{60,}}"),
    TokenRule("Perplexity", rf"pplx-{_WORD}{{40,}}"),
    TokenRule("DigitalOcean", rf"do[opr]_v1_{_HEX}{{60,}}"),
    TokenRule("Heroku", rf"HRKU-{_URL}{{30,}}"),
    TokenRule("Shopify", rf"shp(?:at|ca|pa|ss|tka)_{_WORD}{{24,}}"),
    TokenRule("Square", rf"(?:sq0(?:atp|csp|idp)-{_URL}{{20,}}|EAAA{_URL}{{56,}})"),
    TokenRule("Facebook", r"EAA[A-Za-z0-9]{80,}"),
    TokenRule("HashiCorp Vault", rf"hv[sbr]\.{_URL}{{24,}}"),
    TokenRule("HashiCorp Vault before 1.10", rf"[sb]\.{_WORD}{{24}}(?![A-Za-z0-9])", checked=True),
    TokenRule("Terraform Cloud", rf"{_WORD}{{14}}\.atlasv1\.{_URL}{{40,}}"),
    TokenRule("Twilio", rf"(?:AC|SK){_HEX}{{32}}(?![A-Za-z0-9])"),
    TokenRule("Discord bot", rf"[MNO]{_URL}{{23,27}}\.{_URL}{{6}}\.{_URL}{{27,40}}"),
    TokenRule("Atlassian", r"AT(?:ATT|CTT|BBT)3[A-Za-z0-9_\-=.]{40,}"),
    TokenRule("Bitbucket", rf"ATBB{_WORD}{{24,}}"),
    TokenRule("Databricks", rf"dapi{_HEX}{{32}}(?:-[0-9]{{1,2}})?(?![A-Za-z0-9])"),
    TokenRule("Grafana service account", rf"glsa_{_WORD}{{32}}_{_HEX}{{8}}"),
    TokenRule("Grafana Cloud", r"glc_[A-Za-z0-9+/=]{32,}"),
    TokenRule("Grafana API", r"eyJrIjoi[A-Za-z0-9+/=]{40,}"),
    TokenRule("Linear", rf"lin_(?:api|oauth)_{_WORD}{{32,}}"),
    TokenRule("Notion", r"(?:ntn_[0-9]{8,}[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,})"),
    TokenRule("Figma", rf"fig[dor]_{_URL}{{32,}}"),
    TokenRule("Postman", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    TokenRule("New Relic", r"NR(?:AK|II|JS|RA|AA|SP)-[A-Za-z0-9_\-]{18,}"),
    TokenRule("Sentry", r"sntry[su]_[A-Za-z0-9+/=_\-]{40,}"),
    TokenRule("PostHog", rf"ph[cx]_{_WORD}{{32,}}"),
    TokenRule("Doppler", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{{2,35}}\.)?{_WORD}{{40,}}"),
    TokenRule("Pulumi", rf"pul-{_HEX}{{40}}"),
    TokenRule("Supabase", rf"sb(?:p|_secret|_publishable)_{_WORD}{{20,}}"),
    TokenRule("PlanetScale", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_\-.=]{30,}"),
    TokenRule("Tailscale", rf"tskey-[a-z]+-{_WORD}{{6,}}-{_WORD}{{16,}}"),
    TokenRule("Contentful", rf"CFPAT-{_URL}{{40,}}"),
    TokenRule("Airtable", rf"pat{_WORD}{{14}}\.{_HEX}{{64}}"),
    TokenRule("Dynatrace", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    TokenRule("Cloudflare origin CA", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}"),
    TokenRule("Sourcegraph", rf"sgp_(?:[a-zA-Z0-9]+_)?{_HEX}{{40}}"),
    TokenRule("Buildkite", rf"bk(?:ua|aj|ct)_{_HEX}{{40}}"),
    TokenRule("Okta, OpsLevel and others", rf"(?:olp|opl)_{_WORD}{{36}}"),
    TokenRule("Telegram bot", rf"(?<=[0-9]:)AA{_URL}{{33}}(?![A-Za-z0-9_\-])"),
    TokenRule("age", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    TokenRule("Gaby", r"gaby-[a-z2-7]{12}\.[a-z2-7]{52}|gaby-[A-Za-z0-9_\-.]{16,}"),
    # Whoever gives out tokens today puts a short name before many random characters.
    TokenRule("any vendor", rf"[a-z]{{2,10}}[_\-](?:[a-z0-9]{{1,10}}[_\-]){{0,2}}{_WORD}{{30,200}}", checked=True),
)

_CHECKED = "|".join(rule.pattern for rule in RULES if rule.checked)
_CERTAIN = "|".join(rule.pattern for rule in RULES if not rule.checked)
CERTAIN_TOKEN = re.compile(rf"(?<![A-Za-z0-9])(?:{_CERTAIN})")
CHECKED_TOKEN = re.compile(rf"(?<![A-Za-z0-9])(?:{_CHECKED})(?![A-Za-z0-9])")

# Links whose path is the secret: whoever has the link may post.
WEBHOOKS = (
    ("hooks.slack.com/", re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_\-]{20,300})")),
    ("/api/webhooks/", re.compile(r"discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/([A-Za-z0-9_\-]{30,120})")),
    ("webhook", re.compile(r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_\-]{30,400})")),
    ("sig=", re.compile(r"[?&;]sig=([A-Za-z0-9%+/=_\-]{20,200})")),
    ("accountkey=", re.compile(r"AccountKey=([A-Za-z0-9+/=]{40,100})", re.IGNORECASE)),
    ("x-amz-signature=", re.compile(r"X-Amz-Signature=([0-9a-f]{64})", re.IGNORECASE)),
)
"""Each with what must be in the text, in lower case, for it to be there at all."""

_BARE_AWS = re.compile(r"[A-Za-z0-9/+]{40}")
_HEX_ONLY = re.compile(r"[0-9a-fA-F]+")
_CLASSES = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "A" * 26 + "a" * 26 + "0" * 10
)


def is_mixed(text: str) -> bool:
    """Random: capitals, small letters and digits change places as often as they do by chance, not as in names."""
    shape = text.translate(_CLASSES)
    if not {"A", "a", "0"} <= set(shape):
        return False
    changes = sum(one != other for one, other in pairwise(shape))
    return changes * 5 >= len(text) * 2


def is_aws_secret(text: str) -> bool:
    """Forty characters of base64, which nothing else has: forty hexadecimal digits are a commit."""
    return _BARE_AWS.fullmatch(text) is not None and _HEX_ONLY.fullmatch(text) is None and is_mixed(text)
