"""What access tokens and private keys look like that their issuers gave a form of their own."""

from dataclasses import dataclass

_FREE = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9])"
_URL = r"[A-Za-z0-9_-]"
"""Base64 of URLs. Its letters are those of `_FREE`: else tokens could begin amid a long word, and from each
the word would be read to its end.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """A form of secret: every one contains one of `marks`, and `pattern` matches all of it."""

    kind: str
    marks: tuple[str, ...]
    pattern: str


def _token(kind: str, marks: str, rest: str) -> Format:
    """A token that begins with one of *marks*, words of one text."""
    names = tuple(marks.split())
    begins = "|".join(name.replace(".", r"\.") for name in names)
    return Format(kind, names, rf"{_FREE}(?:{begins}){rest}{_END}")


FORMATS = (
    # AWS Identity and Access Management, "IAM identifiers": prefixes of access keys
    _token("aws_access_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
    # GitHub, "Behind GitHub's new authentication token formats", and fine-grained tokens
    _token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,255}"),
    _token("github_token", "github_pat_", r"[A-Za-z0-9_]{60,255}"),
    # GitLab, "GitLab token overview", prefixes
    _token(
        "gitlab_token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
        r"[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*",
    ),
    # Slack, "Token types" and "Incoming webhooks"
    _token("slack_token", "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]{18,}"),
    Format(
        "slack_webhook",
        ("hooks.slack.com/",),
        r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/\w{6,}/\w{6,}/\w{18,}(?:/\w+)?",
    ),
    # Stripe, "API keys": secret and restricted keys, and "Webhooks": signing secrets
    _token("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,}"),
    _token("stripe_key", "whsec_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    # Google Cloud, "API keys", "OAuth 2.0": client secrets, access and refresh tokens
    _token("google_api_key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _token("google_oauth", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _token("google_oauth", "ya29. 1//0", r"[A-Za-z0-9_-]{30,}"),
    # Registries: npm, "New npm token format"; PyPI, "API tokens" (a macaroon); RubyGems; Docker Hub
    _token("npm_token", "npm_", r"[A-Za-z0-9]{36}"),
    _token("pypi_token", "pypi-AgE", r"[A-Za-z0-9_-]{50,}"),
    _token("rubygems_token", "rubygems_", r"[a-f0-9]{48}"),
    _token("docker_token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{27,}"),
    # RFC 7519 over RFC 7515: header and claims are JSON objects, so both begin alike
    Format("jwt", ("eyJ",), rf"{_FREE}eyJ{_URL}{{8,}}\.eyJ{_URL}{{8,}}\.{_URL}{{20,}}"),
    # Language models: OpenAI, Anthropic and who took their form; Hugging Face; Groq; xAI; Replicate
    # (their digits and capitals tell them from names of styles: `sk-` is also a prefix of those)
    _token("llm_api_key", "sk-", rf"(?={_URL}*\d)(?={_URL}*[A-Z]){_URL}{{32,}}"),
    _token("llm_api_key", "hf_ gsk_ xai- r8_ pplx-", r"[A-Za-z0-9]{32,}"),
    # Azure: connection strings, shared access signatures, Entra client secrets
    Format("azure_key", ("AccountKey=",), r"(?<=AccountKey=)[A-Za-z0-9+/]{86}=="),
    Format("azure_key", ("SharedAccessKey=",), r"(?<=SharedAccessKey=)[A-Za-z0-9+/]{43}="),
    Format("azure_sas", ("sig=",), r"(?<=[?&;]sig=)(?:[A-Za-z0-9+/]|%2[BbFf]){43,60}(?:=|%3[Dd])"),
    Format("azure_client_secret", ("Q~",), rf"{_FREE}[\w~.-]{{3}}\dQ~[\w~.-]{{34}}{_END}"),
    # Clouds and services, each by its own page on API tokens
    _token("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    _token("sendgrid_key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _token("mailgun_key", "key-", r"[a-f0-9]{32}"),
    Format("telegram_token", (":AA",), rf"{_FREE}\d{{8,10}}:AA[\w-]{{33}}{_END}"),
    _token("databricks_token", "dapi", r"[a-f0-9]{32}(?:-\d)?"),
    _token("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
    _token("square_token", "sq0atp- sq0csp-", r"[A-Za-z0-9_-]{22,43}"),
    _token("vault_token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,}"),
    Format("terraform_token", (".atlasv1.",), rf"{_FREE}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,}}"),
    _token(
        "doppler_token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:\w+\.)?[A-Za-z0-9]{40,44}"
    ),
    _token("linear_key", "lin_api_", r"[A-Za-z0-9]{40}"),
    _token("notion_token", "ntn_ secret_", r"[A-Za-z0-9]{43,50}"),
    _token("postman_key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("grafana_token", "glsa_", r"[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    _token("grafana_token", "glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    _token("new_relic_key", "NRAK-", r"[A-Z0-9]{27}"),
    _token("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    _token("atlassian_token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{60,}"),
    _token("sentry_token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{40,}"),
    _token("tailscale_key", "tskey-", r"[a-z]+-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}"),
    _token("pulumi_token", "pul-", r"[a-f0-9]{40}"),
    _token("supabase_token", "sbp_", r"[a-f0-9]{40}"),
    _token("figma_token", "figd_", r"[A-Za-z0-9_-]{40}"),
    _token("age_key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
)
"""In the order in which they are looked for. Lengths are the shortest that were ever issued."""

_KEY_NAME = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?"
PRIVATE_KEY = Format(
    "private_key",
    ("PRIVATE KEY",),
    rf"-----BEGIN {_KEY_NAME}-----"
    rf"(?:(?:[^-]|-(?!----)){{0,20000}}-----END {_KEY_NAME}-----|(?:[\s\\nr]*[A-Za-z0-9+/=]{{16,}})*)",
)
"""RFC 7468, OpenSSH and OpenPGP (RFC 9580, 6.2); of one that is cut short, the lines that follow its head."""
