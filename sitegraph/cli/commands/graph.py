"""`sitegraph graph`: what stands around a node."""

from contextlib import closing
from typing import Annotated, Literal

import typer

from schemas.edges import EdgeKind
from sitegraph.cli.options import IndexOption, print_json
from sitegraph.cli.reading import read_shown_settings, warn

HOPS_MAX, NODES_MAX = 6, 5000


GraphFormat = Literal["text", "json", "dot", "svg"]


def graph(
    node: Annotated[
        str,
        typer.Argument(metavar="NODE", help="A node id, a URL, a path of a files source, or a document id."),
    ],
    index: IndexOption = None,
    hops: Annotated[
        int, typer.Option("--hops", min=0, max=HOPS_MAX, help="Number of edges from the node.")
    ] = 2,
    kind: Annotated[
        list[EdgeKind] | None,
        typer.Option("--kind", help="Follow only edges of this kind. Repeatable.", show_choices=False),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", min=1, max=NODES_MAX, help="Most nodes to show; what is left out is counted."
        ),
    ] = 60,
    source: Annotated[str | None, typer.Option(help="Only documents of this source.")] = None,
    output: Annotated[
        GraphFormat,
        typer.Option(
            "--format", help="Text for people, JSON for programs, DOT for Graphviz, or an SVG picture."
        ),
    ] = "text",
) -> None:
    """Show the nodes around a node and the edges between them, in both directions.

    Each kind of edge gets a share of the limit. The same index and options give the same bytes.

    Examples:

      sitegraph graph GOV-0017 --hops 1 --index ./index

      sitegraph graph https://docs.example.org/handbook/ --kind links_to --format svg > handbook.svg

      sitegraph graph guide/backup.md --kind contains --kind depends_on --format dot | dot -Tpdf > backup.pdf
    """
    from flows.run.opening import open_described
    from schemas.records import to_record
    from sitegraph.actions.find import show_neighbourhood
    from sitegraph.actions.neighbourhood import render_dot, render_svg, render_tree, say_left_out

    with closing(open_described(read_shown_settings(index))) as opened:
        shown = show_neighbourhood(opened, node, hops=hops, limit=limit, kinds=kind or (), source=source)
    if output == "json":
        print_json(to_record(shown))
        return
    render = {"text": render_tree, "dot": render_dot, "svg": render_svg}[output]
    typer.echo(render(shown))
    if output != "text" and shown.left_out:
        warn(say_left_out(shown))
