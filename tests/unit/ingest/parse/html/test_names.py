"""Names that do not decide: what an author calls a part of the text, and what furniture is called so, too."""

import pytest

from tests.fakes.pages import parse_page

TEXT = (
    "<p>The relay accepts messages from clients and keeps each of them until the next station has said that "
    "it holds a copy of its own, so that nothing is lost when a line breaks.</p><p>An operator may limit how "
    "many messages wait at a station, and what becomes of those for which there is no more room.</p>"
)
MORE = (
    "<p>Stations that have been away for a while ask their neighbours for what they missed, oldest first, "
    "and tell them when they have caught up with the rest of the network again.</p>"
)
SAID = "The red lamp means that the store is full."
SAID_IN_TEXT = [
    "<section id=pagination><h2>Pagination</h2><p>{}</p></section>",
    "<section id=share><h2>Shares</h2><p>{}</p></section>",
    "<div id=related-work><h2>Related work</h2><p>{}</p></div>",
    "<h2 id=footer>Footer</h2><p>{}</p>",
    "<h2 id=comments class=toc>Comments</h2><p>{}</p>",
    "<details class=dropdown-box><summary>Solution</summary><p>{}</p></details>",
    "<div class='similar-terms'><p>{}</p></div>",
    "<table class=related-codes><tr><th>Code</th><th>Meaning</th></tr><tr><td>4</td><td>{}</td></tr></table>",
    "<aside><p>{}</p></aside>",
    "<aside class=sidebar><p>{}</p></aside>",
    "<div role=note><p>{}</p></div>",
    "<div class=row><div><p>The journal is kept for as long as ten days.</p></div><aside>{}</aside></div>",
    "<button aria-controls=x>Why?</button><div id=x hidden><p>{}</p></div>",
    "<h3><button aria-expanded=false>Why?</button></h3><div style='display:none'><p>{}</p></div>",
    "<div class=tabs><a href='#t1'>A</a><a href='#t2'>B</a></div><div id=t1>a</div>"
    "<div id=t2 style='display:none'><p>{}</p></div>",
    "<div data-aos=fade-up style='opacity:0'><p>{}</p></div>",
    "<table><tr style='height:0'><td>full</td><td>{}</td></tr></table>",
    "<x-card><template shadowrootmode=open><p>{}</p><slot></slot></template></x-card>",
    "<fieldset><legend>Lamps</legend><p>{}</p></fieldset>",
    "<header><h2>Lamps</h2></header><p>{}</p>",
]
FURNITURE = [
    "<aside><h2>More</h2><ul><li><a href=/a>{}</a></li><li><a href=/b>Another story</a></li></ul></aside>",
    "<aside><form><label>{} <input name=mail></label></form></aside>",
    "<div class=related><p>Read on: <a href=/c>{}</a></p></div>",
    "<div class=feedback><p>{}</p><button>Yes</button><button>No</button></div>",
    "<p style='opacity:0'>{}</p>",
    "<div style='height:0;overflow:hidden'><p>{}</p></div>",
    "<div hidden><p>{}</p></div>",
    "<button aria-controls=m>Menu</button><ul id=m hidden><li><a href=/d>{}</a></li></ul>",
    "<button aria-controls=d>Sign in</button><div id=d role=dialog hidden><p>{}</p></div>",
    "<template><p>{}</p></template>",
    "<nav id=lamps><h2>Lamps</h2><p>{}</p></nav>",
]


def says(part: str) -> bool:
    page = f"<html><body><main><h1>Relay</h1>{TEXT}{part.format(SAID)}{MORE}</main></body></html>"
    return any(SAID in chunk.text for chunk in parse_page(page).chunks)


@pytest.mark.parametrize("part", SAID_IN_TEXT)
def test_what_is_said_amid_the_text_is_read_whatever_it_is_called(part: str) -> None:
    assert says(part)


@pytest.mark.parametrize("part", FURNITURE)
def test_what_leads_elsewhere_or_stays_unseen_is_not_read(part: str) -> None:
    assert not says(part)
