"""A git repository as a source, from the first run to a citation of the next commit."""

import json
from pathlib import Path

import pytest

from tests.fakes.git_repositories import make_repository, serve_git
from tests.fakes.pdfs import prose
from tests.fakes.sitegraph_runs import Sitegraph, outcomes

pytestmark = pytest.mark.server

LINK = "https://git.example.org/house/rules/blob/{commit}/{path}#L{line}"


def test_a_served_repository_is_indexed_recrawled_by_its_blobs_and_cited_at_its_commits(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "served" / "rules")
    first = repository.commit(
        {
            "README.md": f"# Rules\n\n{prose('rules')} See [the lanterns](guide/lanterns.md#at-night).\n",
            "guide/lanterns.md": f"# Lanterns\n\n## At night\n\n{prose('lantern')}\n",
            "guide/bells.txt": f"Bells\n\n{prose('bell')}\n",
            "gone.md": f"# Gone\n\n{prose('old things')}\n",
            "build.py": "print()\n",
            **{f"more/note {n}.md": f"# Note {n}\n\n{prose(f'note {n}')}\n" for n in range(4)},
        }
    )
    source, index = tmp_path / "rules.yaml", tmp_path / "index"
    with serve_git(tmp_path / "served") as server:
        source.write_text(
            f"name: rules\nkind: git\nrepository: {server.url}rules\nref: main\nlink: '{LINK}'\n"
            f"allow_private: ['127.0.0.1:{server.port}']\nrate: {{per_host_delay: 0}}\n"
        )
        report = sitegraph.run(source, index)
        assert outcomes(report) == {"added": 8}
        before = sitegraph.export(index, stable=False)
        second = repository.commit(
            {"guide/lanterns.md": f"# Lanterns\n\n## At night\n\n{prose('candle')}\n", "gone.md": None}
        )

        report = sitegraph.run(source, index)

        assert outcomes(report) == {"changed": 1, "gone": 1, "unchanged": 6}
        assert report["documents"]["not_modified"] == 6
        assert sitegraph.run(source, index)["generation"] is None
        clean = tmp_path / "clean"
        sitegraph.run(source, clean)

    after = sitegraph.export(index, stable=False)
    urls = {row["path"]: row["url"] for row in after["documents"] if not row["path"].startswith("more/")}
    base = "https://git.example.org/house/rules/blob"
    assert urls == {
        "README.md": f"{base}/{first}/README.md",
        "guide/bells.txt": f"{base}/{first}/guide/bells.txt",
        "guide/lanterns.md": f"{base}/{second}/guide/lanterns.md",
    }
    assert "gone.md" in {row["path"] for row in before["documents"]}
    fragments = {(row["file_path"], row["fragment"]) for row in after["chunks"]}
    assert ("guide/lanterns.md", "at-night") in fragments
    assert ("guide/bells.txt", "L1") in fragments
    ids = {row["path"]: row["id"] for row in after["documents"]}
    links = [(row["src"], row["dst"]) for row in after["edges"] if row["kind"] == "links_to"]
    assert (ids["README.md"], ids["guide/lanterns.md"]) in links
    assert sitegraph.export(index) == sitegraph.export(clean)
    assert sitegraph.damage(index) == ()

    done = sitegraph.call("query", "candle at night", "--index", str(index), "--format", "json")
    assert done.returncode == 0, done.stderr
    (cited, *_) = json.loads(done.stdout)["citations"]
    assert (cited["file_path"], cited["url"]) == ("guide/lanterns.md", urls["guide/lanterns.md"])
