"""Why an element of a page is not read, for whoever asks."""

from collections.abc import Callable
from enum import StrEnum

from lxml.html import HtmlElement


class SkipReason(StrEnum):
    """What an element inside the content is left out for, with all that stands in it."""

    UNREAD = "unread"  # a tag whose text is none of the page's: scripts, form controls, embedded objects
    HIDDEN = "hidden"
    PERMALINK = "permalink"  # or a link to source code
    LINE_NUMBERS = "line_numbers"
    REPEATED = "repeated"  # the same is read elsewhere: labels of tabs, a formula as it is drawn
    LANDMARK = "landmark"  # by tag or role it is navigation, search, footer or aside
    CHROME = "chrome"  # by class or id it is what the page's family writes around its content
    SITE_TITLE = "site_title"  # the name of the site over each page, whose own title stands below
    UNVOTED = "unvoted"  # trafilatura passed it over, and it does not read as a part of the text


OnLeftOut = Callable[[HtmlElement, SkipReason], None]
"""Told of each element that is left out and why."""
