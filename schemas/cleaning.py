"""How the pages of a source are cleaned before they are parsed."""

from collections.abc import Iterator
from dataclasses import dataclass


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
