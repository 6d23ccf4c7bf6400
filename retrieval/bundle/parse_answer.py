"""An answer checked against the contract of its prompt: labels, citations, and what was not found."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from retrieval.bundle.prompt import NOT_FOUND
from retrieval.bundle.render import cite_line
from retrieval.bundle.tool_plan import check_inputs
from schemas.evidence import ContextBundle, ToolPlan

_LABEL = re.compile(r"\[(S[1-9][0-9]*)\]")
_GRAPH_LABEL = re.compile(r"\[S?([1-9][0-9]*): Knowledge Graph - [^\]\n]*\]")
"""How what the graph says is headed; an answer may copy that in place of the plain label."""
_NOTE_MARK = re.compile(r"(?:^|(?<=[\w.!?)”\"]\s)|(?<=[.!?”]))\[(\d{1,3})\]")
"""The mark of a footnote or a reference; behind a name or a sign it may be code, as in `argv[1]`."""
_TOOL = re.compile(r"\[TOOL\s+(\"[^\"]+\"|\S+)\s+(\{.*?\})\s*\]", re.DOTALL)
_SENTENCE = re.compile(r"\S.*?(?:[.!?…][\"'”’)]*(?:\s*\[S[1-9][0-9]*\][.!?]?)*(?=\s|$)|\n|$)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence without its labels, and the labels."""

    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the answer asks to run, with its inputs."""

    name: str
    inputs: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """What an answer says; `problems` lists where it breaks the contract, empty if nowhere."""

    sentences: tuple[Sentence, ...]
    not_found: bool
    tool_requests: tuple[ToolCall, ...]
    problems: tuple[str, ...]


def mask_labels(text: str) -> str:
    """Return a sentence of the evidence with round brackets around what only reads as a label: [S2], [83]."""
    labels = _GRAPH_LABEL.sub(lambda match: f"({match[0][1:-1]})", text)
    return _NOTE_MARK.sub(r"(\1)", _LABEL.sub(r"(\1)", labels))


def parse_answer(text: str, bundle: ContextBundle) -> ParsedAnswer:
    """Read *text* as an answer to *bundle* and check it; whatever it is, it is read and never refused."""
    body, cited = _split_citations(_GRAPH_LABEL.sub(r"[S\1]", text))
    tools, tool_problems = _tools(body)
    sentences = tuple(_sentences(_TOOL.sub("", body)))
    not_found = any(NOT_FOUND in one.text.casefold() for one in sentences)
    problems = (
        *tool_problems,
        *_check_tools(tools, bundle.tool_plan),
        *_check_labels(sentences, bundle, bare=not sentences and not tools),
        *_check_citations(sentences, cited, bundle),
    )
    return ParsedAnswer(sentences=sentences, not_found=not_found, tool_requests=tools, problems=problems)


def _split_citations(text: str) -> tuple[str, list[Any] | None]:
    """Take the last JSON object with `citations` off the end."""
    start = text.rfind('{"citations"')
    if start < 0:
        return text, None
    try:
        found, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return text[:start], None
    listed = found["citations"]
    return text[:start].removesuffix("```json\n"), listed if isinstance(listed, list) else None


def _tools(body: str) -> tuple[tuple[ToolCall, ...], list[str]]:
    requests: list[ToolCall] = []
    problems: list[str] = []
    for name, inputs in _TOOL.findall(body):
        try:
            requests.append(ToolCall(name=name.strip('"'), inputs=json.loads(inputs)))
        except ValueError:
            problems.append(f"the inputs of the tool {name} are not JSON")
    return tuple(requests), problems


def _check_tools(requests: tuple[ToolCall, ...], plan: ToolPlan | None) -> Iterator[str]:
    """What a tool is asked with must keep the schema that the bundle gave for it."""
    for one in requests:
        if plan is not None and one.name == plan.name and plan.input_schema is not None:
            found = check_inputs(plan.input_schema, one.inputs)
            yield from (f"the inputs of the tool {one.name} are wrong: {problem}" for problem in found)


def _sentences(body: str) -> Iterator[Sentence]:
    for match in _SENTENCE.finditer(body):
        words = " ".join(_LABEL.sub("", match[0]).split()).replace(" .", ".")
        if re.search(r"\w", words):
            yield Sentence(text=words, labels=tuple(dict.fromkeys(_LABEL.findall(match[0]))))


def _check_labels(sentences: tuple[Sentence, ...], bundle: ContextBundle, *, bare: bool) -> Iterator[str]:
    known = {one.S for one in bundle.evidence}
    if bare:
        yield "the answer says nothing"
    for one in sentences:
        if not one.labels and NOT_FOUND not in one.text.casefold():
            yield f"no evidence is named for: {one.text}"
        yield from (f"there is no {label} in the evidence" for label in one.labels if label not in known)


def _check_citations(
    sentences: tuple[Sentence, ...], cited: list[Any] | None, bundle: ContextBundle
) -> Iterator[str]:
    used = sorted({label for one in sentences for label in one.labels}, key=lambda label: int(label[1:]))
    if cited is None:
        if used:
            yield "the answer ends without its citations"
        return
    right = {one.S: (one.chunk_id, cite_line(one, one.pdf)) for one in bundle.citations}
    said = {one.get("S"): one for one in cited if isinstance(one, dict)}
    for label in used:
        if label in right and label not in said:
            yield f"{label} is used and not cited"
    for name, one in said.items():
        label = str(name)
        if label not in right:
            yield f"{label} is cited and not in the evidence"
        elif (one.get("chunk_id"), one.get("citation")) != right[label]:
            yield f"{label} is cited as something else than the evidence says"
