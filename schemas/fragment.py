"""What a parser makes of one document, how it is cleaned first, and what became of its words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from schemas.edges import Edge, EdgeKind, LinkPosition
from schemas.families import VersionFamily
from schemas.ids import LATER
from schemas.nodes import Chunk, Dated, Node, Section, is_document
from schemas.uses import UseTerms

NOTABLE = 0.01
"""Share of the words lost above which a document is named in a run's report."""

LOSS = (
    "more than 1 % of its words are in no chunk, and no reason is known; see what is lost: sitegraph inspect"
)

_TOLD = 8

Explained = Iterable[tuple[str, str]]
"""Texts that a parser left out, each behind its reason; made when somebody asks for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostWord:
    """A word that a reader sees, in no chunk and left out for no reason, between the words around it."""

    word: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCoverage:
    """The account of one document, in words.

    seen == kept + the sum of `dropped` + lost. `dropped` has a count for each reason that the parser gave,
    the most first; `invented` counts words of the chunks that no reader sees. `losses` and `inventions` are
    the first of each, in lower case.
    """

    seen: int
    kept: int
    lost: int
    dropped: tuple[tuple[str, int], ...] = ()
    invented: int = 0
    losses: tuple[LostWord, ...] = ()
    inventions: tuple[str, ...] = ()

    @property
    def lost_share(self) -> float:
        """Share of the words seen that is lost."""
        return self.lost / self.seen if self.seen else 0.0

    @property
    def is_notable(self) -> bool:
        """Whether so much is lost that somebody should look."""
        return self.lost_share > NOTABLE

    @property
    def told_loss(self) -> str:
        """Say in a line how much is lost, and the first words of it."""
        words = " ".join(loss.word for loss in self.losses[:_TOLD])
        first = f", first: {words}" if words else ""
        return f"{self.lost} of {self.seen} words are in no chunk, without a reason{first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCounts:
    """The accounts of many documents, in words; `unknown` are documents without one, `notable` lose much."""

    documents: int = 0
    unknown: int = 0
    seen: int = 0
    kept: int = 0
    lost: int = 0
    invented: int = 0
    notable: int = 0


@dataclass(slots=True)
class UnreadWords:
    """What a parser says that it leaves out; nothing of it is read before somebody asks."""

    told: list[Explained] = field(default_factory=list)

    def add(self, explained: Explained) -> None:
        """Take texts with their reasons, those that are cheap to tell first."""
        self.told.append(explained)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for explained in self.told:
            yield from explained


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A function that is given each page as a `BeautifulSoup`: `name` is `module:function`.

    `path` is the file that holds it, `sha256` that of the file's bytes. `beside`: found beside the source
    file, and read from there; else it is imported as what is installed.
    """

    name: str
    path: str
    sha256: str
    beside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """CSS selectors of what is read of a page, what is not, and its title; and a hook that comes first."""

    select: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    title: str | None = None
    hook: Hook | None = None

    @property
    def version(self) -> tuple[object, ...]:
        """What a page depends on, wherever the hook's file lies."""
        hook = self.hook and (self.hook.name, self.hook.sha256)
        return (self.select, self.remove, self.title, hook)

    def labels(self) -> Iterator[str]:
        """Name each selector as messages do."""
        yield from (label("select", css) for css in self.select)
        yield from (label("remove", css) for css in self.remove)
        if self.title is not None:
            yield label("title", self.title)


def label(key: str, css: str) -> str:
    """Return key and selector as one name: `content.remove '.banner'`."""
    return f"content.{key} {css!r}"


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


FormsBy = Mapping[str, tuple[str, ...]]
"""Addresses of a document in other languages that its site names beside its bytes, by where it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFragment:
    """One document as nodes, inner edges and chunks, with its outgoing links still unresolved.

    `names` are other names of the document that its front matter states.
    Depends on nothing but the bytes, the URI, the source's settings and what its site says beside the bytes
    of its uses and translations: parsed twice, it is equal.
    `content_hash` covers what a reader sees: text, links and tables of the content, without
    navigation, clocks and nonces.
    `noindex` fragments have a document node and no chunks; `nofollow` ones add nothing to the frontier.
    `refresh` is where a meta refresh leads at once. `canonical` is the other address of the same registrable
    domain that the page names as its own: a hint, which only makes an alias, never content. `alternates`
    are its translations (hreflang), documents of their own; `translations` those of them that are in one
    language, and no page to choose it on. `secrets` names the kind of each secret in its bytes; in what
    the fragment says `[redacted]` stands in their place. `kind` is None for a file that describes tools:
    it has Tool nodes, and nothing that is read. `matched` names the selectors of the source's `content`
    that matched the page. `modified` is the date that the document states of itself; the ledger keeps it,
    not the stored fragment, which another date alone does not change. `access` are the groups to which
    its front matter narrows who may see it; none: it says nothing of that. `told_translations` are those that
    its site names beside its bytes, in a sitemap or a header. `coverage` is what became of
    its words, kept by the ledger, too; None: not known.
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
    translations: tuple[str, ...] = field(default=(), metadata=LATER)
    told_translations: tuple[str, ...] = field(default=(), metadata=LATER)

    @property
    def uses(self) -> UseTerms:
        """What its site says that it may be used for, as its document node has it."""
        return next((node.uses for node in self.nodes if is_document(node)), ())

    @property
    def text(self) -> str:
        """What the document says: its chunks; an index has sections and no chunks."""
        told = [chunk.text for chunk in self.chunks]
        return "\n".join(told or (node.text for node in self.nodes if isinstance(node, Section)))


def with_uses(fragment: GraphFragment, uses: UseTerms) -> GraphFragment:
    """Return a parsed document of which its site says something else."""
    nodes = tuple(replace(node, uses=uses) if is_document(node) else node for node in fragment.nodes)
    return replace(fragment, nodes=nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """Everything a parser may know about a document besides its bytes.

    `content_type` is the header as received; the bytes have more to say on the format. `robot` is the name
    under which pages may address us, lower case. `ocr` names the languages, as Tesseract does, in which pages
    of a PDF without a text layer are recognised; none: they are not. `relations` are further keys of front
    matter whose values are ids of documents. `cleaning` says how an HTML page is cleaned before it is parsed.
    `line_fragment`: what leads to a line of a text file, with `{line}`. `language`: BCP 47 tag of a document
    that does not say its own. `family`: how a page says of which version it is. `routed`: its scripts
    ran, so that an address with a path behind `#` is another document.
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
    routed: bool = False
