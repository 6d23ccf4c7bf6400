"""What a parser makes of one document, before anything is known about the others."""

from dataclasses import dataclass, field

from schemas.cleaning import Cleaning
from schemas.dates import Dated
from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.families import VersionFamily
from schemas.later_fields import LATER
from schemas.nodes import Chunk, Node, Section
from schemas.word_coverage import WordCoverage


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlace:
    """Where a link stands: `offset` code points into the text of `chunk`.

    None where its words are not in that text: in the heading over it, or in a picture.
    """

    chunk: str
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A hyperlink as found; `target` is a canonical URI without fragment.

    `places` are those in chunks, in reading order; a link outside of the content has none.
    """

    target: str
    text: str
    position: LinkPosition
    fragment: str | None = None
    count: int = 1
    places: tuple[LinkPlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A typed relation stated in front matter; `target` is a document id as written (`GOV-0017`).

    One of a key that only the source file names is a `relates_to` with that key as its `predicate`.
    """

    kind: EdgeKind
    target: str
    predicate: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFragment:
    """One document as nodes, inner edges and chunks, with its outgoing links still unresolved.

    `names` are other names of the document that its front matter states.
    Depends on nothing but the bytes, the URI and the source's settings: parsed twice, it is equal.
    `content_hash` covers what a reader sees: text, links and tables of the content, without
    navigation, clocks and nonces.
    `noindex` fragments have a document node and no chunks; `nofollow` ones add nothing to the frontier.
    `refresh` is where a meta refresh leads at once. `canonical` is the other address of the same registrable
    domain that the page names as its own: a hint, which only makes an alias, never content. `alternates`
    are its translations (hreflang), documents of their own. `secrets` names the kind of each secret in its
    bytes; in what the fragment says `[redacted]` stands in their place. `kind` is None for a file that
    describes tools: it has Tool nodes, and nothing that is read. `matched` names the selectors of the
    source's `content` that matched the page. `modified` is the date that the document states of itself; the
    ledger keeps it, not the stored fragment, which another date alone does not change. `access` are the
    groups to which its front matter narrows who may see it; none: it says nothing of that. `coverage` is what
    became of its words, kept by the ledger, too; None: not known.
    """

    uri: str
    doc: str
    kind: str | None
    content_hash: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()
    references: tuple[Reference, ...] = ()
    doc_id: str | None = None
    title: str = ""
    names: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    refresh: str | None = None
    canonical: str | None = None
    alternates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    modified: Dated | None = None
    access: tuple[str, ...] = field(default=(), metadata=LATER)
    coverage: WordCoverage | None = field(default=None, metadata=LATER)

    @property
    def text(self) -> str:
        """What the document says: its chunks; an index has sections and no chunks."""
        told = [chunk.text for chunk in self.chunks]
        return "\n".join(told or (node.text for node in self.nodes if isinstance(node, Section)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """Everything a parser may know about a document besides its bytes.

    `content_type` is the header as received; the bytes have more to say on the format. `robot` is the name
    under which pages may address us, lower case. `ocr` names the languages, as Tesseract does, in which pages
    of a PDF without a text layer are recognised; none: they are not. `relations` are further keys of front
    matter whose values are ids of documents. `cleaning` says how an HTML page is cleaned before it is parsed.
    `line_fragment`: what leads to a line of a text file, with `{line}`. `language`: BCP 47 tag of a document
    that does not say its own. `family`: how a page says of which version it is.
    """

    uri: str
    source: str
    url: str | None = None
    path: str | None = None
    content_type: str | None = None
    x_robots_tag: str | None = None
    robot: str = "sitegraph"
    ocr: tuple[str, ...] = ()
    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None
    relations: tuple[str, ...] = ()
    cleaning: Cleaning | None = None
    line_fragment: str | None = None
    language: str | None = None
    family: VersionFamily | None = None
