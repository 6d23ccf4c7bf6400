"""The tools as a client has them: what they give keeps their schemas, and is what the library gives."""

import base64
import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pymupdf
import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError

from retrieval.live import open_retriever
from retrieval.question.query import build_query
from schemas.nodes import Chunk
from schemas.records import to_record
from tests.fakes.governance import governance_documents
from tests.fakes.mcp_clients import AgentClient, json_of, schema_of

REFERENCE = Path(__file__).parents[5] / "docs" / "reference"
NAMES = [
    "search",
    "fetch",
    "retrieve",
    "neighbourhood",
    "show_citation",
    "verify_answer",
    "changes",
    "list_sources",
]
GENERATION = "sitegraph/generation"


def published(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((REFERENCE / name).read_text("utf-8")))


def chunks() -> list[Chunk]:
    return [chunk for _, found in governance_documents()[0] for chunk in found]


def calls() -> dict[str, dict[str, Any]]:
    """A call of each tool that it answers."""
    first = chunks()[0].id
    return {
        "search": {"query": "how long are records kept"},
        "fetch": {"id": first},
        "retrieve": {"query": "How are ADR-0031 and PRD-0008 related?", "top_k": 3},
        "neighbourhood": {"node": first, "hops": 2, "kinds": ["depends_on", "contains"]},
        "show_citation": {"id": first},
        "verify_answer": {"answer": "Records are kept for seven years [S1].", "chunk_ids": [first]},
        "changes": {"since": 0},
        "list_sources": {},
    }


def listed(agent: AgentClient) -> dict[str, types.Tool]:
    return {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}


def test_every_tool_says_that_it_only_reads_and_what_it_takes_and_gives(agent: AgentClient) -> None:
    tools = listed(agent)
    assert list(tools) == NAMES
    for tool in tools.values():
        assert tool.description
        assert tool.annotations is not None
        hints = tool.annotations.model_dump(exclude_none=True)
        assert hints == {
            "read_only_hint": True,
            "destructive_hint": False,
            "idempotent_hint": True,
            "open_world_hint": False,
        }
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", NAMES)
def test_what_a_tool_gives_keeps_its_schema_names_its_generation_and_is_there_as_text_too(
    any_agent: AgentClient, name: str
) -> None:
    result = any_agent.call(name, **calls()[name])
    assert not result.is_error, result.content
    Draft202012Validator(schema_of(listed(any_agent), name)).validate(result.structured_content)
    assert json_of(result) == result.structured_content
    assert result.meta is not None
    assert result.meta[GENERATION] == 1
    assert any_agent.ask(name, **calls()[name]) == result.structured_content, "the same call gives the same"


def test_search_and_fetch_have_exactly_the_form_that_connectors_ask_for(agent: AgentClient) -> None:
    found = agent.call("search", query="how long are records kept")
    (content,) = found.content
    assert isinstance(content, types.TextContent)
    results = json.loads(content.text)
    assert set(results) == {"results"}
    assert [set(one) for one in results["results"]] == [{"id", "title", "url"}] * len(results["results"])
    assert all(isinstance(value, str) and value for one in results["results"] for value in one.values())

    (content,) = agent.call("fetch", id=results["results"][0]["id"]).content
    assert isinstance(content, types.TextContent)
    item = json.loads(content.text)
    assert set(item) == {"id", "title", "text", "url", "metadata"}
    assert "»Records are kept for seven years. After that they are destroyed.«" in item["text"]
    assert item["metadata"]["citation"] == "gov-0017.md#retention-policy"
    assert item["metadata"]["generation"] == "1"


def test_a_document_is_fetched_in_reading_order(agent: AgentClient) -> None:
    policy = chunks()[0]
    item = agent.ask("fetch", id=policy.doc)
    assert item["text"].index("seven years") < item["text"].index("Legal hold")
    assert item["metadata"]["chunks"] == "2"


def test_retrieve_gives_the_bundle_of_the_library_byte_for_byte(agent: AgentClient, folder: Path) -> None:
    record = agent.ask("retrieve", query="What depends on GOV-0017?", top_k=5, filters={"status": "active"})
    published("bundle.schema.json").validate(record)
    with open_retriever(folder, environment={}, clock=lambda: 0.0) as retriever:
        from retrieval.question.query import filters_from_record

        filters = filters_from_record({"status": "active"})
        query = build_query("What depends on GOV-0017?", top_k=5, filters=filters, rerank=None)
        assert record == json.loads(json.dumps(to_record(retriever.retrieve(query))))


def test_a_neighbourhood_is_that_of_the_command(agent: AgentClient) -> None:
    record = agent.ask("neighbourhood", node=chunks()[0].doc, hops=1)
    published("neighbourhood.schema.json").validate(record)
    assert record["start"] == [chunks()[0].doc]


def test_the_citation_of_a_pdf_is_a_picture_of_its_page_and_of_other_documents_text(
    agent: AgentClient,
) -> None:
    on_page = next(chunk for chunk in chunks() if chunk.page_no == 3)
    result = agent.call("show_citation", id=on_page.id)
    _, image = result.content
    assert isinstance(image, types.ImageContent)
    assert image.mime_type == "image/png"
    picture = pymupdf.Pixmap(base64.b64decode(image.data))
    assert (255, 0, 0) in {picture.pixel(x, 200) for x in range(picture.width)}
    assert result.structured_content["page"] is True

    result = agent.call("show_citation", id=chunks()[0].id)
    assert len(result.content) == 1
    assert result.structured_content["page"] is False
    assert "»Records are kept" in result.structured_content["text"]


