"""Snapshots in a few words, for tests that judge findings and not rows.

brokers: {0: 10.99.0.10:9092, 2: {PLAINTEXT: 10.98.0.12:9092}}     registered endpoints (protocol = listener name)
controller: 0                                                      /controller; "absent"; leave out with zookeeper: false
views: {0: full, 2: empty, 1: [0, 1]}                              what each broker lists; left out: gave no view
listed: {1: {0: kafka-0.corp:9092}}                                addresses in a view that are not the registered ones
partitions: {orders/0: {replicas: [0, 1], leader: 0, isr: [0]}}
probes: [{to: 2, from: 0, fails: tcp, error: no route to host}, {to: 1, vantage: worker}]
configs: {2: {authorizer.class.name: "", super.users: null}}       null: hidden
properties: {2: {super.users: "User:admin"}}                       lines of server.properties
acls: [["User:*", All, DENY]]                                      on the cluster, held by ZooKeeper
logs: [{broker: 0, about: 2, signature: connection_not_established}]   20 lines since the start, if not told
identities: {-1: {answered_by: 2, address: "x:9092"}}              who answered where
groups: {billing: {at: 1, client: sarama, host: 10.1.1.1, partitions: [orders-0]}}
reads: [{observer: broker:2, operation: Metadata, outcome: failed, error: timeout}]
"""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import cluster_views
from checks.world import ZOOKEEPER_READS
from kafka_audit.checks import Check
from kafka_audit.cluster.given import given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.probes.reported_values import reported_values
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.model.finding import (
    Address,
    Change,
    Confidence,
    Finding,
    Lifecycle,
    Resource,
    Severity,
    Status,
    fingerprint,
    from_json,
)
from kafka_audit.model.tables import (
    LARGE,
    Acl,
    AclHolder,
    BrokerConfig,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    GroupMember,
    LogLine,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewBroker,
)
from told_failures import with_failure

CLUSTER_ID = "kX9wAAAAAAAAAAAAAAAAAQ"
LAYERS = ("dns", "tcp", "api")


def snapshot(spec: Mapping[str, Any], snapshot_id: str = "20260914T180000Z-prod-0001") -> Snapshot:
    """Build a snapshot from the words above."""
    looks = [Sample(sample=1, started_ms=1789408782000, finished_ms=1789408783000, reason="first")]
    rows: list[Row] = [_info(spec), *looks, *_registered(spec), *_views(spec), *_probes(spec)]
    topics = dict.fromkeys(name.rpartition("/")[0] for name in spec.get("partitions", {}))
    rows.extend(
        RegisteredTopic(sample=1, last_sample=1, topic=topic, topic_id=None, czxid=1, mzxid=1, deleting=False) for topic in topics
    )
    rows.extend(RegisteredPartition(**_partition(name, row)) for name, row in spec.get("partitions", {}).items())
    rows.extend(_config(broker, key, value) for broker, keys in spec.get("configs", {}).items() for key, value in keys.items())
    rows.extend(
        _property(broker, key, value) for broker, keys in spec.get("properties", {}).items() for key, value in keys.items()
    )
    rows.extend(_acls(spec.get("acls")))
    rows.extend(log_line(**row) for row in spec.get("logs", []))
    rows.extend(_identity(broker, row) for broker, row in spec.get("identities", {}).items())
    rows.extend(_group_member(name, row) for name, row in spec.get("groups", {}).items())
    rows.extend(
        SourceRead(
            **{"sample": 1, "operation": "Metadata", "target": "10.99.0.1:9092", "outcome": "answered", **with_failure(read)}
        )
        for read in spec.get("reads", [])
    )
    return Snapshot(snapshot_id=snapshot_id, cluster="prod", cluster_id=CLUSTER_ID, rows=tuple(rows))


ANSWERED = {
    "zookeeper": ("ids", "controller", "controller_epoch", "cluster/id", "topics"),
    "broker": ("ApiVersions", "Metadata", "DescribeConfigs BROKER", "DescribeConfigs identity"),
}
"""Reads that were answered where a cluster says nothing of them."""


def settled(once: Snapshot) -> Snapshot:
    """Return the snapshot of a cluster that was asked twice, with the same answers, so that checks judge it."""
    rows: list[Row] = []
    for row in once.rows:
        if isinstance(row, RegisteredTopic | RegisteredPartition):
            rows.append(replace(row, last_sample=2))
        else:
            rows += [row, replace(row, sample=2)] if hasattr(row, "sample") else [row]
    asked = {(row.observer, row.operation) for row in once.of(SourceRead)}
    answers = [(row.observer, operation) for row in once.of(BrokerView) for operation in ANSWERED["broker"]]
    if once.of(Registry):
        answers += [("zookeeper", ZOOKEEPER_READS[name]) for name in ANSWERED["zookeeper"]]
    for observer, operation in answers:
        if (observer, operation) not in asked:
            head = {"observer": observer, "operation": operation, "target": "10.99.0.1:9092", "outcome": "answered"}
            rows += [SourceRead(sample=sample, **head) for sample in (1, 2)]
    return replace(once, rows=tuple(rows))


