"""What must match exactly: ids, flags, names, paths, versions and formulas."""

import re
from functools import lru_cache

from schemas.formulas import find_formulas

_ID_PREFIX = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,6}(?![A-Za-z0-9])")

MAX_CODES = 200
"""Codes kept of one text; a table of constants needs no more to be found."""

_MARKED = re.compile(r"[_./\\0-9-]")
_BREAK = re.compile(r"""[\s,;()\[\]{}<>|"'`“”‘’«»=]+""")
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![\w-])[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+(?![\w-])",  # ids: GOV-0017, CVE-2024-3094
        r"(?<![\w-])[A-Z]+\d+[A-Z0-9]*(?![\w-])",  # error and algorithm names: E501, SHA256
        r"(?<![\w-])--[A-Za-z][\w-]*\w|(?<![\w-])-[A-Za-z](?![\w-])",  # flags: --no-owner, -x
        r"(?<![\w.])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+(?![\w])",  # os.path.join, std::move
        r"(?<!\w)(?=\w*[A-Za-z0-9])\w+_\w*(?!\w)|(?<!\w)_\w*[A-Za-z0-9]\w*(?!\w)",  # max_wal_size, __init__
        r"(?<![\w./:~-])(?:~|\.{1,2})?(?:/[\w.+@%~-]*[\w+~-])+/?",  # /etc/passwd, ~/.ssh
        r"(?<![\w./:~-])[\w.-]+(?:/[\w.-]+)+\.\w+",  # docs/rules/ids.md
        r"(?<!\w)[A-Za-z]:\\[\w.\\-]*\w",  # C:\Users\x
        r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-~+.]?(?:rc|alpha|beta|dev|post|a|b)\.?\d*)?(?![\w])",  # 15.20, 2.0rc1
    )
)


def extract_codes(text: str) -> tuple[str, ...]:
    """Return the distinct codes of *text*, sorted by code point, at most MAX_CODES.

    A code inside a longer one counts too: `/etc/pg_hba.conf` also gives `pg_hba.conf` and `pg_hba`.
    """
    words = {word for word in set(_BREAK.split(text)) if len(word) > 1 and _MARKED.search(word)}
    codes = {code for word in words for code in _codes_in(word.rstrip(".:!?"))} | {*find_formulas(text)}
    return tuple(sorted(codes)[:MAX_CODES])


def document_codes(doc_id: str | None) -> tuple[str, ...]:
    """Codes that every chunk of a document answers to: its id, and the code a longer id begins with."""
    if doc_id is None or _BREAK.search(doc_id):
        return ()
    prefix = _ID_PREFIX.match(doc_id)
    return tuple(sorted({doc_id, prefix.group()} if prefix else {doc_id}))


@lru_cache(maxsize=8192)
def _codes_in(word: str) -> tuple[str, ...]:
    """Codes of one word; a manual names the same ones on every page."""
    found = (match.group() for pattern in _PATTERNS for match in pattern.finditer(word))
    return tuple(code for code in dict.fromkeys(found) if _tells_something(code))


def _tells_something(code: str) -> bool:
    """Leave out what only looks like a code: `e.g`, `i.e`, a lone slash or dot."""
    return any(len(part) > 1 for part in re.split(r"[./\\]", code)) or any(char.isdigit() for char in code)
