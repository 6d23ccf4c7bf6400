"""Whether a tool could be called with the inputs at hand, by the JSON Schema that its file states."""

import json
from collections.abc import Collection
from typing import Any

from retrieval.graph.tools import ToolInScope
from schemas.evidence import Evidence, Query, ToolPlan

PROBLEMS_MAX = 10
_PROBLEM_LENGTH = 300


def plan_tool(
    query: Query, tools: Collection[ToolInScope], evidence: Collection[Evidence], *, graph_read: bool
) -> ToolPlan | None:
    """Return the plan for the tool in scope, the best where several are; None where none is.

    A tool that the asker names and the index does not know, or whose graph was not read, is a plan too,
    which says so.
    """
    use = query.tool
    if not tools:
        why = "the index knows no such tool" if graph_read else "tools are in the graph, which was not read"
        return ToolPlan(name=use.name, inputs=use.inputs, problems=(why,)) if use else None
    best = next(iter(tools))
    tool, inputs = best.tool, use.inputs if use else None
    schema = read_schema(tool.input_schema)
    problems = () if inputs is None or schema is None else check_inputs(schema, inputs)
    return ToolPlan(
        name=tool.name,
        tool_id=tool.id,
        tool_type=tool.tool_type,
        description=tool.description,
        endpoints=tool.endpoints,
        input_schema=schema,
        inputs=inputs,
        valid=None if inputs is None or schema is None else not problems,
        problems=problems,
        defined_by=next((one.S for one in evidence if one.chunk_id == best.chunk), None),
    )


def read_schema(text: str | None) -> dict[str, Any] | None:
    """Read what a tool's file states as its schema; None where that is nothing or no object."""
    found = json.loads(text) if text else None
    return found if isinstance(found, dict) else None


def check_inputs(schema: dict[str, Any], inputs: Any) -> tuple[str, ...]:
    """Say what of *inputs* breaks *schema*, by place, at most 10; empty where nothing does.

    Nothing is fetched: a reference that leads out of the schema is a problem. Without `$schema` it is read as
    draft 2020-12.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        found = sorted(
            (error.json_path, error.message)
            for error in kind(schema, registry=Registry()).iter_errors(inputs)
        )
    except SchemaError as error:
        return (f"the tool's own schema is none: {error.message}"[:_PROBLEM_LENGTH],)
    except Unresolvable as error:
        return (f"the tool's own schema refers to what is not in it: {error.ref}"[:_PROBLEM_LENGTH],)
    return tuple(f"{place}: {message}"[:_PROBLEM_LENGTH] for place, message in found[:PROBLEMS_MAX])
