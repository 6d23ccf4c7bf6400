"""Spans, as a collector of OTLP receives them."""

import pytest

from runtime.telemetry.delivery import Spans, open_spans, tracing_wanted
from schemas.settings import program_version
from tests.fakes.receiver import attributes, receiving


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "docs"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
    ],
)
def test_nothing_is_sent_unless_the_standard_variables_say_where_to(
    environ: dict[str, str], wanted: bool
) -> None:
    assert tracing_wanted(environ) is wanted
    if not wanted:
        assert type(open_spans(environ, say=pytest.fail)) is Spans


def test_a_collector_receives_spans_with_parents_attributes_and_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    with receiving() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_SERVICE_NAME": "docs-index"}
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        spans = open_spans(environ, say=said.append)
        run = spans.begin("run handbook")
        crawl = spans.begin("crawl", parent=run)
        crawl.fail("a seed is away")
        spans.end(crawl)
        run.set(generation=7, published=True, run_id=None)
        spans.end(run)
        spans.close()

    assert said == []
    inner, outer = receiver.spans()
    assert (inner.name, outer.name) == ("crawl", "run handbook")
    assert inner.parent_span_id == outer.span_id
    assert inner.trace_id == outer.trace_id
    assert (inner.status.code, inner.status.message) == (2, "a seed is away")
    assert attributes(outer) == {"sitegraph.generation": 7, "sitegraph.published": True}
    assert receiver.resource()["service.name"] == "docs-index"


@pytest.mark.parametrize(
    ("variables", "service", "version"),
    [
        ({}, "sitegraph", program_version()),
        ({"OTEL_SERVICE_NAME": "docs-index"}, "docs-index", program_version()),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=handbook,service.version=7"}, "handbook", "7"),
    ],
)
def test_spans_are_filed_under_our_name_unless_the_standard_variables_give_another(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], service: str, version: str
) -> None:
    for name in ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(name, raising=False)
    with receiving() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, **variables}
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        spans = open_spans(environ, say=pytest.fail)
        spans.end(spans.begin("crawl"))
        spans.close()

    resource = receiver.resource()
    assert (resource["service.name"], resource["service.version"]) == (service, version)
    assert resource["telemetry.sdk.name"] == "opentelemetry"


def test_a_span_goes_on_with_the_trace_of_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        spans = open_spans({"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}, say=pytest.fail)
        headers = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        spans.end(spans.begin("question", parent=headers))
        spans.end(spans.begin("question", parent={"traceparent": "rubbish"}))
        spans.close()

    known, own = receiver.spans()
    assert known.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert known.parent_span_id.hex() == "b7ad6b7169203331"
    assert own.parent_span_id == b""
    assert known.kind == own.kind == 2, "of a server"


def test_a_collector_that_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    with receiving(status=400) as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        spans = open_spans({"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}, say=said.append)
        for _ in range(3):
            spans.end(spans.begin("crawl"))
        spans.close()

    assert said == ["OpenTelemetry: spans cannot be sent; the receiver is away, or refuses them"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin", "zipkin is not known; use otlp or none"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "grpc is not known; use http/protobuf"),
    ],
)
def test_what_cannot_be_is_said_and_there_are_no_spans(name: str, value: str, words: str) -> None:
    said: list[str] = []
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", name: value}

    spans = open_spans(environ, say=said.append)

    assert type(spans) is Spans
    assert len(said) == 1
    assert words in said[0]


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.resources", None)

    spans = open_spans({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, say=said.append)

    assert type(spans) is Spans
    assert 'pip install "sitegraph[otel]"' in said[0]
