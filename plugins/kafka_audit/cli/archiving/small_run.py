"""A run over two small snapshots with differences, which loads the classes that every run needs."""

from pathlib import Path

from kafka_audit.model.cluster import WORKER
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.model.tables import (
    BrokerIdentity,
    BrokerView,
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
    TopicConfig,
    ViewBroker,
    ViewPartition,
    ViewTopic,
)
from kafka_audit.store import Store

RUN = "small"
_CLUSTER_ID = "small-cluster"
_BROKERS = (0, 1)
_SAMPLES = (1, 2)
_LISTENER = "PLAINTEXT"
_PORT = 9092


def write_small_run(folder: Path) -> None:
    """Write the snapshots and the request of run `RUN` to a store in `folder`."""
    store = Store(folder)
    for number, leader in enumerate(_BROKERS):
        rows = (*_zookeeper(leader), *_views(), *_endpoints())
        store.write(Snapshot(snapshot_id=_id(number), cluster="small", cluster_id=_CLUSTER_ID, rows=rows))
    store.write_request(Request(run_id=RUN, pairs=(SnapshotPair(snapshot_id=_id(1), previous_snapshot_id=_id(0)),)))


def _id(number: int) -> str:
    return f"20260101T00000{number}Z-small-0000"


def _zookeeper(leader: int) -> list[Row]:
    """Return the view of ZooKeeper: one topic with one partition, one of its two replicas in sync."""
    rows: list[Row] = [
        SnapshotInfo(
            cluster="small",
            mode="zookeeper",
            tool_version="0",
            started_ms=0,
            finished_ms=1,
            samples=len(_SAMPLES),
            settle_s=1.0,
            leader_moves=0.2,
            skew_s=60.0,
        ),
        TopicConfig(observer="zookeeper", topic="orders", key="min.insync.replicas", value="1"),
        RegisteredTopic(
            sample=_SAMPLES[0], last_sample=_SAMPLES[-1], topic="orders", topic_id=None, czxid=1, mzxid=1, deleting=False
        ),
        RegisteredPartition(
            sample=_SAMPLES[0],
            last_sample=_SAMPLES[-1],
            topic="orders",
            partition=0,
            replicas=_BROKERS,
            leader=leader,
            leader_epoch=leader,
            controller_epoch=1,
            isr=(leader,),
            leader_recovery_state=0,
            state_mzxid=1,
        ),
    ]
    for sample in _SAMPLES:
        rows += [
            Sample(sample=sample, started_ms=0, finished_ms=1, reason="first"),
            Registry(
                sample=sample,
                kafka_cluster_id=_CLUSTER_ID,
                controller_id=0,
                controller_epoch=1,
                controller_mzxid=1,
                brokers_pzxid=1,
                zxid_before=9,
                zxid_after=9,
            ),
        ]
    return rows


def _views() -> list[Row]:
    """Return the views of the brokers; broker 1 lists an old leader."""
    rows: list[Row] = []
    for broker in _BROKERS:
        digest, topic_digest = f"topics-{broker}", f"orders-{broker}"
        rows += [
            ViewTopic(topics_digest=digest, topic="orders", topic_id=None, topic_digest=topic_digest, error=0),
            ViewPartition(
                topic_digest=topic_digest,
                topic="orders",
                partition=0,
                error=0,
                leader=0,
                leader_epoch=0,
                replicas=_BROKERS,
                isr=_BROKERS,
                offline_replicas=(),
            ),
            ViewBroker(brokers_digest="brokers", broker_id=broker, host=_host(broker), port=_PORT, rack=None),
        ]
        rows += [
            BrokerView(
                sample=sample,
                observer=f"broker:{broker}",
                broker_id=broker,
                listener=_LISTENER,
                address=f"{_host(broker)}:{_PORT}",
                kafka_cluster_id=_CLUSTER_ID,
                controller_id=0,
                brokers_listed=len(_BROKERS),
                topics_listed=1,
                brokers_digest="brokers",
                topics_digest=digest,
                metadata_version=9,
            )
            for sample in _SAMPLES
        ]
    return rows


def _endpoints() -> list[Row]:
    """Return registered endpoints, the identities that answer there, and successful probes."""
    rows: list[Row] = []
    for broker in _BROKERS:
        for sample in _SAMPLES:
            rows += [
                RegisteredBroker(
                    sample=sample, broker_id=broker, rack=None, ephemeral_owner=1, registered_ms=0, czxid=1, mzxid=1
                ),
                RegisteredEndpoint(
                    sample=sample, protocol=_LISTENER, host=_host(broker), port=_PORT, broker_id=broker, listener=_LISTENER
                ),
                BrokerIdentity(
                    sample=sample,
                    address=f"{_host(broker)}:{_PORT}",
                    answered_by=broker,
                    kafka_cluster_id=_CLUSTER_ID,
                    broker_id=broker,
                    listener=_LISTENER,
                ),
                Probe(
                    sample=sample,
                    vantage=WORKER,
                    role="client",
                    from_broker=None,
                    protocol=_LISTENER,
                    host=_host(broker),
                    port=_PORT,
                    via=None,
                    layer="tcp",
                    outcome="ok",
                    error=None,
                    detail=None,
                    broker_id=broker,
                    listener=_LISTENER,
                ),
            ]
    return rows


def _host(broker: int) -> str:
    return f"10.0.0.{broker}"
