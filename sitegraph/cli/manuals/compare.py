"""What one version of a manual says that another does not: documents, their sections, and words."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from schemas.families import Edition
from schemas.ids import normalise_text
from schemas.nodes import Chunk
from sitegraph.service.viewer.diff import Piece, compare

ChunksOf = Callable[[Collection[str]], Sequence[Chunk]]
"""Documents to their chunks, ordered by (doc, ordinal, id)."""

AT_ONCE = 100
"""Documents read at once."""

ALIKE = 0.5
"""Share of the longer text's shingles from which a document that comes is one that goes under another name.
Source: git-diff(1), `--find-renames`, whose threshold this is."""


class SectionChange(StrEnum):
    """What became of a section; one is renamed whose text stands under another heading."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSection:
    """A section that is not the same in both versions; `old_path` is its heading path before, if another.

    `pieces` are its text, with what came and what went; none for one that is only renamed.
    """

    change: SectionChange
    heading_path: tuple[str, ...]
    old_path: tuple[str, ...] | None = None
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualDocument:
    """A document of one version: the key that its versions share, where it stands, what it is called."""

    key: str
    address: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPair:
    """A document in both versions, and the sections that differ."""

    old: ManualDocument
    new: ManualDocument
    sections: tuple[ComparedSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference:
    """What changed in a manual from the version `old` to `new`; documents in the order of their keys."""

    family: str
    old: str
    new: str
    added: tuple[ManualDocument, ...] = ()
    removed: tuple[ManualDocument, ...] = ()
    renamed: tuple[DocumentPair, ...] = ()
    changed: tuple[DocumentPair, ...] = ()
    unchanged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document with its chunks in reading order."""

    key: str
    edition: Edition
    chunks: tuple[Chunk, ...]

    @property
    def named(self) -> ManualDocument:
        """The document as a person is told of it."""
        trail = self.chunks[0].heading_path or self.chunks[0].breadcrumbs if self.chunks else ()
        return ManualDocument(
            key=self.key, address=self.edition.address, title=trail[0] if trail else self.key
        )


def read_texts(editions: Mapping[str, Edition], chunks_of: ChunksOf) -> Iterator[DocumentText]:
    """Read documents by key, in key order, some at a time."""
    keys = sorted(editions)
    for at in range(0, len(keys), AT_ONCE):
        part = keys[at : at + AT_ONCE]
        by_doc: dict[str, list[Chunk]] = {}
        for chunk in chunks_of([editions[key].doc for key in part]):
            by_doc.setdefault(chunk.doc, []).append(chunk)
        for key in part:
            edition = editions[key]
            yield DocumentText(key=key, edition=edition, chunks=tuple(by_doc.get(edition.doc, ())))


def compare_documents(old: DocumentText, new: DocumentText) -> DocumentPair:
    """Compare two documents section by section, in the order of the new one; what went comes last.

    Sections are the same by their headings, in which the number of the version does not count.
    """
    before, after = _sections(old), _sections(new)
    found = [
        ComparedSection(
            change=SectionChange.CHANGED,
            heading_path=path,
            old_path=None if path == was else was,
            pieces=compare(said, text),
        )
        for key, (path, text) in after.items()
        if key in before
        for was, said in (before[key],)
        if normalise_text(said) != normalise_text(text)
    ]
    gone = {key: before[key] for key in before if key not in after}
    for key, (path, text) in after.items():
        if key not in before:
            found.append(_came(path, text, gone))
    found += [
        ComparedSection(change=SectionChange.REMOVED, heading_path=path, pieces=compare(text, ""))
        for path, text in gone.values()
    ]
    order = {path: place for place, (path, _) in enumerate(after.values())}
    found.sort(key=lambda one: order.get(one.heading_path, len(order)))
    return DocumentPair(old=old.named, new=new.named, sections=tuple(found))


Sections = dict[tuple[str, ...], tuple[tuple[str, ...], str]]


def _sections(text: DocumentText) -> Sections:
    """Heading path without the version > the path, and what stands under it."""
    said: dict[tuple[str, ...], list[str]] = {}
    for chunk in text.chunks:
        said.setdefault(chunk.heading_path, []).append(chunk.text)
    version = text.edition.version
    found: Sections = {}
    for path, texts in said.items():
        key = tuple(heading.replace(version, "") for heading in path)
        found[path if key in found else key] = path, "\n".join(texts)
    return found


def _came(path: tuple[str, ...], text: str, gone: Sections) -> ComparedSection:
    """A section that is new; one that says what another said that is gone is that one, and leaves *gone*."""
    folded = normalise_text(text)
    same = next((key for key, (_, said) in gone.items() if normalise_text(said) == folded), None)
    if same is None:
        return ComparedSection(change=SectionChange.ADDED, heading_path=path, pieces=compare("", text))
    was, _ = gone.pop(same)
    return ComparedSection(change=SectionChange.RENAMED, heading_path=path, old_path=was)


def pair_renamed(
    gone: Mapping[str, frozenset[int]], came: Mapping[str, frozenset[int]]
) -> tuple[tuple[str, str], ...]:
    """Pair documents that go with such that come, by their shingles: the most alike first, each once."""
    likeness = [
        (len(mine & theirs) / max(len(mine), len(theirs)), old, new)
        for old, mine in gone.items()
        for new, theirs in came.items()
        if mine and theirs
    ]
    pairs: dict[str, str] = {}
    for share, old, new in sorted(likeness, key=lambda one: (-one[0], one[1], one[2])):
        if share >= ALIKE and old not in pairs and new not in pairs.values():
            pairs[old] = new
    return tuple(sorted(pairs.items()))


def editions_of(editions: Iterable[Edition], version: str) -> Edition | None:
    """Return the document of a version among those that are joined; of several the first."""
    return next((one for one in editions if one.version == version), None)
