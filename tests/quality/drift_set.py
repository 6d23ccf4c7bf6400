"""Bad versions of real pages, and honest ones: notices in their place, damage done to them, later releases.

Each half has its own notices and its own kinds of damage. The rule was tuned on one half; the other was
written before it, too, and looked at when it was done.
"""

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from lxml import html

from schemas.fragment import GraphFragment
from schemas.ids import sha256_hex
from tests.fakes.real_sites import unpack
from tests.quality import html_sites
from tests.quality.html_sites import HOST

NOTICES = Path(__file__).with_name("drift")
WORDS = ((60, 150), (60, 100_000))
"""Words of the pages that each bad version is put in the place of: of so many sites a short one and any."""

SITES_EACH = 3


@dataclass(frozen=True, slots=True)
class Release:
    """One version of a manual in the data folder."""

    archive: str
    version: str
    folder: str


def _releases(archive: str, folder: str, *versions: str) -> tuple[Release, ...]:
    return tuple(Release(archive, version, folder) for version in versions)


_POSTGRESQL = "usr/share/doc/postgresql-doc-{}/html"
HISTORIES: Mapping[str, tuple[Release, ...]] = {
    "postgresql": tuple(
        Release("sites/postgresql.tar.xz", version, _POSTGRESQL.format(version[:2]))
        for version in ("15.18-0+deb12u1", "15.20-0+deb12u1", "17.11-0+deb13u1")
    ),
    "git": _releases(
        "sites/git.tar.xz",
        "usr/share/doc/git-doc",
        "2.30.2-1+deb11u2",
        "2.39.5-0+deb12u2",
        "2.39.5-0+deb12u3",
        "2.47.3-0+deb13u1",
    ),
    "flask": _releases(
        "sites/flask.tar.xz", "usr/share/doc/python-flask-doc/html", "2.2.2-3", "3.1.1-1+deb13u1"
    ),
    "requests": _releases(
        "sites/requests.tar.xz",
        "usr/share/doc/python-requests-doc/html",
        "2.28.1+dfsg-1",
        "2.32.3+dfsg-5+deb13u1",
    ),
    "debian-policy": _releases(
        "twins/debian-policy.tar.xz", "usr/share/doc/debian-policy", "4.6.2.0", "4.7.2.0"
    ),
    "developers-reference": _releases(
        "twins/developers-reference.tar.xz", "usr/share/developers-reference", "12.18", "13.20"
    ),
    "debian-faq": _releases("twins/debian-faq.tar.xz", "usr/share/doc/debian/FAQ", "11.1", "12.2"),
}


parse = cache(html_sites.parse)
"""Each page is looked at many times."""


