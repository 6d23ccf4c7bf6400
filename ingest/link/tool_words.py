"""Which documents tools that come, go or change can matter to."""

import re
from collections.abc import Iterable

from ingest.link.tool_names import last_part, parent_of
from schemas.nodes import Chunk, Tool

_WORD = re.compile(r"[^\W_]+")
_VARIABLE = re.compile(r"\{[^}/]*\}|<[^>/]*>|:\w+")


def documents_naming(tools: Iterable[Tool], chunks: Iterable[Chunk]) -> frozenset[str]:
    """Return the documents with a chunk that has all words of a name of one of the tools.

    No chunk without them can be evidence, whatever stands around it; that one with them is, is not said.
    """
    keys = _keys(tools)
    return frozenset(chunk.doc for chunk in chunks if _names_one(chunk, keys))


def _keys(tools: Iterable[Tool]) -> dict[str, list[frozenset[str]]]:
    """Words of each name, under the longest of them."""
    keys: dict[str, list[frozenset[str]]] = {}
    for words in {key for tool in tools for key in _words_of(tool)}:
        keys.setdefault(max(sorted(words), key=len, default=""), []).append(words)
    return keys


def _words_of(tool: Tool) -> Iterable[frozenset[str]]:
    """A qualified name may stand without its qualifiers, and tells that its class is one, which ends another.

    An endpoint has parts that stand for any word.
    """
    names = [tool.name, *tool.aliases]
    names += [parent for name in names if (parent := parent_of(name))]
    yield from (_words(last_part(name)) for name in names)
    yield from (_words(_VARIABLE.sub(" ", endpoint)) for endpoint in tool.endpoints)


def _names_one(chunk: Chunk, keys: dict[str, list[frozenset[str]]]) -> bool:
    words = _words(" ".join((chunk.text, *chunk.heading_path, chunk.fragment or "", *chunk.fragments)))
    return any(key <= words for word in (*words, "") for key in keys.get(word, ()))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
