"""The same cluster with other ids of brokers, other hosts, other topics, or its rows in another order."""

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from faults.claims import RANK
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, Row, Snapshot
from testbed.corpus.documents import Document

_IDS = frozenset(
    [
        "broker_id",
        "from_broker",
        "from_controller",
        "controller_id",
        "leader",
        "answered_by",
        "about_broker",
        "node_id",
        "leader_id",
        "replica_id",
        "voter_id",
        "fenced_id",
        "kraft_controller_id",
        "replicas",
        "isr",
        "offline_replicas",
        "adding",
        "removing",
        "eligible",
        "last_known",
    ]
)
"""Columns with ids of brokers and controllers."""
_COUNTS = frozenset({"log_dir"})
"""Tables where a column of that name is a number of replicas."""
_SORTED = frozenset({"isr", "offline_replicas", "eligible", "last_known"})
_ID_KEYS = {key: re.compile(r"^()(\d+)$") for key in ("broker.id", "node.id")} | {
    "controller.quorum.voters": re.compile(r"(^|,)(\d+)(?=@)")
}
_OBSERVER = re.compile(r"^((?:broker|properties|logs):)(\d+)$")
_REGISTRATION = re.compile(r"^(zookeeper /brokers/ids/)(\d+)$")
_FIRST_CONTROLLER = 100
"""The ids of controllers that are no brokers, in cases and in the test bed, begin here."""


def shuffled(snapshot: Snapshot, seed: int) -> Snapshot:
    """Return a snapshot with its rows in another order."""
    rows = list(snapshot.rows)
    random.Random(seed).shuffle(rows)  # noqa: S311 -- an order, no secret
    return replace(snapshot, rows=tuple(rows))


def with_ids(snapshot: Snapshot, ids: Mapping[int, int]) -> Snapshot:
    """Return a snapshot in which brokers have other ids; what logs quote stays."""
    return replace(snapshot, rows=tuple(_with_ids(row, ids) for row in snapshot.rows))


def other_ids(rows: Iterable[Row]) -> dict[int, int]:
    """Return another id for each broker, so that their order is reversed."""
    found: set[int] = set()
    for row in rows:
        for name in _IDS & {field.name for field in fields(row)}:
            value = getattr(row, name)
            if not (name == "replicas" and row.table() in _COUNTS):
                found |= set(value) if isinstance(value, tuple) else {value}
    brokers = [broker for broker in found - {None} if 0 <= broker < _FIRST_CONTROLLER]
    return {broker: max(brokers) + 3 - broker for broker in brokers}


def _with_ids(row: Row, ids: Mapping[int, int]) -> Row:
    changed: dict[str, Any] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if field.name in _IDS and not (field.name == "replicas" and row.table() in _COUNTS):
            if isinstance(value, tuple):
                moved = (ids.get(one, one) for one in value)
                changed[field.name] = tuple(sorted(moved) if field.name in _SORTED else moved)
            elif value is not None:
                changed[field.name] = ids.get(value, value)
        elif field.name == "observer":
            changed[field.name] = _moved(_OBSERVER, value, ids)
        elif field.name == "asked_again" and value is not None:
            changed[field.name] = tuple(_moved(_OBSERVER, one, ids) for one in value)
        elif field.name == "operation":
            changed[field.name] = _moved(_REGISTRATION, value, ids)
        elif field.name == "value" and isinstance(row, BrokerConfig | BrokerProperty) and value:
            form = _ID_KEYS.get(row.key)
            changed[field.name] = value if form is None else _moved(form, value, ids)
    return replace(row, **changed)


def _moved(form: re.Pattern[str], text: str, ids: Mapping[int, int]) -> str:
    return form.sub(lambda found: found[1] + str(ids.get(int(found[2]), found[2])), text)


def with_texts(snapshot: Snapshot, texts: Mapping[str, str]) -> Snapshot:
    """Return a snapshot in which each text stands for another one, wherever it is a whole word."""
    return replace(snapshot, rows=tuple(_with_texts(row, texts) for row in snapshot.rows))


def _with_texts(row: Row, texts: Mapping[str, str]) -> Row:
    changed = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if isinstance(value, str):
            changed[field.name] = in_words(value, texts)
        elif isinstance(value, tuple) and value and isinstance(value[0], str):
            changed[field.name] = tuple(in_words(one, texts) for one in value)
    return replace(row, **changed)


def in_words(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with its words replaced, the topic in the name of a partition (`orders-0`) too."""
    if not texts:
        return text
    words = "|".join(re.escape(word) for word in sorted(texts, key=len, reverse=True))
    return re.sub(rf"(?<![\w.-])(?:{words})(?!\w|-(?!\d+\b(?!-)))(?!\.\d)", lambda found: texts[found.group()], text)


def hosts_of(snapshot: Snapshot) -> list[str]:
    """Return the IPv4 addresses that brokers advertise."""
    found = {row.host for row in snapshot.rows if row.table() in {"registered_endpoint", "view_broker"}}
    return sorted(host for host in found if re.fullmatch(r"10\.\d+\.\d+\.\d+", host))


def topics_of(snapshot: Snapshot) -> list[str]:
    """Return the topics that have no meaning to Kafka or its tools."""
    found = {row.topic for row in snapshot.rows if row.table() in {"registered_topic", "view_topic"}}
    return sorted(topic for topic in found if re.fullmatch(r"[a-z]+", topic))


def shape(document: Document, ids: Mapping[int, int] | None = None, texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what a document says but for its words, with other names put in."""
    ids, texts = ids or {}, texts or {}

    def named(resource: str) -> str:
        resource = re.sub(r"^(broker|controller)/(\d+)", lambda found: f"{found[1]}/{ids.get(int(found[2]), found[2])}", resource)
        return in_words(resource.replace("/", " / "), texts).replace(" / ", "/")

    names = {one["fingerprint"]: f"{one['code']} {named(one['resource']['name'])}" for one in document["findings"]}
    findings = sorted(
        (one["code"], one["status"], one["severity"], one["confidence"], named(one["resource"]["name"]))
        for one in document["findings"]
    )
    incidents = sorted(
        (one["cause"], RANK[one["confidence"]], one["severity"], sorted(names[fingerprint] for fingerprint in one["findings"]))
        for one in document["incidents"]
    )
    return {"findings": findings, "incidents": incidents}
