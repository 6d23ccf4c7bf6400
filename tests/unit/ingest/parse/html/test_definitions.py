"""Definition lists: every entry that can be cited is a passage of its own, under a path that names it."""

from itertools import pairwise

from schemas.fragment import GraphFragment
from tests.fakes.pages import count_words, parse_page, sections_of

LONG = "It has a wick, a glass and a tank of oil. " * 12
CLASS = """<h1>API</h1><dl class="py class">
<dt class="sig" id="shop.Cart"><em>class</em> <span class="sig-prename descclassname">shop.</span><span
 class="sig-name descname">Cart</span>(<em>items</em>)</dt>
<dd><p>A cart.</p>
<dl class="field-list"><dt>Parameters<span>:</span></dt>
<dd><ul><li>items – what lies in it</li></ul></dd></dl>
<dl class="py method"><dt class="sig" id="shop.Cart.add"><span
 class="sig-name descname">add</span>(<em>item</em>)</dt>
<dd><p>Puts an item in.</p></dd></dl>
<dl class="py attribute"><dt class="sig" id="shop.Cart.full"><span class="sig-name descname">full</span></dt>
<dd></dd></dl>
<p>Carts roll.</p></dd></dl><p>More below.</p>"""


def read(body: str) -> list[tuple[str | None, tuple[str, ...], str]]:
    """Fragment, entries around it, and text of every passage."""
    return [
        (chunk.fragment, chunk.heading_path[1:], chunk.text)
        for chunk in parse_page(f"<main>{body}</main>").chunks
    ]


def test_every_entry_with_an_id_opens_at_it_whatever_its_size() -> None:
    assert read(
        "<h1>Words</h1><p>Some words.</p>"
        "<dl><dt id=a>Aft</dt><dd>Behind.</dd><dt id=b>Beam</dt><dd>Width.</dd></dl>"
    ) == [
        (None, (), "Some words."),
        ("a", ("Aft",), "Aft: Behind."),
        ("b", ("Beam",), "Beam: Width."),
    ]


def test_members_stand_under_the_name_of_their_class_and_fields_are_no_entries() -> None:
    assert read(CLASS) == [
        (
            "shop.Cart",
            ("shop.Cart",),
            "class shop.Cart(items): A cart.\n\nParameters:\n- items – what lies in it",
        ),
        ("shop.Cart.add", ("shop.Cart", "add"), "add(item): Puts an item in."),
        ("shop.Cart.full", ("shop.Cart", "full"), "full"),
        ("shop.Cart.full", ("shop.Cart",), "Carts roll."),
        ("shop.Cart.full", (), "More below."),
    ]


def test_what_stands_under_a_signature_has_its_subcommand_in_the_path() -> None:
    signature = "<dt class=sig id={}><span class=sig-name>oil({} &lt;tank&gt; [FOR &lt;wick&gt;])</span></dt>"
    note = f"<div class='admonition note'><p class=admonition-title>Note<p>{LONG}</div>"
    fill, drain = signature.format("fill", "FILL"), signature.format("drain", "DRAIN")
    body = f"<h1>oil</h1><dl>{fill}<dd><p>{LONG}</p>{note}</dd></dl><dl>{drain}<dd><p>Empties.</dd></dl>"
    assert [(fragment, path) for fragment, path, _ in read(body)] == [
        *[("fill", ("oil(FILL)",))] * 2,
        ("drain", ("oil(DRAIN)",)),
    ]


def test_a_list_without_ids_that_fits_stays_one_passage() -> None:
    body = "<h1>Options</h1><dl><dt>-a<dd>All.<dt>-b<dd>Best.</dl>"
    assert read(body) == [(None, (), "-a: All.\n\n-b: Best.")]


def test_a_list_without_ids_that_does_not_fit_is_cut_between_entries_and_crumbs_stay_together() -> None:
    body = f"<h1>Options</h1><dl><dt>-a<dd>All.<dt>-b<dd>Best.<dt>--lamp<dd>{LONG}<dt>--wick<dd>{LONG}</dl>"
    found = read(body)
    assert [entries for _, entries, _ in found] == [(), ("--lamp",), ("--wick",)]
    assert found[0][2] == "-a: All.\n\n-b: Best."
    assert all(text.startswith(f"{entries[0]}: It has") for _, entries, text in found[1:])


def test_later_passages_of_a_long_entry_name_it_too() -> None:
    body = (
        f"<h1>Options</h1><dl><dt id=lamp>--lamp<dd>{'<p>' + LONG + '</p>'} <p>{LONG}</p><p>{LONG}</p></dl>"
    )
    found = read(body)
    assert len(found) > 1
    assert {(fragment, entries) for fragment, entries, _ in found} == {("lamp", ("--lamp",))}


def test_a_line_over_a_list_stands_with_its_first_entry() -> None:
    body = f"<h1>Options</h1><p>These are known:</p><dl><dt>--lamp<dd>{LONG}<dt>--wick<dd>{LONG}</dl>"
    assert read(body)[0][2].startswith("These are known:\n\n--lamp: It has")


