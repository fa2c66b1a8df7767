"""The heap of a broker's JVM beside the memory that its container may use. Pure."""

import re
from collections.abc import Iterator, Mapping

import yaml

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.linted import Remark

HEAP = "KAFKA_HEAP_OPTS"
_LARGEST = re.compile(r"-Xmx(\d{1,9})([kmgt]?)(?![\w.])", re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)([kmgt]?)(?:i|b)?", re.IGNORECASE)
_OF_POD = "limits.memory"  # `m` is a unit of Kubernetes there
_LEAST_THOUSANDTHS = len("1000000m")  # what Kubernetes itself writes so is more
_THOUSANDTHS = re.compile(r"\d+m")
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("", "k", "m", "g", "t"))}


def limit_of_pod(body: Mapping[str, yaml.Node]) -> Property | None:
    """Return the limit of memory in `resources` of a pod's container, with its line; None where it has none."""
    node = yaml_nodes.mapping(yaml_nodes.mapping(body.get("resources")).get("limits")).get("memory")
    text = yaml_nodes.text(node) or ""
    return None if node is None else Property(_OF_POD, text, yaml_nodes.line(node))


def too_large_heap(options: str, limit: Property | None) -> Iterator[Remark]:
    """Yield that the heap may grow beyond the memory of its container; `options` are those of the JVM."""
    if limit is not None and limit.key == _OF_POD and _THOUSANDTHS.fullmatch(limit.value):
        if len(limit.value) < _LEAST_THOUSANDTHS:
            yield Remark(line=limit.line, text=f"{limit.value[:20]} of memory are thousandths of a byte: write Mi")
        return
    heap = _LARGEST.search(options)
    amount = _AMOUNT.fullmatch(limit.value.strip()) if limit is not None else None
    if limit is None or heap is None or amount is None:
        return
    most = float(amount[1]) * _UNITS[amount[2].lower()]
    if int(heap[1]) * _UNITS[heap[2].lower()] >= most > 0:
        text = (
            f"the heap may grow to {heap[1]}{heap[2]}, and the container's limit is {limit.value[:20]}: it is killed before that"
        )
        yield Remark(line=limit.line, text=text)
