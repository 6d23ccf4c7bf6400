"""Secrets in text: tokens of known forms, private keys, and values that a name calls secret."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2
from string import ascii_lowercase, ascii_uppercase

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


SHORTEST, LONGEST = 12, 512
"""Characters of a value; shorter ones cannot be told from words and version numbers by their looks."""

SHORT, MIDDLE = 16, 24
"""Characters below which a value must be more mixed than a longer one."""

_STEMS = (
    *("passw", "passphrase", "pass", "pwd", "secret", "token", "credential", "apikey", "key", "bearer"),
    *("kennwort", "mot de passe", "contraseñ", "senha", "пароль", "密码", "パスワード"),
)
_QUALIFIED = re.compile(
    r"(?:api|access|account|admin|app|auth|client|crypt(?:ion)?|deploy|hmac|license|master|private|"
    r"secret|service|session|shared|sign(?:ing)?|storage|user|webhook)[\s_.-]?\Z"
)
"""What makes a "key" a secret; the others are primary, foreign, public, of a dictionary, of a keyboard."""

_PASS_BEFORE = re.compile(r"(?:(?<![^\W_])|db|sql|pg|root|user|admin|smtp|ftp|mail|redis|mongo)\Z")
_PASS_BEHIND = re.compile(r"[\"'\])]{0,2}\s{0,4}[=:]|_\w{0,40}[=:]")
"""`DB_PASS=` and `pass: ` name a password; `passage`, `bypass it` and `a first pass` do not."""

# Bounded, and nothing is tried twice: names of secrets are frequent words, and a hostile page has no others.
_VALUE = re.compile(
    r"(?P<rest>(?:[.-]?\w{1,40}+){0,6}+)[\"'`\])]{0,2}+(?P<gap>\s{0,4}+)"
    r"(?P<is>(?:=>|:=|==?|[:：]|\||->|>|(?:is|was|ist|est|es)\b:?)?+)\s{0,4}+(?:(?:[Bb]earer|[Tt]oken)\s{1,4}+)?+"
    r"(?:[bBrRuU]{0,2}+(?P<quote>[\"'`])(?P<quoted>[^\s\"'`]{12,512}+)(?P=quote)"
    r"|(?P<bare>[A-Za-z0-9+/=_.~!@#$%^&*-]{12,512}+)(?![\w(\[{]))"
)
_USERINFO = re.compile(r"://[^\s/:@\"'<>]{0,64}+:([^\s/@\"'<>]{12,128}+)@")

_COOKIES = re.compile(
    r"(?:\bcookie[\"'`]{0,2}(?:\s{0,4}[:=,]\s{0,4}|\s{1,4})|(?<!\S)-b\s{1,4})(?P<pairs>[^\r\n]{0,16384})",
    re.IGNORECASE,
)
_SESSION = re.compile(
    r"(?<![\w.-])[\w.-]{0,40}?(?:sess|sid|auth|token|jwt|login)[\w.-]{0,40}=([^\s;,\"'`<>]{12,8192})",
    re.IGNORECASE,
)
"""RFC 6265, 4.2.1: pairs of a Cookie header; whoever sends the one that names a session has that session.

A session that is kept in its cookie has up to 4 KiB (RFC 6265, 6.1); it is judged by its beginning and hidden
as a whole.
"""

_OPTION = re.compile(r"(?<!\S)--?[\w-]*\Z")
_LONGEST_NAME = 64
_NO_SECRET = re.compile(r"(?:id|name|file|path|dir|url|uri|type|hash|digest|length|size|policy|method)s?\Z")
"""Ends of names that say something about a secret."""

_PLACEHOLDER = re.compile(
    r"example|sample|dummy|change|placeholder|your|secret|passw|token|foobar|12345|abcde|qwert|xxxx|redacted|"
    r"insert|replace|default|\.\.\.|\*\*\*|___",
    re.IGNORECASE,
)
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_LIKENESS = str.maketrans("@4$5013!|7", "aassoleiit")
_USUAL = re.compile(r"pass|secret|admin|welcome|hello|login|letmein|user|test|demo", re.IGNORECASE)
_OTHER = re.compile(
    r"[{<(]|[$%&][\w{(]+[)}%;]?\Z|"  # variables
    r"[.~]{0,2}/[\w.-]*/|[a-z]:\\|[\w.-]+\.[a-z]{2,5}\Z|[a-z][\w+.-]*://|"  # paths, names of files, addresses
    r"md5[0-9a-f]{32}\Z|SCRAM-SHA|\{\w+\}|"  # passwords hashed by a database or a directory
    r"(?:sha\d+|md5)[:$-]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|"  # digests, UUIDs
    r"[a-z]+(?:[_.-](?:[a-z]+|\d+))+\Z|[\d.:_-]+\Z",  # names made of words, numbers
    re.IGNORECASE,
)
_KINDS = tuple(re.compile(kind) for kind in (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9]"))
_HEX = re.compile(r"(?:[0-9a-f]{32,}|[0-9A-F]{32,})\Z")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}")
_STEPS = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")


def _find_values(text: str) -> Iterator[str]:
    """Yield what stands behind the name of a secret, or in an address as password, and looks drawn by lot."""
    low = text.lower()
    if len(low) != len(
        text
    ):  # the lower case of the Turkish İ has two characters, and every place would be off
        low = text.translate(_LOWER)
    for at in _names(low):
        found = _VALUE.match(text, at)
        if found and (value := _value_of(found, text)) and _is_random(value):
            yield value
    yield from (found[1] for found in _USERINFO.finditer(text) if _is_random(found[1]))
    yield from (value for value in _sessions(text, low) if _is_random(value[:LONGEST]))


def _sessions(text: str, low: str) -> Iterator[str]:
    """Values of cookies that name a session, in a header, and in the options of curl."""
    if "=" not in text or not ("cookie" in low or "-b " in low):
        return
    for line in _COOKIES.finditer(text):
        yield from _SESSION.findall(line["pairs"])


def _is_random(value: str) -> bool:
    """Whether a value looks drawn by lot: of many kinds of character, mixed, no placeholder, name or path.

    Entropy in bits per character, as detect-secrets and truffleHog have it; a random hexadecimal of 32
    digits has about 3.6 of at most 4, 16 letters and digits 3.8 of at most 4, and 40 of them 4.8.
    """
    if not SHORTEST <= len(value) <= LONGEST or _OTHER.match(value) or _is_sample(value):
        return False
    if _HEX.match(value):
        return _entropy(value) >= 3.0
    kinds = sum(kind.search(value) is not None for kind in _KINDS)
    if not _KINDS[2].search(value) or kinds < (3 if len(value) < MIDDLE else 2):
        return False
    if kinds > 2 and sum(map(len, _WORDS.findall(value))) > 0.55 * len(value):
        return False
    mixed = len(_STEPS.findall(value)) / len(value)
    if len(value) < SHORT:
        return kinds == len(_KINDS) and mixed >= 0.5 and _entropy(value) >= 3.0
    if len(value) < MIDDLE:
        return mixed >= 0.35 and _entropy(value) >= 3.3
    return mixed >= 0.25 and _entropy(value) >= 3.7


def _is_sample(value: str) -> bool:
    """Whether a value says that it is none; a short one may do so in likenesses, as `P@ssw0rd` does."""
    likely = len(value) < MIDDLE and _USUAL.search(value.translate(_LIKENESS))
    return bool(likely or _PLACEHOLDER.search(value))


def _entropy(text: str) -> float:
    """Bits that a character of *text* carries, by how often each stands in it (Shannon 1948)."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * log2(share) for share in shares)


