"""No module of ours needs itself, by way of however many others; what only types need counts."""

from graphlib import TopologicalSorter

import grimp

PACKAGES = ("sitegraph", "runtime", "flows", "ingest", "schemas", "indexes", "retrieval")


def test_modules_import_each_other_in_one_direction_only() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    order = tuple(TopologicalSorter(modules).static_order())
    assert len(order) == len(modules) > 100


def test_the_top_of_flows_shows_its_graph_and_little_else() -> None:
    graph = grimp.build_graph("flows", cache_dir=None)
    top = {child for child in graph.find_children("flows") if not graph.find_children(child)}
    assert "flows.recrawl" in top
    assert len(top) <= 10
