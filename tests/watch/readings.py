"""Readings in a few words: a healthy cluster of three brokers, and what differs from it."""

from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    Migration,
    QuorumReplica,
    QuorumView,
    RegisteredBroker,
    RegisteredEndpoint,
    Registry,
    ViewBroker,
)
from kafka_audit.watch.judgement import Patience, WatchState, next_state
from kafka_audit.watch.reading import (
    ANSWERED,
    NOT_ASKED,
    BrokerReading,
    ControllerReading,
    Reading,
    ReadList,
    WatchAnswer,
    WatchOutcome,
    ZookeeperReading,
)
from made_rows import made

EVERY = frozenset({0, 1, 2})
REFUSED = WatchAnswer(outcome=WatchOutcome.FAILED, error="connection refused", failure=ReadFailure.REFUSED)
TIMEOUT = WatchAnswer(outcome=WatchOutcome.FAILED, error="timeout", failure=ReadFailure.TIMEOUT)
DENIED = WatchAnswer(outcome=WatchOutcome.UNKNOWN, error="CLUSTER_AUTHORIZATION_FAILED", failure=ReadFailure.NOT_AUTHORIZED)


def listed(ids, **elsewhere):
    """Return a list of these brokers, each at its address, or at the host that `b2` and so on name."""
    places = [(number, elsewhere.get(f"b{number}", f"b{number}")) for number in sorted(ids)]
    digest = str(places)
    rows = (ViewBroker(brokers_digest=digest, broker_id=n, host=host, port=9092, rack=None) for n, host in places)
    return ReadList(digest=digest, rows=tuple(rows))


def broker(number, lists=EVERY, **fields):
    return BrokerReading(
        **{
            "broker_id": number,
            "address": f"b{number}:9092",
            "listener": "PLAINTEXT",
            "api_versions": ANSWERED,
            "metadata": ANSWERED,
            "kraft": False,
            "listed": None if lists is None else listed(lists),
            "cluster_id": "abc",
            "controller_id": 0,
            **fields,
        }
    )


def down(number, error="connection refused", process=None):
    failed = WatchAnswer(outcome=WatchOutcome.FAILED, error=error)
    return BrokerReading(broker_id=number, address=f"b{number}:9092", api_versions=failed, process=process)


def led(party, leader=0, epoch=7, committed=None):
    return QuorumView(sample=1, observer=party, node_id=None, leader_id=leader, leader_epoch=epoch, high_watermark=committed)


def in_kraft(number, leader=0, epoch=7, committed=None, **fields):
    """Return a broker in KRaft mode, which says of the quorum's leader nothing if that is None."""
    word = None if leader is None else led(f"broker:{number}", leader, epoch, committed)
    return broker(number, **{"kraft": True, "controller_id": number, "quorum": ANSWERED, "led": word, **fields})


def controller(address, leader=None, epoch=7):
    """Return a controller, which leads if it names a leader."""
    return ControllerReading(address=address, answer=ANSWERED, led=leader and led(f"controller@{address}", leader, epoch))


def replicas(party="broker:2", **ages):
    """Return the nodes of the quorum as the newest answer has them: voters `v200=0`, brokers `b2=15`; seconds behind, or None."""
    now = 1_000_000
    return tuple(
        made(
            QuorumReplica,
            observer=party,
            replica_id=int(name[1:]),
            voter=name.startswith("v"),
            log_end_offset=50,
            last_fetch_ms=now,
            last_caught_up_ms=None if age is None else now - age * 1000,
        )
        for name, age in ages.items()
    )


def zookeeper(*, answer=ANSWERED, brokers=EVERY, controller=0, claimed=False, cluster_id="abc", czxids=()):  # noqa: PLR0913 -- by keyword
    if not answer.answered:
        return ZookeeperReading(answer=answer)
    told = {"kafka_cluster_id": cluster_id, "controller_id": controller, "controller_epoch": 1}
    rows = [made(Registry, **told, controller_mzxid=1, brokers_pzxid=1)]
    for number in sorted(brokers):
        rows += [
            made(RegisteredBroker, broker_id=number, ephemeral_owner=1, czxid=dict(czxids).get(number, 1), mzxid=1),
            made(RegisteredEndpoint, broker_id=number, host=f"b{number}"),
        ]
    if claimed:
        rows.append(made(Migration, begun=True, kraft_controller_id=3000, kraft_controller_epoch=1))
    return ZookeeperReading(answer=answer, rows=tuple(rows))


def reading(seconds, *brokers, zk="healthy", controllers=()):
    """Return a reading; brokers that are left out are healthy ones."""
    by_broker = {broker.broker_id: broker for broker in brokers}
    rest = (by_broker.get(number, broker(number)) for number in (0, 1, 2))
    others = (listed for number, listed in by_broker.items() if number not in {0, 1, 2})
    return Reading(
        at_ms=1_000_000 + seconds * 1000,
        brokers=(*rest, *others),
        zookeeper=zookeeper() if zk == "healthy" else zk,
        controllers=controllers,
    )


def kraft(seconds, *brokers, controllers=(), nodes=()):
    """Return a reading of a cluster in KRaft mode."""
    listed = {broker.broker_id: broker for broker in brokers}
    return Reading(
        at_ms=1_000_000 + seconds * 1000,
        brokers=tuple(listed.get(number, in_kraft(number)) for number in (0, 1, 2)),
        controllers=controllers,
        replicas=nodes,
    )


def after(*readings, **patience):
    """Return the state after readings."""
    state = WatchState()
    for reading in readings:
        state = next_state(state, reading, Patience(**patience))
    return state


def sentences(*readings, **patience):
    """Return what is suspected after readings."""
    return [suspicion.sentence() for suspicion in after(*readings, **patience).suspicions]


__all__ = [
    "DENIED", "EVERY", "NOT_ASKED", "REFUSED", "TIMEOUT", "after", "broker", "controller", "down", "in_kraft", "kraft", "led",
    "listed", "reading", "replicas", "sentences", "zookeeper",
]  # fmt: skip
