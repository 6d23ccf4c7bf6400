"""A source as the rest of the code sees it; runtime/source_file.py reads it from YAML."""

from dataclasses import dataclass, field
from enum import StrEnum

from schemas.access import SourceAccess
from schemas.families import VersionFamily
from schemas.fragment import Cleaning, Hook
from schemas.ids import LATER


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which documents belong; globs match the canonical URL, or the path under the root.

    The budgets are for web sources: documents of the source and of one host (None: as many as the source
    may have), links from a seed (None: no bound but that on numbered addresses), and distinct queries of
    one path (crawl rules, section 7).
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_pages: int = 100_000
    max_pages_per_host: int | None = None
    max_depth: int | None = None
    max_queries_per_path: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Politeness: seconds between requests to a host, and connections to one host."""

    per_host_delay: float = 1.0
    concurrency: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneAfter:
    """How many misses, at least how many hours apart, make a 404 a deletion."""

    misses: int = 2
    hours: float = 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recrawl:
    """Recrawl intervals in seconds."""

    min_interval: float = 3600.0
    max_interval: float = 30 * 86400.0
    max_age: float = 30 * 86400.0
    gone_after: GoneAfter = GoneAfter()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxFailures:
    """How many documents may fail before a run is refused: a part of the source, and a number if set."""

    share: float = 0.25
    documents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Which pages are never put aside (globs of URLs), and how many that change to one text at once are."""

    exempt: tuple[str, ...] = ()
    same_text: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMetadata:
    """What every document of the source is, unless its front matter says otherwise."""

    doc_type: str | None = None
    domain: str | None = None
    status: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimits:
    """The largest documents that are read, in MB of 10^6 bytes; None: the usual.

    The keys are those of `schemas.formats.SizeClass`: text, HTML too; PDF; files of other formats.
    """

    page_mb: int | None = None
    pdf_mb: int | None = None
    file_mb: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentSelectors:
    """CSS selectors of what is read of HTML pages, what is not, and their titles."""

    select: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """Where a login stands: names of environment variables, never what they contain.

    `headers_env` are pairs of header and variable.
    """

    bearer_env: str | None = None
    headers_env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedOut:
    """What shows that nobody is logged in, any of it: an element (CSS), where a page leads (glob), a text."""

    selector: str | None = None
    address: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRecipe:
    """How a session is had: one of two files, or a command that prints headers; never what they hold.

    `seconds` of the command. `session_cookie` names the cookie whose end is that of the session, of which
    people are warned `warn_before` seconds ahead.
    """

    cookies: str | None = None
    storage_state: str | None = None
    command: tuple[str, ...] = ()
    seconds: float = 60.0
    session_cookie: str | None = None
    warn_before: float = 3 * 86400.0
    logged_out: LoggedOut = LoggedOut()


class ToolFormat(StrEnum):
    """How a file describes tools."""

    TOOLS = "tools"
    OPENAPI = "openapi"
    MCP = "mcp"
    HELP = "help"
    INVENTORY = "inventory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """A file that describes tools, by its path under the source file's folder.

    No format: what the file says tells it.
    """

    path: str
    tool_format: ToolFormat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When runs begin: one of `cron`, `every` (seconds) and `rrule` (RFC 5545), in an IANA time zone.

    `due`: such a run checks only documents whose time has come. Not `active`: kept, and never fires.
    `jitter`: within how many seconds its source's name tells when it begins; None: an interval within itself,
    others as they say.
    """

    cron: str | None = None
    every: float | None = None
    rrule: str | None = None
    timezone: str = "UTC"
    due: bool = False
    active: bool = True
    jitter: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How old what readers see may become.

    `slo`: seconds since the last run that ended well; None: not promised. Without it, the alarm is raised
    once `missed_runs` runs of the schedule did not end well.
    """

    slo: float | None = None
    missed_runs: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessOptions:
    """How far the share of named pages that is indexed may fall between two runs without an event."""

    max_fall: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentOptions:
    """Where Prefect runs the source: work pool and queue (None: as `sitegraph deploy` says), further tags.

    `job_variables`: what the work pool is told of its runs, as a JSON object; "" for nothing.
    """

    pool: str | None = None
    queue: str | None = None
    tags: tuple[str, ...] = ()
    job_variables: str = field(default="", metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintIgnore:
    """Findings that are not told: of `rule`, or "*", on pages whose path or URL the glob `path` matches."""

    rule: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What `sitegraph lint` leaves out of a source: rules, and rules on some pages."""

    disable: tuple[str, ...] = ()
    ignore: tuple[LintIgnore, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A named set of documents.

    `kind` is a name that `ingest.sources.registry` knows; `kind_keys` is what the keys say that this kind has
    alone, as canonical JSON. `seeds` are of the web, `roots` of the file system.
    `allow_private` contains exact `host:port` entries that may lie in private address ranges. `javascript`:
    pages are made by their scripts. `keep_raw`: the bytes of documents that contain secrets are kept as well.
    `relations`: keys of front matter that name other documents, besides those that are always read.
    `proxy`: URL of the proxy for all requests, empty for none; `proxy_env`: variable that has one; neither:
    as HTTP_PROXY and its like say. `ocr`: languages, as Tesseract names them, of pages of PDFs without a text
    layer; none: they are not read. `language`: BCP 47 tag of documents that do not say theirs. `clean`
    changes HTML pages before `content` chooses from them. `schedule`, `freshness`, `completeness` and
    `deployment` say nothing of the documents: `sitegraph deploy`, `sitegraph status` and events read them.
    `checks` is the path of a file of questions that are asked before publishing (docs/checks.md). `family`:
    what the documents are versions of. `access` says who may see documents. `auth` are headers with secrets,
    `login` a session.
    """

    name: str
    kind: str
    kind_keys: str = ""
    seeds: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    scope: Scope = Scope()
    allow_private: tuple[str, ...] = ()
    auth: Auth = Auth()
    proxy: str | None = None
    proxy_env: str | None = None
    limits: SizeLimits = SizeLimits()
    javascript: bool = False
    keep_raw: bool = False
    ocr: tuple[str, ...] = ()
    language: str | None = None
    content: ContentSelectors = ContentSelectors()
    clean: Hook | None = None
    rate: Rate = Rate()
    recrawl: Recrawl = Recrawl()
    max_failures: MaxFailures = MaxFailures()
    quarantine: Quarantine = Quarantine()
    metadata: SourceMetadata = SourceMetadata()
    relations: tuple[str, ...] = ()
    user_agent: str | None = None
    tools: tuple[ToolFile, ...] = ()
    schedule: tuple[Schedule, ...] = field(default=(), metadata=LATER)
    freshness: Freshness = field(default=Freshness(), metadata=LATER)
    completeness: CompletenessOptions = field(default=CompletenessOptions(), metadata=LATER)
    deployment: DeploymentOptions = field(default=DeploymentOptions(), metadata=LATER)
    checks: str | None = field(default=None, metadata=LATER)
    lint: LintOptions = field(default=LintOptions(), metadata=LATER)
    family: VersionFamily | None = field(default=None, metadata=LATER)
    access: SourceAccess = field(default=SourceAccess(), metadata=LATER)
    login: LoginRecipe = field(default=LoginRecipe(), metadata=LATER)

    @property
    def cleaning(self) -> Cleaning | None:
        """How HTML pages are cleaned; None where they are taken as they come."""
        if self.content == ContentSelectors() and self.clean is None:
            return None
        content = self.content
        return Cleaning(select=content.select, remove=content.remove, title=content.title, hook=self.clean)
