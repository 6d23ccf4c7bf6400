"""Metrics in the text format of Prometheus, and as the textfile that node_exporter collects."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from prometheus_client import CollectorRegistry, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from runtime.telemetry.catalogue import MetricType
from runtime.telemetry.families import MetricFamily
from schemas.usage_counts import BUCKETS, Durations


class _Families(Collector):
    """Gives a registry what is known already."""

    def __init__(self, families: Sequence[MetricFamily]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            yield _metric(family)


def _metric(family: MetricFamily) -> Metric:
    definition = family.definition
    named = (definition.name, definition.help)
    labels = ("index", *definition.labels)
    histogram = HistogramMetricFamily(*named, labels=labels)
    counter = definition.type is MetricType.COUNTER
    plain = (CounterMetricFamily if counter else GaugeMetricFamily)(*named, labels=labels)
    for values, value in family.samples:
        if isinstance(value, Durations):
            histogram.add_metric(values, _buckets(value), value.seconds)
        else:
            plain.add_metric(values, value)
    return histogram if definition.type is MetricType.HISTOGRAM else plain


def _buckets(durations: Durations) -> list[tuple[str, float]]:
    """Sum up in each bucket what is in those before it. Source: prometheus.io/docs/concepts/metric_types."""
    bounds = (*map(str, BUCKETS), "+Inf")
    return list(zip(bounds, map(float, accumulate(durations.counts)), strict=True))


def render(
    families: Sequence[MetricFamily], *, accept: str, counted: CollectorRegistry | None, folder: str | None
) -> tuple[bytes, str]:
    """Return what a scrape is answered, and its content type, as the *accept* header asks.

    *counted* are the counters of this process; with a *folder*, those of all processes that count there.
    """
    encode, content_type = choose_encoder(accept)
    registry = CollectorRegistry()
    if folder is not None:
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    elif counted is not None:
        registry = counted
    both = CollectorRegistry()
    both.register(_Families(families))
    both.register(_Collected(registry))
    return encode(both), content_type


class _Collected(Collector):
    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        yield from self._registry.collect()


def write_textfile(path: Path, families: Sequence[MetricFamily]) -> None:
    """Replace the file by rename: a run that is killed leaves the one before whole.

    Until then it has a name that node_exporter does not read. Raises: OSError: it cannot be written.
    """
    registry = CollectorRegistry()
    registry.register(_Families(families))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_to_textfile(str(path), registry)