def view(judged: Mapping[str, Any] | Snapshot) -> ClusterView:
    """Return the cluster view of a snapshot, or of one in the words above."""
    seen = judged if isinstance(judged, Snapshot) else snapshot(judged)
    return ClusterView(seen, None, _differences(seen.snapshot_id, seen.rows))


@cache  # tests of reports ask for the same clusters again and again
def _differences(snapshot_id: str, rows: tuple[Row, ...]) -> Differences:
    seen = Snapshot(snapshot_id=snapshot_id, cluster="prod", cluster_id=CLUSTER_ID, rows=rows)
    if not any(seen.of(table) for table in LARGE):
        return Differences.from_rows(DIFFERENCES, ())
    return cluster_views.differences([seen], {snapshot_id: given(seen, None, ())})[snapshot_id]


def _info(spec: Mapping[str, Any]) -> SnapshotInfo:
    return SnapshotInfo(
        cluster="prod",
        mode=spec.get("mode", "zookeeper"),
        tool_version="0.1.0",
        started_ms=1789408782000,
        finished_ms=1789408800000,
        samples=2,
        settle_s=5.0,
        leader_moves=0.2,
        skew_s=60.0,
        client_vantages=spec.get("client_vantages", 1),
        broker_vantages=spec.get("broker_vantages", 0),
    )


def _endpoints(spec: Mapping[str, Any]) -> list[tuple[int, str, str, int]]:
    found = []
    for broker, told in spec.get("brokers", {}).items():
        for listener, address in (told if isinstance(told, Mapping) else {"PLAINTEXT": told}).items():
            host, _, port = address.rpartition(":")
            found.append((broker, listener, host, int(port)))
    return found


def _registered(spec: Mapping[str, Any]) -> list[Row]:
    if not spec.get("zookeeper", True) or spec.get("mode") == "kraft":
        return []
    gone = spec.get("not_registered", [])
    controller = spec.get("controller", 0)
    rows: list[Row] = [
        Registry(
            sample=1,
            kafka_cluster_id=CLUSTER_ID,
            controller_id=None if controller == "absent" else controller,
            controller_epoch=7,
            controller_mzxid=1,
            brokers_pzxid=1,
            zxid_before=9,
            zxid_after=9,
        )
    ]
    rows.extend(
        RegisteredBroker(sample=1, broker_id=b, rack=None, ephemeral_owner=1, registered_ms=0, czxid=1, mzxid=1)
        for b in spec.get("brokers", {})
        if b not in gone
    )
    rows.extend(
        RegisteredEndpoint(sample=1, broker_id=b, listener=listener, protocol=listener, host=host, port=port)
        for b, listener, host, port in _endpoints(spec)
        if b not in gone
    )
    return rows