def test_resources_are_the_passage_and_the_picture(agent: AgentClient) -> None:
    on_page = next(chunk for chunk in chunks() if chunk.page_no == 3)
    templates = agent.portal.call(agent.client.list_resource_templates).resource_templates
    assert {one.uri_template for one in templates} == {
        "sitegraph://chunk/{id}",
        "sitegraph://chunk/{id}/page.png",
        "sitegraph://chunk/{id}/figure.png",
    }
    uri = f"sitegraph://chunk/{on_page.id.removeprefix('chunk:')}"
    assert on_page.text in agent.read(uri).text
    assert base64.b64decode(agent.read(f"{uri}/page.png").blob).startswith(b"\x89PNG")


def test_a_sentence_that_the_evidence_does_not_bear_out_is_dropped_with_the_reason(
    agent: AgentClient,
) -> None:
    answer = "Records are kept for seven years [S1]. Records are kept for nine years [S1]."
    record = agent.ask("verify_answer", answer=answer, chunk_ids=[chunks()[0].id])
    assert [one["text"] for one in record["kept"]] == ["Records are kept for seven years."]
    assert record["kept"][0]["citation"] == "gov-0017.md#retention-policy"
    assert "nine years is not in it" in record["dropped"][0]["reason"]


def test_a_chunk_that_is_named_twice_moves_no_label(agent: AgentClient) -> None:
    first, other = chunks()[0], next(one for one in chunks() if "seven years" not in one.text)
    answer = "Records are kept for seven years [S2]."
    record = agent.ask("verify_answer", answer=answer, chunk_ids=[first.id, first.id, other.id])
    assert [one["S"] for one in record["kept"]] == ["S2"]


def test_an_answer_to_what_retrieve_was_asked_is_held_against_the_same_evidence(agent: AgentClient) -> None:
    bundle = agent.ask("retrieve", query="how long are records kept")
    label = next(one["S"] for one in bundle["evidence"] if one["chunk_id"] == chunks()[0].id)
    answer = f"Records are kept for seven years [{label}]."
    record = agent.ask("verify_answer", answer=answer, query="how long are records kept")
    assert [one["S"] for one in record["kept"]] == [label]


def test_the_prompt_has_the_contract_and_the_evidence_with_its_ids(agent: AgentClient) -> None:
    (prompt,) = agent.portal.call(agent.client.list_prompts).prompts
    result = agent.portal.call(
        agent.client.get_prompt, prompt.name, {"question": "how long are records kept"}
    )
    (message,) = result.messages
    assert isinstance(message.content, types.TextContent)
    assert message.content.text.startswith("Answer from the evidence below and from nothing else.")
    assert "| Records are kept for seven years." in message.content.text
    assert chunks()[0].id in message.content.text


def test_changes_beyond_the_limit_are_counted(agent: AgentClient) -> None:
    record = agent.ask("changes", since=0, limit=2)
    assert (len(record["entries"]), record["left_out"]) == (2, 1)


NOBODY = "chunk:" + "a" * 26


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search", {}, "query: Field required"),
        ("search", {"query": " "}, "query: must be more than white space"),
        ("search", {"query": "x", "top_k": 3}, "top_k: Extra inputs"),
        ("fetch", {"id": "../etc/passwd"}, "id: must be the id of a chunk or page or pdfdoc"),
        ("fetch", {"id": NOBODY}, f"generation 1 has no {NOBODY}"),
        ("retrieve", {"query": "x", "top_k": 51}, "top_k: Input should be less than"),
        ("retrieve", {"query": "x", "filters": {"colour": "red"}}, "is not a filter; known keys"),
        ("neighbourhood", {"node": "NO-SUCH-1"}, "has no document of this id or URL"),
        ("neighbourhood", {"node": "http://[x#y"}, "has no document of this id or URL"),
        ("neighbourhood", {"node": "chunk:aaaa"}, "no such node"),
        ("neighbourhood", {"node": "GOV-0017", "kinds": ["eats"]}, "'eats' is not a valid EdgeKind"),
        ("neighbourhood", {"node": "GOV-0017", "hops": 9}, "hops: Input should be less than"),
        ("show_citation", {"id": "page:" + "a" * 26}, "id: must be the id of a chunk, as"),
        ("verify_answer", {"answer": "Yes."}, "give chunk_ids or query, one of them"),
        ("verify_answer", {"answer": "Yes.", "chunk_ids": [NOBODY]}, f"generation 1 has no {NOBODY}"),
        ("verify_answer", {"answer": "x" * 4001, "query": "x"}, "answer: String should have at most"),
        ("changes", {"since": -1}, "since: Input should be greater"),
        ("changes", {"since": 99}, "99"),
    ],
)
def test_a_wrong_call_is_told_in_one_line_what_is_wrong(
    agent: AgentClient, name: str, arguments: dict[str, Any], words: str
) -> None:
    said = agent.refusal(name, **arguments)
    assert words in said
    assert "\n" not in said


def test_what_is_not_there_is_an_error_of_the_protocol_that_names_what_is(any_agent: AgentClient) -> None:
    agent = any_agent
    with pytest.raises(MCPError, match="no tool 'delete'; there are: search, fetch"):
        agent.call("delete")
    with pytest.raises(MCPError, match="no such resource; there are sitegraph://chunk/"):
        agent.read("file:///etc/passwd")
    with pytest.raises(MCPError, match="is not on a page"):
        agent.read(f"sitegraph://chunk/{chunks()[0].id.removeprefix('chunk:')}/page.png")
    with pytest.raises(MCPError, match="neither the caption of a figure"):
        agent.read(f"sitegraph://chunk/{chunks()[0].id.removeprefix('chunk:')}/figure.png")
    with pytest.raises(MCPError, match="it needs a question"):
        agent.portal.call(agent.client.get_prompt, "answer_with_citations", {})