def test_an_anchor_before_or_behind_a_term_without_an_id_opens_its_entry() -> None:
    body = (
        "<h1>Index</h1><dl><dt><a name=index-aft></a>Aft</dt><dd>Behind.</dd>"
        "<dt>Beam</dt><dd><a name=index-beam></a>Width.</dd></dl>"
    )
    assert [fragment for fragment, _, _ in read(body)] == ["index-aft", "index-beam"]


def test_several_synopses_of_one_command_are_one_entry() -> None:
    terms = "<dt><b>hist</b> [<i>n</i>]<dd><dt><b>hist</b> -c<dd><dt><b>hist</b> <i>file</i><dd>"
    body = f"<h1>Builtins</h1><dl>{terms}Lists.</dl>"
    assert read(body)[0][2] == "hist [n], hist -c, hist file: Lists."


def test_the_words_set_in_bold_before_parameters_are_the_name() -> None:
    first = f"<dt><b>getopts</b> <i>optstring name</i><dd>{LONG}"
    body = f"<h1>Builtins</h1><dl>{first}<dt><b>let</b> <i>arg</i><dd>{LONG}</dl>"
    assert [entries for _, entries, _ in read(body)] == [("getopts",), ("let",)]


def test_a_term_over_a_list_is_not_lost() -> None:
    (section,) = sections_of(parse_page("<main><dl><dt>Colours<dd><ul><li>red<li>blue</ul></dl></main>"))
    assert section.text == "Colours:\n- red\n- blue"


def test_a_term_over_another_list_stands_apart() -> None:
    (section,) = sections_of(parse_page("<main><dl><dt>Ship<dd><dl><dt>Mast<dd>A pole.</dl></dl></main>"))
    assert section.text == "Ship\n\nMast: A pole."


def test_a_heading_within_a_definition_begins_a_section_and_the_list_goes_on() -> None:
    body = (
        "<h1>Ship</h1><dl><dt id=mast>Mast<dd>A pole.<h2 id=more>More</h2><p>Tall.</p>"
        "<dt id=oar>Oar<dd>To row.</dl>"
    )
    fragment = parse_page(f"<main>{body}</main>")
    assert [(chunk.fragment, chunk.heading_path, chunk.text) for chunk in fragment.chunks] == [
        ("mast", ("Ship", "Mast"), "Mast: A pole."),
        ("more", ("Ship", "More"), "Tall."),
        ("oar", ("Ship", "More", "Oar"), "Oar: To row."),
    ]


def test_all_text_of_a_section_is_in_its_passages_once() -> None:
    fragment: GraphFragment = parse_page(f"<main>{CLASS}<dl><dt>-a<dd>{LONG}<dt>-b<dd>{LONG}</dl></main>")
    for section in sections_of(fragment):
        own = sorted(chunk.offsets for chunk in fragment.chunks if chunk.section_id == section.id)
        gaps = [section.text[end:start] for (_, end), (start, _) in pairwise(own)]
        assert own[0][0] == 0
        assert own[-1][1] == len(section.text)
        assert not "".join(gaps).strip()
    assert all(count_words(chunk.text) <= 250 for chunk in fragment.chunks)


def test_an_inserted_entry_changes_no_other_passage() -> None:
    entries = [f"<dt id=t{n}>term{n}</dt><dd>It means the number {n}.</dd>" for n in range(20)]
    before = parse_page(f"<main><h1>Words</h1><dl>{''.join(entries)}</dl></main>")
    entries.insert(7, "<dt id=new>new</dt><dd>It is new.</dd>")
    after = parse_page(f"<main><h1>Words</h1><dl>{''.join(entries)}</dl></main>")
    assert len({one.id for one in after.chunks} - {one.id for one in before.chunks}) == 1
    assert {one.id for one in before.chunks} <= {one.id for one in after.chunks}


def test_a_function_of_doxygen_opens_at_its_own_id_and_its_fields_are_no_entries() -> None:
    body = (
        "<h2>Functions</h2><a id=a1></a>"
        "<h2 class=memtitle><span class=permalink><a href='#a1'>◆\xa0</a></span>open_door()</h2>"
        "<div class=memitem><div class=memdoc><p>Opens a door.</p>"
        "<dl class='section return'><dt>Returns</dt><dd>0 on success</dd></dl></div></div>"
    )
    fragment = parse_page(f"<main>{body}</main>")
    assert [(one.fragment, one.heading_path, one.text) for one in fragment.chunks] == [
        ("a1", ("Functions", "open_door()"), "Opens a door.\n\nReturns: 0 on success")
    ]


def test_a_secret_in_an_entry_moves_the_entries_behind_it_and_is_in_no_name() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    body = f"<h1>Keys</h1><dl><dt id=k>{key}<dd>A key: {key}.<dt id=b>Beam<dd>Width.</dl>"
    found = read(body)
    assert found[-1] == ("b", ("Beam",), "Beam: Width.")
    assert key not in repr(found)