def _views(spec: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    listeners = {broker: listener for broker, listener, _, _ in reversed(_endpoints(spec))}
    for broker, told in spec.get("views", {}).items():
        ids = {"full": [b for b in spec["brokers"] if b not in spec.get("not_registered", [])], "empty": []}.get(str(told), told)
        elsewhere = spec.get("listed", {}).get(broker, {})
        digest = f"{listeners[broker]} {ids} {elsewhere or ''}".rstrip()
        rows.append(
            BrokerView(
                sample=1,
                observer=f"broker:{broker}",
                broker_id=broker,
                listener=listeners[broker],
                address="10.0.0.1:9092",
                kafka_cluster_id=CLUSTER_ID,
                controller_id=spec.get("controller", 0) if ids and spec.get("controller") != "absent" else -1,
                brokers_listed=len(ids),
                topics_listed=len(ids),
                brokers_digest=digest,
                topics_digest=digest,
                metadata_version=9,
            )
        )
        places = {b: f"{host}:{port}" for b, listener, host, port in _endpoints(spec) if listener == listeners[broker]}
        for b, address in (places | elsewhere).items():
            host, _, port = address.rpartition(":")
            if b in ids:
                rows.append(ViewBroker(brokers_digest=digest, broker_id=b, host=host, port=int(port), rack=None))
    return rows


def _probes(spec: Mapping[str, Any]) -> list[Row]:
    places = {(broker, listener): (host, port) for broker, listener, host, port in _endpoints(spec)}
    rows: list[Row] = []
    for probe in spec.get("probes", []):
        listener = probe.get("listener", "PLAINTEXT")
        host, port = places[probe["to"], listener]
        stop = probe.get("fails") or probe.get("unknown")
        for layer in probe.get("layers", LAYERS):
            outcome = "ok" if layer != stop else "failed" if "fails" in probe else "unknown"
            rows.append(
                Probe(
                    sample=1,
                    vantage=probe.get("vantage", "brokers" if "from" in probe else "worker"),
                    role="broker" if "from" in probe else "client",
                    from_broker=probe.get("from"),
                    broker_id=probe["to"],
                    listener=listener,
                    protocol=listener,
                    host=host,
                    port=port,
                    via=probe.get("via"),
                    layer=layer,
                    outcome=outcome,
                    detail=probe.get("resolved") if layer == "dns" else None,
                    needs=probe.get("needs") if layer == stop else None,
                    **with_failure({key: probe.get(key) if layer == stop else None for key in ("error", "reason")}),
                    **reported_values("dns", probe.get("resolved") if layer == "dns" else None),
                )
            )
            if layer == stop:
                break
    return rows


def _partition(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    topic, _, number = name.rpartition("/")
    whole = {
        "leader_epoch": 1,
        "controller_epoch": 7,
        "leader_recovery_state": 0,
        "state_mzxid": 1,
        "isr": row["replicas"],
        **row,
    }
    whole |= {"replicas": tuple(whole["replicas"]), "isr": tuple(sorted(whole["isr"]))}
    return {"sample": 1, "last_sample": 1, "topic": topic, "partition": int(number), "leader": row["replicas"][0], **whole}


def _config(broker: int, key: str, value: str | None) -> BrokerConfig:
    return BrokerConfig(observer=f"broker:{broker}", broker_id=broker, key=key, value=value, source=4, sensitive=value is None)


def _property(broker: int, key: str, value: str) -> BrokerProperty:
    return BrokerProperty(source=f"{broker}.properties", broker_id=broker, key=key, value=value, secret=False, line=1)


def _acls(spec: list[list[str]] | None) -> list[Row]:
    if spec is None:
        return []
    rows: list[Row] = [AclHolder(sample=1, observer="zookeeper", broker_id=None, acls_digest="d", acls=len(spec))]
    for principal, operation, permission in spec:
        about = {"resource_type": "Cluster", "resource_name": "kafka-cluster", "pattern_type": "LITERAL", "host": "*"}
        rows.append(Acl(acls_digest="d", principal=principal, operation=operation, permission=permission, **about))
    return rows


def log_line(*, broker: int, about: int, **told: Any) -> LogLine:
    end = 1789408800000
    row = {"sample": 1, "log": "server.log", "part": None, "address": None, "detail": None, "text": "WARN it says so"}
    row |= {"written": "2026-09-14 18:00:00,000", "matches": 20, "since_start": 20, "zone": "registration", "read_ms": end}
    row |= {"first_ms": end - 20_000, "since_ms": end - 20_000, "last_ms": end - 1000}
    return LogLine(broker_id=broker, about_broker=about, **(row | told))


def _identity(broker: int, row: Mapping[str, Any]) -> BrokerIdentity:
    return BrokerIdentity(
        **{"sample": 1, "broker_id": broker, "listener": "PLAINTEXT", "address": "a:1", "kafka_cluster_id": CLUSTER_ID, **row}
    )


def _group_member(name: str, row: Mapping[str, Any]) -> GroupMember:
    head = {"sample": 1, "observer": f"broker:{row['at']}", "broker_id": row["at"], "group": name, "state": "Stable"}
    return GroupMember(**head, client_id=row["client"], host=row["host"], partitions=tuple(row["partitions"]))


def finding(code: str, resource: str, **told: Any) -> Finding:
    """Build a finding; severity HIGH, FAIL, measured and new unless `told` otherwise."""
    return Finding(
        code=code,
        name=told.get("name", "some_fault"),
        status=Status(told.get("status", "FAIL")),
        severity=Severity[told.get("severity", "HIGH")],
        confidence=Confidence(told.get("confidence", "measured")),
        resource=Resource.of(resource),
        message=told.get("message", f"{code} at {resource}"),
        evidence=from_json(told.get("evidence", {})),
        remedy=(told["remediation"],) if "remediation" in told else (),
        fingerprint=fingerprint(code, CLUSTER_ID, resource),
        lifecycle=Lifecycle(told.get("lifecycle", "new")),
        muted=told.get("muted", False),
    )


def change(**told: Any) -> Change:
    """Build a change; addresses are written as `{host, port}`."""
    addresses = {key: tuple(Address(**one) for one in told.get(key, ())) for key in ("addresses_before", "addresses_after")}
    return Change(**{"before": None, "after": None, **told, **addresses})


def check(code: str, **told: Any) -> Check:
    """Build a check that nobody registered, for tests of what is done with its judgements."""
    return Check(
        code=code,
        name=told.get("name", "some_fault"),
        family="tests",
        severity=told.get("severity", Severity.HIGH),
        needs=told.get("needs", ()),
        says=told.get("says", {Status.FAIL: "Broker {broker} fails"}),
        function=lambda: "",
        kind="audit",
        doc=inspect.cleandoc(told.get("doc", "")),
    )
