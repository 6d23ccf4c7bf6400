"""What one version of a manual says that another does not: documents, sections and words."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from indexes.families import Manual
from ingest.diff.alternate_forms import shingles_of
from retrieval.bundle.render import show_line, wrap_text
from schemas.families import Edition
from schemas.ids import normalise_text
from schemas.nodes import Chunk
from sitegraph.actions.word_difference import Mark, Piece, compare

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


def compare_versions(
    manual: Manual, old: str, new: str, chunks_of: ChunksOf, *, path: str | None = None
) -> VersionDifference:
    """Say which documents come, go, change their name and change what they say.

    *path*: a glob, as the shell's, on the key or the address of a document; others are not looked at.
    """
    before, after = (_of_version(manual, version, path) for version in (old, new))
    both = sorted(before.keys() & after.keys())
    pairs = [
        compare_documents(was, now)
        for was, now in zip(
            read_texts({key: before[key] for key in both}, chunks_of),
            read_texts({key: after[key] for key in both}, chunks_of),
            strict=True,
        )
    ]
    gone = _texts({key: before[key] for key in before if key not in after}, chunks_of)
    came = _texts({key: after[key] for key in after if key not in before}, chunks_of)
    renamed = pair_renamed(*({key: _shingles(text) for key, text in found.items()} for found in (gone, came)))
    named = {key for pair in renamed for key in pair}
    return VersionDifference(
        family=manual.name,
        old=old,
        new=new,
        added=tuple(text.named for key, text in came.items() if key not in named),
        removed=tuple(text.named for key, text in gone.items() if key not in named),
        renamed=tuple(compare_documents(gone[was], came[now]) for was, now in renamed),
        changed=tuple(pair for pair in pairs if pair.sections),
        unchanged=sum(not pair.sections for pair in pairs),
    )


def _of_version(manual: Manual, version: str, path: str | None) -> dict[str, Edition]:
    found = {key: editions_of(joined, version) for key, joined in manual.editions.items()}
    return {
        key: one
        for key, one in found.items()
        if one is not None and (path is None or fnmatchcase(key, path) or fnmatchcase(one.address, path))
    }


def _texts(editions: Mapping[str, Edition], chunks_of: ChunksOf) -> dict[str, DocumentText]:
    return {text.key: text for text in read_texts(editions, chunks_of)}


def _shingles(text: DocumentText) -> frozenset[int]:
    return shingles_of(chunk.text for chunk in text.chunks)


AROUND = 60
"""Characters that are shown of what stands before and behind a change, to whole words."""

_INDENT = "    "


def difference_lines(found: VersionDifference, *, width: int, words: bool = True) -> Iterator[str]:
    """Yield a line on all, then documents that come, go, are renamed and change; these with their sections.

    Without *words* it is documents alone.
    """
    yield _summary(found)
    for what, documents in (("added", found.added), ("removed", found.removed)):
        if documents:
            yield ""
            yield from (f"{what}  {_named(one)}" for one in documents)
    for pair in found.renamed:
        yield ""
        yield show_line(f"renamed  {_called(pair.old)} > {_named(pair.new)}")
        yield from _section_lines(pair, width) if words else ()
    for pair in found.changed:
        if words:
            yield ""
        yield f"changed  {_named(pair.new)}{'' if words else _counted(pair)}"
        yield from _section_lines(pair, width) if words else ()


def _summary(found: VersionDifference) -> str:
    counts = {
        "added": len(found.added),
        "removed": len(found.removed),
        "renamed": len(found.renamed),
        "changed": len(found.changed),
        "unchanged": found.unchanged,
    }
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    return show_line(f"{found.family} {found.old} > {found.new}: documents {told}")


def _named(one: ManualDocument) -> str:
    return show_line(f"{_called(one)}  {one.title}")


def _called(one: ManualDocument) -> str:
    """What is left of the address without the version; the address, where that would read as another."""
    return one.address if "://" in one.key else one.key


def _counted(pair: DocumentPair) -> str:
    number = len(pair.sections)
    return f"  ({number} section{'' if number == 1 else 's'})"


def _section_lines(pair: DocumentPair, width: int) -> Iterator[str]:
    for one in pair.sections:
        yield show_line(f"  {_headed(one, pair)}")
        if one.pieces:
            yield wrap_text(_marked(one.pieces), width=width, indent=_INDENT)


def _headed(one: ComparedSection, pair: DocumentPair) -> str:
    path = _trail(one.heading_path, pair.new.title)
    if one.change is SectionChange.CHANGED:
        return path
    was = f", before: {_trail(one.old_path, pair.old.title)}" if one.old_path else ""
    return f"{path} ({one.change}{was})"


def _trail(path: tuple[str, ...], title: str) -> str:
    """Headings below that of the document; its own stands on the line above."""
    below = path[1:] if len(path) > 1 and path[0] == title else path
    return " > ".join(below) or "(without a heading)"


def _marked(pieces: tuple[Piece, ...]) -> str:
    last = len(pieces) - 1
    told = []
    for place, piece in enumerate(pieces):
        if piece.mark is Mark.SAME:
            told.append(_shortened(piece.text, begins=place == 0, ends=place == last))
        else:
            text, space = piece.text.rstrip(), piece.text[len(piece.text.rstrip()) :]
            told.append((f"[-{text}-]" if piece.mark is Mark.REMOVED else f"{{+{text}+}}") + space)
    return "".join(told)


def _shortened(text: str, *, begins: bool, ends: bool) -> str:
    """Leave out the middle of what is the same; of what stands before all changes, the beginning."""
    if len(text) <= 2 * AROUND + 10:
        return text
    head = text[:AROUND].rsplit(" ", 1)[0]
    tail = text[-AROUND:].split(" ", 1)[-1]
    return f"{'' if begins else head} … {'' if ends else tail}"
