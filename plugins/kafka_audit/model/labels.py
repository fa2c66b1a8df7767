"""Labels of clusters: what they may hold, and which clusters have some. Pure."""

import re
from collections.abc import Iterable, Mapping

from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean, did_you_mean, listing

LONGEST_VALUE = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")


def is_label_name(text: str) -> bool:
    """Return whether a text may be a label's name."""
    return _NAME.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """Return whether a text may be a label's value."""
    return len(text) <= LONGEST_VALUE and text.isprintable() and text == text.strip()


def parse_label(text: str) -> tuple[str, str]:
    """Return name and value of `env=prod`; raises `ValueError`."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and is_label_name(name) and value):
        msg = f"{clean(text)!r} is not a label such as env=prod"
        raise ValueError(msg)
    return name, value


def all_labels(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return labels by name; raises `UsageError` for two values of one name, which no cluster has."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            msg = f"a cluster has one value of a label, not {name}={clean(found[name])} and {name}={clean(value)}"
            raise UsageError(msg)
    return found


def has_labels(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Return whether all wanted labels are among the labels of a cluster."""
    return all(labels.get(name) == value for name, value in wanted.items())


def with_labels(clusters: Mapping[str, Cluster], wanted: Mapping[str, str], file: str) -> dict[str, Cluster]:
    """Return the clusters that have all wanted labels; all clusters where none is wanted.

    Raises:
        UsageError: no cluster has them; it names the cluster file and the nearest label.
    """
    found = {name: cluster for name, cluster in clusters.items() if has_labels(cluster.labels, wanted)}
    if found or not wanted:
        return found
    known = {f"{name}={value}" for cluster in clusters.values() for name, value in cluster.labels.items()}
    for name, value in wanted.items():
        text = f"{name}={value}"
        if text not in known:
            other = sorted(label for label in known if label.startswith(f"{name}="))
            labels = f"; the labels are {listing(other or sorted(known), 20)}" if known else "; no cluster has labels"
            msg = f"{file}: no cluster has the label {clean(text)}{did_you_mean(text, known) or labels}"
            raise UsageError(msg)
    msg = f"{file}: no cluster has all labels {listing(f'{name}={value}' for name, value in wanted.items())}"
    raise UsageError(msg)