def _names(low: str) -> Iterator[int]:
    """Places right behind a word that names a secret."""
    for stem in _STEMS:
        at = low.find(stem)
        while at >= 0:
            if _names_secret(stem, low, at):
                yield at + len(stem)
            at = low.find(stem, at + len(stem))


def _names_secret(stem: str, low: str, at: int) -> bool:
    """Whether a word with one of the two stems that most words with them do not mean is meant."""
    if stem == "key":
        return _QUALIFIED.search(low, max(0, at - 12), at) is not None
    if stem == "pass":
        before = _PASS_BEFORE.search(low, max(0, at - 12), at)
        return before is not None and _PASS_BEHIND.match(low, at + len(stem)) is not None
    return True


def _value_of(found: re.Match[str], text: str) -> str | None:
    if _NO_SECRET.search(found["rest"].lower()):
        return None
    assigned = found["is"] or "\t" in found["gap"]  # the cells of a table stand apart by tabs
    if not assigned and not (found["gap"] and (found["quoted"] or _is_option(text, found.start()))):
        return None
    return found["quoted"] or found["bare"].rstrip(".,;:!?*")


def _is_option(text: str, at: int) -> bool:
    """Whether the name is an option of a command, as in `--password VALUE`, or says `Bearer VALUE`."""
    before = text[max(0, at - _LONGEST_NAME) : at]
    return _OPTION.search(before) is not None or before.lower().endswith("bearer")


HIGH_ENTROPY = "high_entropy"
"""Kind of a value that only its name and its looks give away."""

_SHORTEST = 20
"""Characters of the shortest token; a hundred marks are looked for in the words as long as that alone."""

_SAMPLE = re.compile(r"example|xxxx|your|\.\.\.|\*\*\*|1234567890?abcdef|0{8}", re.IGNORECASE)
_LEAST_BITS = 2.8
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
_KEY_CHARACTERS = 40
"""Least length of a private key; the shortest (Ed25519, RFC 8410) has 64, `...` between two lines none."""

_PIECE = re.compile(r"(?<!\S)[A-Za-z0-9+/=_.~%-]{12,}(?!\S)")


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that nobody may read, and what kind of secret it is; its repr tells the kind alone."""

    kind: str
    value: str = field(repr=False)

    @property
    def pieces(self) -> frozenset[str]:
        """The value, and the lines of one that has several: other texts may contain them one by one."""
        return frozenset((self.value, *_PIECE.findall(self.value)))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the distinct secrets of *text*, those of known forms first."""
    values = (Secret(HIGH_ENTROPY, value) for value in _find_values(text))
    return tuple({secret.value: secret for secret in (*values, *find_tokens(text))}.values())


def find_tokens(text: str) -> Iterator[Secret]:
    """Yield the secrets that their own form gives away, whatever stands around them."""
    long_words = " ".join({word for word in text.split() if len(word) >= _SHORTEST})  # markup repeats its own
    for form in FORMATS:
        if any(map(long_words.__contains__, form.marks)):
            for found in re.finditer(form.pattern, text):
                if _is_drawn(found[0]):
                    yield Secret(form.kind, found[0])
    if PRIVATE_KEY.marks[0] in text:
        for found in re.finditer(PRIVATE_KEY.pattern, text):
            if sum(map(len, _KEY_LINE.findall(found[0]))) >= _KEY_CHARACTERS:
                yield Secret(PRIVATE_KEY.kind, found[0])


def _is_drawn(token: str) -> bool:
    """Whether a token is more than the form of one: `ghp_xxxx…` and AWS's own `…EXAMPLE` are not."""
    return not _SAMPLE.search(token) and _entropy(token) >= _LEAST_BITS
