"""Values that a name calls secret (`api_key = …`), told from sample values by how they look."""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from string import ascii_lowercase, ascii_uppercase

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


def find_values(text: str) -> Iterator[str]:
    """Yield what stands behind the name of a secret, or in an address as password, and looks drawn by lot."""
    low = text.lower()
    if len(low) != len(
        text
    ):  # the lower case of the Turkish İ has two characters, and every place would be off
        low = text.translate(_LOWER)
    for at in _names(low):
        found = _VALUE.match(text, at)
        if found and (value := _value_of(found, text)) and is_random(value):
            yield value
    yield from (found[1] for found in _USERINFO.finditer(text) if is_random(found[1]))
    yield from (value for value in _sessions(text, low) if is_random(value[:LONGEST]))


def _sessions(text: str, low: str) -> Iterator[str]:
    """Values of cookies that name a session, in a header, and in the options of curl."""
    if "=" not in text or not ("cookie" in low or "-b " in low):
        return
    for line in _COOKIES.finditer(text):
        yield from _SESSION.findall(line["pairs"])


def is_random(value: str) -> bool:
    """Whether a value looks drawn by lot: of many kinds of character, mixed, no placeholder, name or path.

    Entropy in bits per character, as detect-secrets and truffleHog have it; a random hexadecimal of 32
    digits has about 3.6 of at most 4, 16 letters and digits 3.8 of at most 4, and 40 of them 4.8.
    """
    if not SHORTEST <= len(value) <= LONGEST or _OTHER.match(value) or _is_sample(value):
        return False
    if _HEX.match(value):
        return entropy(value) >= 3.0
    kinds = sum(kind.search(value) is not None for kind in _KINDS)
    if not _KINDS[2].search(value) or kinds < (3 if len(value) < MIDDLE else 2):
        return False
    if kinds > 2 and sum(map(len, _WORDS.findall(value))) > 0.55 * len(value):
        return False
    mixed = len(_STEPS.findall(value)) / len(value)
    if len(value) < SHORT:
        return kinds == len(_KINDS) and mixed >= 0.5 and entropy(value) >= 3.0
    if len(value) < MIDDLE:
        return mixed >= 0.35 and entropy(value) >= 3.3
    return mixed >= 0.25 and entropy(value) >= 3.7


def _is_sample(value: str) -> bool:
    """Whether a value says that it is none; a short one may do so in likenesses, as `P@ssw0rd` does."""
    likely = len(value) < MIDDLE and _USUAL.search(value.translate(_LIKENESS))
    return bool(likely or _PLACEHOLDER.search(value))


def entropy(text: str) -> float:
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
