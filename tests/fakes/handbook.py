"""A small handbook on loopback whose pages can be edited, removed, renamed and led elsewhere."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fakes.site_server import Reply, Site, serve, with_validators

TOPICS = ("Leases", "Ledgers", "Outboxes", "Readers", "Vectors", "Fragments", "Batches", "Tokens", "Guards")


@dataclass(frozen=True, slots=True)
class Article:
    """One page: a title, passages by heading, and (path, text) links in its body."""

    title: str
    passages: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...] = ()

    def with_passage(self, heading: str, text: str) -> "Article":
        """The same with a passage put in, or another text under a heading that is there."""
        kept = {**dict(self.passages), heading: text}
        return replace(self, passages=tuple(kept.items()))


@dataclass(slots=True)
class Handbook:
    """Articles by path, and what is asked of their site. Changes are served at once."""

    site: Site
    articles: dict[str, Article] = field(default_factory=dict)
    footer: str = "Printed for the house"

    def write(self, path: str, article: Article) -> None:
        """Put a page there, or another in its place."""
        self.articles[path] = article
        self._serve(path)

    def edit(self, path: str, heading: str, text: str) -> None:
        """Change what a page says under a heading."""
        self.write(path, self.articles[path].with_passage(heading, text))

    def link(self, path: str, target: str, text: str) -> None:
        """Let a page link to another."""
        article = self.articles[path]
        self.write(path, replace(article, links=(*article.links, (target, text))))

    def unlink(self, path: str, target: str) -> None:
        """Take a page's links to another away."""
        article = self.articles[path]
        kept = tuple(link for link in article.links if link[0] != target)
        self.write(path, replace(article, links=kept))

    def remove(self, path: str, status: int = 404) -> None:
        """Answer 404, or 410, from now on."""
        self.articles.pop(path, None)
        self.site.pages[path] = Reply(b"no such page", status)

    def redirect(self, path: str, target: str) -> None:
        """Lead a page's address to another."""
        self.articles.pop(path, None)
        self.site.pages[path] = Reply(b"", 301, {"Location": self.site.url(target)})

    def set_footer(self, text: str) -> None:
        """Change the footer of every page; what a reader comes for stays."""
        self.footer = text
        for path in self.articles:
            self._serve(path)

    def asked(self) -> list[str]:
        """Paths asked for since the last call, robots.txt and sitemaps left out; then forgets them."""
        paths = [path for path in self.site.paths() if not path.startswith("/sitemap")]
        self.site.log.clear()
        return paths

    def _serve(self, path: str) -> None:
        page = self._html(self.articles[path]).encode()
        self.site.pages[path] = with_validators(page, etag=f'"{hashlib.sha256(page).hexdigest()[:16]}"')

    def _html(self, article: Article) -> str:
        passages = "".join(
            f'<h2 id="{heading.lower().replace(" ", "-")}">{heading}</h2><p>{text}</p>'
            for heading, text in article.passages
        )
        links = "".join(f'<li>See <a href="{path}">{text}</a>.</li>' for path, text in article.links)
        return (
            f"<!doctype html><html lang='en'><head><title>{article.title}</title></head><body>"
            f"<nav><a href='/index.html'>Handbook</a></nav>"
            f"<main><h1>{article.title}</h1>{passages}<h2 id='see-also'>See also</h2><ul>{links}</ul></main>"
            f"<footer>{self.footer}</footer></body></html>"
        )


def topic_article(topic: str, links: Iterable[tuple[str, str]] = ()) -> Article:
    """A page about one topic, with two passages that no other page shares."""
    return Article(
        title=topic,
        passages=(
            (
                f"What {topic} are",
                f"{topic} are kept in the north wing of the house. Whoever needs {topic.lower()} asks the "
                f"keeper of {topic.lower()} first and signs the book on the shelf beside the door.",
            ),
            (
                f"Losing {topic}",
                f"When {topic.lower()} are lost, the night porter rings the bell twice, and a new set of "
                f"{topic.lower()} is drawn from the cellar before the next morning.",
            ),
        ),
        links=tuple(links),
    )


def path_of(topic: str) -> str:
    """Where a topic's page is."""
    return f"/{topic.lower()}.html"


@contextmanager
def serve_handbook(topics: Iterable[str] = TOPICS) -> Iterator[Handbook]:
    """Serve a start page that links to a page for each topic, each of which links to the next."""
    names = tuple(topics)
    with serve(Site()) as site:
        handbook = Handbook(site)
        links = [(path_of(topic), f"all about {topic.lower()}") for topic in names]
        start = Article("Handbook", (("How to read it", "Begin where the bell hangs. Then go on."),))
        handbook.write("/index.html", replace(start, links=tuple(links)))
        for topic, following in zip(names, (*names[1:], names[0]), strict=True):
            link = (path_of(following), f"how {following.lower()} follow")
            handbook.write(path_of(topic), topic_article(topic, [link]))
        yield handbook


def write_source(folder: Path, handbook: Handbook, *, name: str = "handbook", more: str = "") -> Path:
    """Write a source file for a handbook; *more* is YAML that is appended."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(
        f"name: {name}\nkind: web\nseeds: ['{handbook.site.url('/index.html')}']\n"
        f"allow_private: ['{handbook.site.address}']\nrate: {{per_host_delay: 0}}\n"
        + ("" if "recrawl" in more else "recrawl: {gone_after: {misses: 2, hours: 0}}\n")
        + more
    )
    return path