@cache
def release_pages(release: Release, folder: Path) -> Mapping[str, bytes]:
    """Bytes of every page of a release by its path, in order."""
    unpack(release.archive, release.version, folder)
    root = folder / release.version / release.folder
    found = sorted(path for path in root.rglob("*.html") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


@dataclass(frozen=True, slots=True)
class Change:
    """A page before and after, and what stands for the page in a report."""

    name: str
    before: GraphFragment
    now: GraphFragment
    data: bytes


def honest_changes(folder: Path, *, sites: Collection[str] = HISTORIES) -> Iterator[Change]:
    """Each page that differs between one release and the next, and between the first and the last."""
    for site in sites:
        releases = HISTORIES[site]
        pairs = [*pairwise(releases)]
        pairs += [(releases[0], releases[-1])] if len(releases) > 2 else []
        for old, new in pairs:
            was, now = release_pages(old, folder), release_pages(new, folder)
            for path in sorted(was.keys() & now.keys()):
                if was[path] != now[path]:
                    one, other = parse(was[path], HOST + path), parse(now[path], HOST + path)
                    if one.content_hash != other.content_hash:
                        name = f"{site} {old.version} to {new.version} {path}"
                        yield Change(name, one, other, now[path])


@dataclass(frozen=True, slots=True)
class Original:
    """A real page that something bad is put in the place of, and the pages of its site and of another."""

    site: str
    path: str
    pages: Mapping[str, bytes]
    foreign: Mapping[str, bytes]

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.pages[self.path]


Damage = Callable[[Original], bytes]


def bad_changes(half: str, folder: Path) -> Iterator[Change]:
    """Every notice and damage of one half, in the place of some real pages each."""
    made: dict[str, Damage] = {}
    for number, notice in enumerate(json.loads((NOTICES / f"{half}.json").read_text())):
        made[f"{notice['kind']}-{notice['lang']}-{number}"] = _notice(notice)
    made |= DAMAGES[half]
    for name, damage in made.items():
        for original in _originals(f"{half} {name}", folder):
            change = _change(name, original, damage(original))
            if change.before.content_hash != change.now.content_hash:
                yield change


def edited_changes(folder: Path) -> Iterator[Change]:
    """Edits that people make to whole pages, made to real ones: none of them ends what a page is about."""
    for name, edit in EDITS.items():
        for seed in range(4):
            for original in _originals(f"{name} {seed}", folder):
                change = _change(name, original, edit(original))
                if name == "filled":
                    change = replace(change, before=change.now, now=change.before, data=original.data)
                yield change


def _change(name: str, original: Original, data: bytes) -> Change:
    uri = HOST + original.path
    told = f"{name}: {original.site} {original.path}"
    return Change(told, parse(original.data, uri), parse(data, uri), data)


def _originals(seed: str, folder: Path) -> Iterator[Original]:
    """Pages of the first releases, a site each, chosen by a hash."""
    sites = sorted(HISTORIES, key=lambda site: sha256_hex(f"{seed} {site}"))
    for site, foreign in [*pairwise(sites)][:SITES_EACH]:
        pages = release_pages(HISTORIES[site][0], folder)
        others = release_pages(HISTORIES[foreign][0], folder)
        for fewest, most in WORDS:
            for path in sorted(pages, key=lambda path: sha256_hex(f"{seed} {most} {path}")):
                fragment = parse(pages[path], HOST + path)
                if fewest <= len(fragment.text.split()) <= most and not fragment.noindex:
                    yield Original(site, path, pages, others)
                    break


_MAIN = (
    "//*[@role='main']",
    "//div[@class='body']",
    "//main",
    "//div[@id='content']",
    "//body/div[contains('sect1 sect2 chapter refentry part preface appendix book index', @class)]",
    "//body",
)


def _main(tree: html.HtmlElement) -> html.HtmlElement:
    return next((found[0] for where in _MAIN if (found := tree.xpath(where))), tree)


def _notice(notice: Mapping[str, str]) -> Damage:
    """A notice within the frame of the page that it replaces, or with nothing around it."""

    def put(original: Original) -> bytes:
        said = html.fromstring("<div><h1></h1><p></p></div>")
        said[0].text, said[1].text = notice["heading"], notice["text"]
        if not notice["heading"]:
            said.remove(said[0])
        tree = html.fromstring(original.data)
        if notice["frame"] == "bare":
            tree = html.fromstring("<html><head><title></title></head><body></body></html>")
            tree.find("body").append(said)
        else:
            _fill(_main(tree), said)
        for title in tree.iter("title"):
            title.text = notice["title"]
        return _written(tree)

    return put


def _fill(main: html.HtmlElement, content: html.HtmlElement) -> None:
    for child in list(main):
        main.remove(child)
    main.text = None
    main.append(content)


def _written(tree: html.HtmlElement) -> bytes:
    written: bytes = html.tostring(tree, encoding="utf-8", doctype="<!doctype html>")
    return written


def _retold(tell: Callable[[str], str]) -> Damage:
    """Every text of the content told in another way."""

    def damage(original: Original) -> bytes:
        tree = html.fromstring(original.data)
        for element in _main(tree).iter():
            if isinstance(element.tag, str) and element.text:
                element.text = _clean(tell(element.text))
            if element.tail:
                element.tail = _clean(tell(element.tail))
        return _written(tree)

    return damage


def _clean(text: str) -> str:
    return "".join(letter if letter >= " " or letter in "\n\t" else "�" for letter in text)


_BLOCKS = ("p", "li", "dd", "dt", "pre", "table", "h1", "h2", "h3", "h4")


def _cut(keep: Callable[[int, int], bool], closing: str) -> Damage:
    """Only some blocks of the content are left, with a closing sentence."""

    def damage(original: Original) -> bytes:
        tree = html.fromstring(original.data)
        main = _main(tree)
        blocks = list(main.iter(*_BLOCKS))
        for place, block in enumerate(blocks):
            if not keep(place, len(blocks)) and block.getparent() is not None:
                block.drop_tree()
        last = html.fromstring("<p></p>")
        last.text = closing
        main.append(last)
        return _written(tree)

    return damage


def _neighbour(original: Original) -> bytes:
    paths = sorted(original.pages)
    return original.pages[paths[(paths.index(original.path) + 1) % len(paths)]]


def _any(pages: Mapping[str, bytes], seed: str) -> bytes:
    return pages[min(pages, key=lambda path: sha256_hex(f"{seed} {path}"))]


def _start(original: Original) -> bytes:
    return original.pages["index.html"] if "index.html" in original.pages else _any(original.pages, "start")


def _in_frame(original: Original) -> bytes:
    tree = html.fromstring(original.data)
    _fill(_main(tree), _main(html.fromstring(_any(original.foreign, original.path))))
    return _written(tree)


def _found_list(original: Original) -> bytes:
    tree = html.fromstring(original.data)
    paths = sorted(original.pages, key=lambda path: sha256_hex(f"found {original.path} {path}"))[:20]
    listed = "".join(f"<li><a href='/{path}'>{path.removesuffix('.html')}</a></li>" for path in paths)
    _fill(_main(tree), html.fromstring(f"<div><h1>Results 1 to 20</h1><ul>{listed}</ul></div>"))
    return _written(tree)


def _shifted(by: int) -> Callable[[str], str]:
    def tell(text: str) -> str:
        return "".join(
            chr((ord(one.lower()) - 97 + by) % 26 + 97) if one.isascii() and one.isalpha() else one
            for one in text
        )

    return tell


def _every(number: int, tell: Callable[[str], str]) -> Callable[[str], str]:
    """Told in another way, of a text every so manieth line or word."""

    def told(text: str) -> str:
        words = text.split(" ")
        return " ".join(tell(word) if place % number == 0 else word for place, word in enumerate(words))

    return told


def _shuffled(text: str) -> str:
    """As two columns that are read line by line."""
    words = text.split()
    middle = (len(words) + 1) // 2
    mixed = [word for pair in zip(words[:middle], [*words[middle:], ""], strict=False) for word in pair]
    return " ".join(word for word in mixed if word)


def _read_as(wrote: str, read: str) -> Callable[[str], str]:
    return lambda text: text.encode(wrote, "replace").decode(read, "replace") if text.strip() else text


def _boxes(text: str) -> str:
    return "".join("□" if number % 5 < 3 and not one.isspace() else one for number, one in enumerate(text))


DAMAGES: Mapping[str, Mapping[str, Damage]] = {
    "development": {
        "preview-12": _cut(
            lambda place, of: place < 0.12 * of, "Sign up with your work address to see the rest."
        ),
        "preview-30": _cut(lambda place, of: place < 0.30 * of, "The remainder is part of the paid edition."),
        "shift-3": _retold(_shifted(3)),
        "letters-apart": _retold(" ".join),
        "vowels-lost": _retold(lambda text: "".join(one for one in text if one.lower() not in "aeiou")),
        "spaces-lost": _retold(lambda text: text.replace(" ", "")),
        "boxes": _retold(_boxes),
        "utf8-as-utf16": _retold(_read_as("utf-8", "utf-16-le")),
        "half-shifted": _retold(_every(2, _shifted(7))),
        "neighbour": _neighbour,
        "start-page": _start,
        "foreign-in-frame": _in_frame,
        "skeleton": _cut(lambda place, of: False, ""),
        "every-third-kept": _cut(lambda place, of: place % 6 == 0, "Ad. Ad. Ad. Buy now. Limited offer."),
    },
    "held_out": {
        "preview-8": _cut(lambda place, of: place < 0.08 * of, "Continue in the app."),
        "preview-22": _cut(lambda place, of: place < 0.22 * of, "Members read on from here."),
        "tail-25": _cut(lambda place, of: place > 0.75 * of, ""),
        "reversed": _retold(lambda text: text[::-1]),
        "doubled": _retold(lambda text: "".join(one * 2 if one.isalpha() else one for one in text)),
        "rot13": _retold(_shifted(13)),
        "broken-words": _retold(
            lambda text: "".join(
                f"{one}- " if n % 4 == 3 and one.isalpha() else one for n, one in enumerate(text)
            )
        ),
        "base64": _retold(lambda text: base64.b64encode(text.encode()).decode() if text.strip() else text),
        "utf8-as-ebcdic": _retold(_read_as("utf-8", "cp500")),
        "any-page": lambda original: _any(original.pages, f"any {original.path}"),
        "results": _found_list,
        "foreign": lambda original: _any(original.foreign, f"foreign {original.path}"),
        "columns-mixed": _retold(_shuffled),
        "two-in-five-lost": _retold(_every(2, lambda word: "□" * len(word))),
    },
}


def _with(
    arrange: Callable[[list[html.HtmlElement], list[html.HtmlElement]], list[html.HtmlElement]],
) -> Damage:
    """The blocks of the content, and those of the next page, arranged anew under the heading of the page."""

    def edit(original: Original) -> bytes:
        tree = html.fromstring(original.data)
        main = _main(tree)
        mine = _outer_blocks(main)
        theirs = _outer_blocks(_main(html.fromstring(_neighbour(original))))
        for block in mine:
            block.getparent().remove(block)
        main.extend(arrange(mine, theirs))
        return _written(tree)

    return edit


def _outer_blocks(main: html.HtmlElement) -> list[html.HtmlElement]:
    blocks = [one for one in main.iter(*_BLOCKS) if not any(up.tag in _BLOCKS for up in one.iterancestors())]
    for block in blocks:
        block.tail = None
    return blocks


def _undressed(original: Original) -> bytes:
    """The content without the frame of its site, as after a redesign."""
    tree = html.fromstring(
        "<html><head></head><body><nav><a href='/'>Home</a></nav><main></main></body></html>"
    )
    tree.find("body/main").extend(list(_main(html.fromstring(original.data))))
    return _written(tree)


EDITS: Mapping[str, Damage] = {
    "split in half": _cut(lambda place, of: place < 0.5 * of, "The rest has a page of its own now."),
    "split in three": _cut(lambda place, of: place < 0.33 * of, "The rest has pages of its own now."),
    "filled": _cut(lambda place, of: place < 0.1 * of, "To be written."),
    "merged": _with(lambda mine, theirs: [*mine, *theirs]),
    "moved up": _with(lambda mine, theirs: [*mine[len(mine) // 2 :], *mine[: len(mine) // 2]]),
    "half new": _with(lambda mine, theirs: [*mine[::2], *theirs[1::2]]),
    "typeset": _retold(
        lambda text: text.replace("'", "\u2019").replace('"', "\u201c").replace("-", "\u2011").title()
    ),
    "undressed": _undressed,
}
