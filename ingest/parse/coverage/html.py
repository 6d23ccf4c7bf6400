"""What a reader sees of markup: the text of its tree, by a style sheet that knows no rule of the parser."""

from functools import cache

from lxml import etree

from ingest.parse.folded_words import RUN_ON, UNSHOWN
from ingest.parse.html.charset import decode_html
from schemas.errors import ParseError
from schemas.fragment import ParseRequest

_SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/>
<xsl:template match="*"><xsl:text> </xsl:text><xsl:apply-templates/><xsl:text> </xsl:text></xsl:template>
<xsl:template match="{run_on}"><xsl:apply-templates/></xsl:template>
<xsl:template match="{unshown}"><xsl:text> </xsl:text></xsl:template>
<xsl:template match="script[starts-with(@type, 'math/tex')]"><xsl:value-of select="."/></xsl:template>
</xsl:stylesheet>"""


def read_page(data: bytes, request: ParseRequest) -> str:
    """Return the text of the bytes of a page. Raises: ParseError: there is no element in it."""
    return read_markup(decode_html(data, request.content_type), subject=request.uri)


def read_markup(markup: str, *, subject: str) -> str:
    """Return the text of markup, with a space where no word can go on. Raises: ParseError: no element."""
    parser, sheet = _tools()
    try:
        return str(sheet(etree.fromstring(markup.encode("utf-8", "replace"), parser)))
    except (etree.LxmlError, TypeError) as error:
        raise ParseError("no element found; is this HTML?", subject=subject) from error


@cache
def _tools() -> tuple[etree.HTMLParser, etree.XSLT]:
    # A tree without the classes of lxml.html is read in a third of the time.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    written = _SHEET.format(run_on="|".join(sorted(RUN_ON)), unshown="|".join(sorted(UNSHOWN)))
    return parser, etree.XSLT(etree.fromstring(written))
