"""Where a document comes from."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError, GuardRefused
from sitegraph.actions.inspect import load_document
from tests.fakes.site_server import Reply, Site, serve


def test_a_file_is_known_by_its_name_and_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a note.md").write_text("# Lamps\n")
    document = load_document(str(tmp_path / "a note.md"), user_agent="Reader/2 (me)", allow_private=())
    assert document.data == b"# Lamps\n"
    request = document.request
    assert (request.path, request.url, request.robot) == ("a note.md", None, "reader")
    assert request.uri == "files://inspect/a%20note.md"


def test_a_link_that_was_named_is_followed_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "lamps.md").write_text("# Lamps\n")
    (tmp_path / "link.md").symlink_to(tmp_path / "target" / "lamps.md")
    assert load_document(str(tmp_path / "link.md"), user_agent="r", allow_private=()).data == b"# Lamps\n"


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "server.key").write_text("secret")
    with pytest.raises(ConfigError, match="its name marks a secret"):
        load_document(str(tmp_path / "server.key"), user_agent="r", allow_private=())


def test_what_a_page_is_is_said_by_its_headers_too() -> None:
    reply = Reply(b"# Lamps", headers={"X-Robots-Tag": "noindex"}, content_type="text/markdown")
    with serve(Site({"/a": reply})) as site:
        document = load_document(site.url("/a"), user_agent="r", allow_private=[site.address])
    request = document.request
    assert (request.content_type, request.x_robots_tag) == ("text/markdown", "noindex")
    assert request.url == request.uri == document.address == site.url("/a")


def test_redirects_that_lead_in_a_ring_end() -> None:
    pages = {"/a": Reply(b"", 302, {"Location": "/b"}), "/b": Reply(b"", 302, {"Location": "/a"})}
    with serve(Site(pages)) as site:
        with pytest.raises(GuardRefused, match="redirect loop"):
            load_document(site.url("/a"), user_agent="r", allow_private=[site.address])
        assert site.paths() == ["/a", "/b"]


def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    with serve(Site()) as other, serve(Site()) as site:
        site.pages["/a"] = Reply(b"", 302, {"Location": other.url("/secret")})
        with pytest.raises(GuardRefused, match=r"unavailable: "):
            load_document(site.url("/a"), user_agent="r", allow_private=[site.address])
        assert other.log == []


def test_an_entry_that_names_no_address_is_refused_for_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Lamps\n")
    with pytest.raises(ConfigError, match="foo"):
        load_document(str(tmp_path / "note.md"), user_agent="r", allow_private=["foo"])
