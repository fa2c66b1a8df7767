"""The heap of a broker's JVM beside the memory that its container may use, and what it keeps beside its volume. Pure."""

import re
from collections.abc import Iterator

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark

HEAP = "KAFKA_HEAP_OPTS"
_LARGEST = re.compile(r"-Xmx(\d{1,9})([kmgt]?)(?![\w.])", re.IGNORECASE)
_FIRST = re.compile(r"-Xms(\d{1,9})([kmgt]?)(?![\w.])", re.IGNORECASE)
_LEAST = 2 << 20  # bytes with which a JVM starts at all
# Bytes beside the heap that are few for a broker; Kafka 3.9.1 took 167 MiB, with 50 partitions and one producer.
_BESIDE = 256 << 20
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)([kmgt]?)(?:i|b)?", re.IGNORECASE)
_OF_POD = "limits.memory"  # `m` is a unit of Kubernetes there
_LEAST_THOUSANDTHS = len("1000000m")  # what Kubernetes itself writes so is more
_THOUSANDTHS = re.compile(r"\d+m")
_MOST_DIGITS = 19  # of a number of 64 bits
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("", "k", "m", "g", "t"))}


def limit_of_pod(body: YamlMapping) -> Property | None:
    """Return the limit of memory in `resources` of a pod's container, with its line; None where it has none."""
    node = body.node("resources", "limits", "memory")
    text = yaml_nodes.text(node) or ""
    return None if node is None else Property(_OF_POD, text, yaml_nodes.line(node))


def heap_remarks(options: str, limit: Property | None, line: int = 0) -> Iterator[Remark]:
    """Yield that Java refuses the heap, or that its container has no memory for it and for what Java has beside it.

    Args:
        options: those of the JVM.
        limit: of the container.
        line: where the file has the options, 0 where it has none.
    """
    if limit is not None and limit.key == _OF_POD and _THOUSANDTHS.fullmatch(limit.value):
        if len(limit.value) < _LEAST_THOUSANDTHS:
            yield Remark(line=limit.line, text=f"{limit.value[:20]} of memory are thousandths of a byte: write Mi")
        return
    heap, first = _LARGEST.search(options), _FIRST.search(options)
    most = int(heap[1]) * _UNITS[heap[2].lower()] if heap else 0
    if line and heap and first and int(first[1]) * _UNITS[first[2].lower()] > most:
        yield Remark(line=line, text=f"Java refuses {first[0]} above {heap[0]}")
    elif line and heap and most < _LEAST:
        yield Remark(line=line, text=f"Java refuses {heap[0]}: that is {most} bytes, and needs a unit such as m or g")
    amount = _AMOUNT.fullmatch(limit.value.strip()) if limit is not None else None
    if limit is None or heap is None or amount is None:
        return
    left = int(float(amount[1]) * _UNITS[amount[2].lower()]) - most
    if -most < left < _BESIDE:
        heap_text, limit_text = f"{heap[1]}{heap[2]}", limit.value[:20]
        text = f"the heap may grow to {heap_text}, and the container's limit is {limit_text}: it is killed before that"
        if left > 0:
            text = (
                f"the limit {limit_text} leaves {left >> 20} MiB beside the heap of {heap_text}: "
                "a small broker needs about 170, and more with an agent, TLS or many partitions, or it is killed"
            )
        yield Remark(line=limit.line, text=text)


def claim_remarks(retained: Property | None, claim: Property | None) -> Iterator[Remark]:
    """Yield that one partition may keep as much as its volume holds, so that the disk is full before size deletes anything.

    Args:
        retained: `log.retention.bytes`, which holds for each partition.
        claim: the size of the volume.
    """
    if retained is None or claim is None or not retained.value.strip().isdecimal():
        return
    amount = _AMOUNT.fullmatch(claim.value.strip())
    size = float(amount[1]) * _UNITS[amount[2].lower()] if amount else 0
    if 0 < size <= int(retained.value.strip()[:_MOST_DIGITS]):
        text = f"each partition may keep as much as the volume holds ({claim.value[:20]}): the disk is full before size deletes"
        yield Remark(line=retained.line, text=text)
