"""The port of source kinds: where documents come from, which there are, and how their bytes are had."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict

from schemas.fetch import FetchRequest, FetchResult
from schemas.report import Problem
from schemas.source import Source

GROUP = "sitegraph.sources"
"""SourceEntry points under which other packages offer kinds of sources."""

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
"""What a kind may be called; `kind` of a source file says it."""

SHARED_KEYS = ("seeds", "roots", "auth", "login", "javascript", "proxy", "proxy_env", "quarantine")
"""Keys of the source file that several kinds may have and none needs to; the other common keys all have."""


class Keys(BaseModel):
    """The keys of the source file that a kind alone has; each kind derives its own from this one.

    They stand beside the common keys, and may have none of their names. A validator finds the folder of the
    source file, which relative paths begin at, as `info.context["folder"]`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the keys as the source file had them."""
        return cls.model_validate_json(source.kind_keys or "{}", context={"folder": Path("/")})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """A document that is there, and what is claimed about it.

    `lastmod`: when it changed, ISO 8601 in UTC. `content`: a name of its bytes (a blob id, a digest); equal
    names are equal bytes. `ways` name what lists it, where that is not the kind's `origin`. `translations`
    are its forms in other languages, itself among them.
    """

    uri: str
    lastmod: str | None = None
    content: str | None = None
    ways: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceListing:
    """The documents that are there, in any order, and what was left out or could not be read.

    `whole`: every list was read to its end; else what it said before of documents it does not name now stays.
    """

    entries: tuple[SourceEntry, ...]
    problems: tuple[Problem, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What readers cite a document by: an address, a path, or both.

    The address has no fragment; `line` is the fragment that leads to a line of a text there (`L{line}`).
    """

    url: str | None = None
    path: str | None = None
    line: str | None = None


class SourceClock(Protocol):
    """The time; kinds ask no other clock."""

    def now(self) -> datetime:
        """The time in UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContext:
    """What an open source may use of its run.

    `cache` is a folder of its own, which may not be there yet and may be lost between runs. `login`
    takes an address and gives what tells, for a URL of its site, the headers that `auth` of the source file
    names; for any other, none. `session` gives the run's HTTP client
    (`ingest.fetch.client.FetchSession`), with its pace, robots.txt and check of addresses.
    """

    cache: Path
    clock: SourceClock
    user_agent: str
    login: Callable[[str], Callable[[str], Mapping[str, str]]]
    session: Callable[[], Any]


class OpenSource(Protocol):
    """A source while a run reads it. Several threads may call `fetch` at once."""

    def discover(self, *, should_stop: Callable[[], bool]) -> SourceListing:
        """List the documents that are there; called again by a run that goes on with another.

        Raises: GuardRefused: it cannot be told what is there, which must not read as if all were deleted.
        """

    def fetch(
        self,
        requests: Sequence[FetchRequest],
        *,
        on_result: Callable[[FetchResult], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Tell *on_result*, in the caller's thread, what came of each request, each exactly once.

        Where `etag` of a request is that of the result before and the bytes are the same still, the result
        is NOT_MODIFIED, and nothing is read. A document that is not there is GONE; one that cannot be read
        is REFUSED or FAILED, with the reason. Raises: Stopped: *should_stop* said so.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """A kind of source.

    Args: name: `NAME`. keys: its keys of the source file. shared: the `SHARED_KEYS` that it has; of `seeds`
    and `roots`, the one that it has is needed. open: gives the source for the time of a run. by_path: its
    documents are named `files://source/path` (`ingest.urls.file_url`), else by canonical http(s) URLs
    (`ingest.urls.canonical_url`). origin: what names its documents, in one
    word, as `sitegraph why` says it. lists_all: what is not listed is not there. follows_links: links of its
    documents lead to further ones. proves_content: an `etag` names the bytes themselves, so that one that did
    not change is believed at any age. identify: what a document is cited by,
    from its URI and `etag`; None: by its path, or by its URI.
    reaches_out: whether listing this source needs a network; `sitegraph plan` does not list such a one.
    """

    name: str
    keys: type[Keys]
    open: Callable[[Source, SourceContext], AbstractContextManager[OpenSource]]
    origin: str
    by_path: bool = False
    shared: Collection[str] = ()
    lists_all: bool = True
    follows_links: bool = False
    proves_content: bool = False
    identify: Callable[[Source, str, str | None], Identity] | None = None
    reaches_out: Callable[[Source], bool] = lambda _source: False
