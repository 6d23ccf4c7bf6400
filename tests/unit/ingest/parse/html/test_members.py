"""Members of a type in pages of rustdoc, with the markup of its releases of 2024 and after, and of before."""

import pytest

from schemas.nodes import Chunk
from tests.fakes.pages import parse_page, sections_of

_HEAD = (
    '<meta name="generator" content="rustdoc"><main><section id="main-content" class="content">'
    '<div class="main-heading"><h1>Struct <span class="struct">Lamp</span>&nbsp;'
    '<button id="copy-path" title="Copy item path to clipboard">Copy item path</button></h1>'
    '<span class="sub-heading"><span class="since" title="Stable since Rust version 1.4.0">1.4.0</span> · '
    '<a class="src" href="../src/lamp.rs.html#1">Source</a></span></div>'
    '<pre class="rust item-decl"><code>pub struct Lamp;</code></pre>'
    '<details class="toggle top-doc" open><summary class="hideme"><span>Expand description</span></summary>'
    '<div class="docblock"><p>Gives light.</p></div></details>'
)


def _method(name: str, words: str, *, kind: str = "method", class_: str = "method") -> str:
    return (
        f'<details class="toggle method-toggle" open><summary><section id="{kind}.{name}" class="{class_}">'
        '<span class="rightside"><span class="since" title="Stable since Rust version 1.7.0">1.7.0</span> · '
        '<a class="src" href="../src/lamp.rs.html#9">Source</a></span>'
        f'<h4 class="code-header">pub fn <a href="#{kind}.{name}" class="fn">{name}</a>(&amp;self)</h4>'
        f'</section></summary><div class="docblock"><p>{words}</p><h5 id="examples-{name}">Examples</h5>'
        f'<pre class="rust"><code>lamp.{name}();</code></pre></div></details>'
    )


def _impl(id_: str, signature: str, *members: str) -> str:
    return (
        '<details class="toggle implementors-toggle" open><summary>'
        f'<section id="{id_}" class="impl"><a class="src rightside" href="../src/lamp.rs.html#5">Source</a>'
        f'<h3 class="code-header">{signature}</h3></section></summary>'
        f'<div class="impl-items">{"".join(members)}</div></details>'
    )


def _chunks(*blocks: str) -> tuple[Chunk, ...]:
    return parse_page(f"{_HEAD}{''.join(blocks)}</section></main>").chunks


_OWN = '<h2 id="implementations" class="section-header">Implementations</h2>'


def test_a_page_of_an_item_says_since_when_it_is_there_and_shows_no_label_of_its_fold_out() -> None:
    (chunk,) = _chunks()
    assert chunk.text == "Stable since Rust version 1.4.0\npub struct Lamp;\n\nGives light."
    assert (chunk.heading_path, chunk.fragment) == (("Struct Lamp",), None)


def test_each_method_is_cited_at_its_own_id_under_its_name_with_its_version() -> None:
    methods = (
        _method("dim", "Dims it."),
        _method("is_on", "Tells."),
        _method("glow", "Glows.", kind="tymethod"),
    )
    _, *chunks = _chunks(_OWN, _impl("impl-Lamp", "impl Lamp", *methods))
    assert [(chunk.fragment, chunk.heading_path[-2:]) for chunk in chunks] == [
        ("impl-Lamp", ("Struct Lamp", "Implementations")),
        ("method.dim", ("Implementations", "dim")),
        ("method.is_on", ("Implementations", "is_on")),
        ("tymethod.glow", ("Implementations", "glow")),
    ]
    assert "pub fn is_on(&self)\nStable since Rust version 1.7.0\nTells." in chunks[2].text
    assert chunks[2].fragments == ("examples-is_on",)


def test_variants_without_a_fold_out_go_on_to_the_next_one() -> None:
    variants = "".join(
        f'<section id="variant.{name}" class="variant"><a href="#variant.{name}" class="anchor">§</a>'
        f'<span class="since rightside" title="Stable since Rust version 1.7.0">1.7.0</span>'
        f'<h3 class="code-header">{name}(u8)</h3></section><div class="docblock"><p>{name} it is.</p></div>'
        for name in ("On", "Off")
    )
    _, on, off, other = _chunks(
        f'<h2 id="variants">Variants</h2><div class="variants">{variants}</div>{_OWN}'
    )
    assert (on.fragment, on.heading_path[-1]) == ("variant.On", "On")
    assert on.text == "On(u8)\nStable since Rust version 1.7.0\nOn it is."
    assert off.text == "Off(u8)\nStable since Rust version 1.7.0\nOff it is."
    assert other.heading_path == ("Struct Lamp", "Implementations")


def test_what_an_implementation_repeats_of_its_trait_is_no_entry() -> None:
    repeated = [_method(name, "As said.", class_="method trait-impl") for name in ("fmt", "eq")]
    _, chunk = _chunks(
        '<h2 id="trait-implementations">Traits</h2>', _impl("impl-Debug", "impl Debug", *repeated)
    )
    assert chunk.heading_path[-1] == "Traits"
    assert {"impl-Debug", "method.fmt", "method.eq"} <= {chunk.fragment, *chunk.fragments}
    assert chunk.text.count("Stable since Rust version 1.7.0") == 2


@pytest.mark.parametrize("tag", ["h3", "h4"])
def test_a_method_in_a_div_and_its_version_beside_it_are_read_too(tag: str) -> None:
    older = (
        '<div id="method.dim" class="method has-srclink"><div class="rightside"><span class="since" '
        'title="Stable since Rust version 1.2.0">1.2.0</span> · <a class="srclink" href="s">source</a></div>'
        f'<{tag} class="code-header">pub fn dim()</{tag}></div><div class="docblock"><p>Dims it.</p></div>'
    )
    page = _HEAD + _OWN + older + "</section></main>"
    assert [one.heading for one in sections_of(parse_page(page))] == ["Struct Lamp", "Implementations"]
    chunk = parse_page(page).chunks[-1]
    assert (chunk.fragment, chunk.heading_path[-1]) == ("method.dim", "dim")
    assert chunk.text == "pub fn dim()\nStable since Rust version 1.2.0\nDims it."
