"""What a node sets, by its file or by its own answer, and as KafkaConfig of a release reads it."""

from collections.abc import Mapping

from kafka_audit.cluster.settings import Settings
from kafka_audit.configuration.definitions import definitions
from kafka_audit.configuration.near_keys import DYNAMIC_ALONE
from kafka_audit.model.tables.views import DEFAULT_SOURCE, STATIC_SOURCE

_TEXTS = frozenset({"STRING", "LIST", "PASSWORD"})


def set_lines(settings: Settings, node: int) -> Mapping[str, str | None] | None:
    """Return what a node sets: its file, else what it reports, which has all keys of its file; None where neither was read.

    What something else may add to a file has no line, and is not among them, nor is what only a dynamic setting can be.
    """
    if node in settings.every_file:
        return {key: line.value for key, line in settings.every_file[node].items() if line.line}
    answers = settings.reported(node)
    own = {key: row for key, row in answers.items() if row.source == STATIC_SOURCE or key not in DYNAMIC_ALONE}
    return {key: row.value for key, row in own.items() if row.source != DEFAULT_SOURCE} if answers else None


def start_values(lines: Mapping[str, str | None], version: str) -> Mapping[str, str]:
    """Return what KafkaConfig is given: a secret counts as set, and as sound where it is no text."""
    known = definitions(version)
    return {
        key: "hidden" if value is None else value
        for key, value in lines.items()
        if value is not None or key not in known or known[key].type in _TEXTS
    }
