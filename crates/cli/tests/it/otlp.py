"""Reads sends of metrics with OpenTelemetry's own messages; prints the sums of each, by the labels of a point."""

import json
import sys

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE


def labels(point):
    return ",".join(f"{it.key}={it.value.string_value}" for it in point.attributes)


def values(metric):
    kind = metric.WhichOneof("data")
    data = getattr(metric, kind)
    if kind != "gauge":
        assert data.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE, metric.name
    if kind == "sum":
        assert data.is_monotonic, metric.name
    for point in data.data_points:
        assert 0 < point.start_time_unix_nano <= point.time_unix_nano, metric.name
        if kind != "histogram":
            yield labels(point), point.as_double
            continue
        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
        assert sum(point.bucket_counts) == point.count and (point.sum > 0) == (point.count > 0)
        assert list(point.explicit_bounds) == sorted(set(point.explicit_bounds))
        yield labels(point), float(point.count)


def read(path):
    request = ExportMetricsServiceRequest()
    with open(path, "rb") as file:
        request.ParseFromString(file.read())
    (resource,) = request.resource_metrics
    (scope,) = resource.scope_metrics
    about = {it.key: it.value.string_value for it in resource.resource.attributes}
    assert about["service.name"] == "dyno", about
    assert all(metric.description and metric.unit for metric in scope.metrics)
    return {metric.name: dict(values(metric)) for metric in scope.metrics}


print(json.dumps([read(path) for path in sys.argv[1:]]))
