"""Cut hostile markup down before a parser sees it; one linear scan of the bytes."""

import re

MAX_TAGS = 200_000
MAX_ATTRIBUTES = 1_000
"""Above these libxml2 needs more than 12 s (one tag of 100,000 attributes); no manual page comes near."""

# Possessive throughout: nothing is ever scanned twice, but for one unclosed quote of each kind.
_ATTRIBUTE = rb"""[\s/]*+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_TAG = re.compile(rb"<[A-Za-z][^\s/>]*+(?:%s){0,%d}+[\s/]*+>?" % (_ATTRIBUTE, MAX_ATTRIBUTES))
_REST = re.compile(rb"(?:%s|=)*+[\s/]*+" % _ATTRIBUTE)


def cut_markup(data: bytes) -> tuple[bytes, bool]:
    """Return the bytes with at most MAX_TAGS tags of at most MAX_ATTRIBUTES attributes, and whether any went.

    Tags after the limit go with all that follows them; attributes after the limit go alone.
    """
    kept: list[bytes] = []
    start = 0
    for number, tag in enumerate(_TAG.finditer(data)):
        if number == MAX_TAGS:
            return b"".join((*kept, data[start : tag.start()])), True
        if not tag.group().endswith(b">") and tag.end() < len(data):
            rest = _REST.match(data, tag.end())
            if rest is not None and rest.end() > tag.end():
                kept.append(data[start : tag.end()])
                start = rest.end()
    return b"".join((*kept, data[start:])), bool(kept)
