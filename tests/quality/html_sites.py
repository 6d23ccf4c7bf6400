"""Real documentation sites in HTML, parsed as the flow parses them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ingest.parse.document import parse_document
from schemas.fragment import GraphFragment, ParseRequest
from schemas.nodes import Section
from tests.fakes.pages import count_words
from tests.fakes.real_sites import unpack
from tests.quality.html_gold import AROUND, TEXINFO_BARS, GoldPage, read_gold

HOST = "http://docs.example/"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a site lies in the data folder: archive, version, folder of its pages."""

    archive: str
    version: str
    folder: str
    around: frozenset[str] = AROUND


SOURCES: Mapping[str, Source] = {
    "postgresql": Source(
        "sites/postgresql.tar.xz", "15.20-0+deb12u1", "usr/share/doc/postgresql-doc-15/html"
    ),
    "git": Source("sites/git.tar.xz", "2.47.3-0+deb13u1", "usr/share/doc/git-doc"),
    "debian-policy": Source("twins/debian-policy.tar.xz", "4.7.2.0", "usr/share/doc/debian-policy"),
    "developers-reference": Source(
        "twins/developers-reference.tar.xz", "13.20", "usr/share/developers-reference"
    ),
    "debian-faq": Source("twins/debian-faq.tar.xz", "12.2", "usr/share/doc/debian/FAQ"),
    "bash": Source("twins/bash.tar.xz", "5.2.15-2", "usr/share/doc/bash", AROUND | TEXINFO_BARS),
    "reportlab": Source("twins/reportlab.tar.xz", "4.3.1-1", "usr/share/doc/python-reportlab-doc/html"),
    "flask-3.1": Source("sites/flask.tar.xz", "3.1.1-1+deb13u1", "usr/share/doc/python-flask-doc/html"),
    "flask-2.2": Source("sites/flask.tar.xz", "2.2.2-3", "usr/share/doc/python-flask-doc/html"),
    "requests-2.32": Source(
        "sites/requests.tar.xz", "2.32.3+dfsg-5+deb13u1", "usr/share/doc/python-requests-doc/html"
    ),
    "requests-2.28": Source(
        "sites/requests.tar.xz", "2.28.1+dfsg-1", "usr/share/doc/python-requests-doc/html"
    ),
}


class Site:
    """One version of a site, unpacked; pages are parsed when first asked for."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source = source
        unpack(source.archive, source.version, folder)
        self.folder = folder / source.version / source.folder

    @cached_property
    def pages(self) -> Mapping[str, bytes]:
        """Bytes of every page by its path below the folder, in order."""
        found = sorted(path for path in self.folder.rglob("*.html") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    @cached_property
    def fragments(self) -> Mapping[str, GraphFragment]:
        """What our parser makes of each page, tokens counted as words."""
        return {name: parse(data, HOST + name) for name, data in self.pages.items()}

    def gold(self) -> Iterator[tuple[str, GraphFragment, GoldPage]]:
        """Each page that may be indexed, as our parser and as the second one sees it."""
        for name, fragment in self.fragments.items():
            if not fragment.noindex:
                yield name, fragment, read_gold(self.pages[name], around=self._source.around)


def parse(data: bytes, uri: str) -> GraphFragment:
    """Parse one page that came from *uri*."""
    request = ParseRequest(uri=uri, url=uri, source="quality", content_type="text/html")
    return parse_document(data, request, count_tokens=count_words)


def headed(fragment: GraphFragment) -> list[Section]:
    """The sections that have a heading, in order."""
    return [node for node in fragment.nodes if isinstance(node, Section) and node.heading]
