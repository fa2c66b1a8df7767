"""Which clusters the overview lists, and in which groups: the filter in the URL, pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from kafka_audit.model.labels import has_labels, parse_label
from kafka_audit.report.state import INCIDENT, UNJUDGED

BY_STATE = ""
"""What clusters are grouped by if it is no label."""
_LONGEST = 200
_MOST_SELECTS = 5


@dataclass(frozen=True, kw_only=True)
class ClusterFilter:
    """A filter, and what clusters are grouped by; the default shows all clusters by state.

    Attributes:
        words: a cluster must contain all of them: in its name, state, headline or labels.
        labels: a cluster must have all of them.
        by: the name of a label, or `BY_STATE`.
    """

    words: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    by: str = BY_STATE

    @classmethod
    def of(cls, query: Iterable[tuple[str, str]]) -> "ClusterFilter":
        """Read an address: `words`, `by`, and `label` for each label; what is no label counts as not given."""
        given: dict[str, str] = {}
        labels: dict[str, str] = {}
        for key, value in query:
            if key == "label":
                labels |= _label(value[:_LONGEST])
            else:
                given[key] = value[:_LONGEST]
        return cls(words=given.get("words", "").strip(), labels=labels, by=given.get("by", BY_STATE))

    def query(self, kept: Mapping[str, str] | None = None, **changes: Any) -> str:  # noqa: ANN401 -- the fields' own types
        """Return the address of this filter with some values changed; `kept` are further parts of the address."""
        changed = replace(self, **changes)
        pairs = [*(kept or {}).items(), *([("words", changed.words)] if changed.words else [])]
        pairs += [("label", f"{name}={value}") for name, value in changed.labels.items()]
        return urlencode(pairs + ([("by", changed.by)] if changed.by != BY_STATE else []))

    @property
    def is_everything(self) -> bool:
        """Whether every cluster passes."""
        return not self.words and not self.labels

    def passes(self, entry: Mapping[str, Any]) -> bool:
        """Return whether an entry of the overview (`cluster`, `labels`, `state`) is listed."""
        state = entry["state"]
        labels = (f"{name}={value}" for name, value in entry["labels"].items())
        text = " ".join((entry["cluster"], state.word, state.note, state.sentence, *labels)).lower()
        return has_labels(entry["labels"], self.labels) and all(word in text for word in self.words.lower().split())


@dataclass(frozen=True, kw_only=True)
class ClusterGroup:
    """Entries under one title, worst first; `urgent` counts those that need someone, "" where none does."""

    title: str
    entries: Sequence[Mapping[str, Any]]
    urgent: str


def grouped(entries: Iterable[Mapping[str, Any]], by: str) -> list[ClusterGroup]:
    """Return groups of entries that are sorted worst first: by state, or by a label, the group with the worst entry first.

    Clusters without that label are a group.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        title = entry["state"].group if by == BY_STATE else entry["labels"].get(by, f"without {by}")
        found.setdefault(title, []).append(entry)
    return [ClusterGroup(title=title, entries=of, urgent=_urgent(of)) for title, of in found.items()]


def _urgent(entries: Sequence[Mapping[str, Any]]) -> str:
    numbers = Counter(entry["state"].group for entry in entries)
    parts = ((INCIDENT, "with an incident"), (UNJUDGED, "not judged"))
    return ", ".join(f"{numbers[group]} {words}" for group, words in parts if numbers[group])


def label_choices(entries: Sequence[Mapping[str, Any]], wanted: ClusterFilter) -> dict[str, list[tuple[str, int]]]:
    """Return for the most used names of labels their values, with the number of clusters; a wanted value is always among them."""
    numbers = Counter((name, value) for entry in entries for name, value in entry["labels"].items())
    for pair in wanted.labels.items():
        numbers[pair] += 0
    used = Counter(name for name, _ in numbers.elements())
    names = sorted({name for name, _ in numbers}, key=lambda name: (name not in wanted.labels, -used[name], name))[:_MOST_SELECTS]
    return {name: [(value, number) for (of, value), number in sorted(numbers.items()) if of == name] for name in sorted(names)}


def label_names(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of all labels."""
    return sorted({name for entry in entries for name in entry["labels"]})


def _label(text: str) -> dict[str, str]:
    try:
        return dict([parse_label(text)])
    except ValueError:
        return {}
