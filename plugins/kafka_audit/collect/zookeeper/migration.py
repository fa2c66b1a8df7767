"""A migration from ZooKeeper to KRaft: its traces in ZooKeeper, and the moment from which ZooKeeper is no longer read.

KRaft controllers that migrate claim /controller with their node id and a `kraftControllerEpoch`, and write topics and states back
to ZooKeeper. Brokers that already run without it register with the controllers alone. Source: KIP-866, `kafka.zk.KafkaZkClient`
(`registerKRaftControllerAsMigrating`), `kafka.zk.MigrationZNode`.
"""

from collections.abc import Iterable
from dataclasses import replace

from kafka.protocol.admin import DescribeQuorumRequest

from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.zookeeper.znodes import ZnodeError, read_object
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    AclHolder,
    BrokerApi,
    BrokerIdentity,
    DynamicConfig,
    Migration,
    QuorumReplica,
    QuorumView,
    QuorumVoter,
    Quota,
    QuotaUser,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    ScramUser,
    SourceRead,
)

MIGRATION = "/migration"

_EPOCH = "kraftControllerEpoch"
_IDS = "zookeeper /brokers/ids"
_QUORUM_API = DescribeQuorumRequest.API_KEY
_DIGITS = 10  # of a broker's id
_OF_ZOOKEEPER = (Registry, RegisteredBroker, RegisteredEndpoint, DynamicConfig, Quota, QuotaUser, ScramUser)
_LARGE_OF_ZOOKEEPER = frozenset({RegisteredTopic, RegisteredPartition})


def claimed(controller: bytes) -> bool:
    """Return whether /controller names a KRaft controller; raises ZnodeError."""
    epoch = read_object(controller).get(_EPOCH, -1)
    return isinstance(epoch, int) and epoch >= 0


def migration_row(sample: int, controller: bytes | None, migration: bytes | None) -> Migration | None:
    """Return the traces in the content of /controller and /migration, None where there are none; raises ZnodeError."""
    claim = read_object(controller) if controller is not None and claimed(controller) else {}
    state = read_object(migration) if migration is not None else {}
    if not claim and migration is None:
        return None
    return Migration(
        sample=sample,
        begun=migration is not None,
        kraft_controller_id=_number(claim.get("brokerid")),
        kraft_controller_epoch=_number(claim.get(_EPOCH)),
        metadata_offset=_number(state.get("kraft_metadata_offset")),
        metadata_epoch=_number(state.get("kraft_metadata_epoch")),
    )


def _number(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63:
        msg = "a number was expected"
        raise ZnodeError(msg)
    return value


def runs_without_zookeeper(rows: Iterable[Row]) -> bool:
    """Return whether brokers run without ZooKeeper, as far as what all parties say in one sample fits together.

    A broker says it by what it offers, and one may lie. ZooKeeper must agree: the broker is not registered there, and either a
    KRaft controller has claimed /controller, or no broker holds a session. Where ZooKeeper was not read, all brokers must agree.
    """
    return _without(_MigratingSample(rows))


def without_zookeeper(collected: Collected) -> Collected:
    """Return what a sample gave; where brokers run without ZooKeeper, nothing that ZooKeeper holds is compared with it.

    The controllers write the remaining data back, and it is no reference: no such broker registers in it. A broker
    that offers KRaft's DescribeQuorum while ZooKeeper holds a session of it, or remains the reference, contradicts ZooKeeper: its
    answer to ApiVersions becomes a failed read, and what it says of KRaft is left out.
    """
    sample = _MigratingSample(collected.rows)
    found, left_out = sample.rows, _without(sample)
    contradict = sample.contradict(left_out=left_out)
    if contradict:
        found = [_believed(row, contradict) for row in found if not _claim_of(row, contradict)]
    if not left_out:
        return replace(collected, rows=tuple(found))
    return Collected(
        rows=tuple(row for row in found if not isinstance(row, _OF_ZOOKEEPER) and not _acls_of_zookeeper(row)),
        large={table: data for table, data in collected.large.items() if table not in _LARGE_OF_ZOOKEEPER},
    )


class _MigratingSample:
    """Who offers what in one sample, and who is registered in ZooKeeper."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        registered = [row for row in self.rows if isinstance(row, RegisteredBroker)]
        failed = {read.operation for read in self.rows if isinstance(read, SourceRead) and read.outcome == "failed"}
        self.registry = next((row for row in self.rows if isinstance(row, Registry)), None)
        self.is_read = self.registry is not None and self.registry.brokers_pzxid is not None and _IDS not in failed
        # A registration that cannot be read may be a session's.
        unread = {operation.removeprefix(f"{_IDS}/") for operation in failed if operation.startswith(f"{_IDS}/")}
        unread_ids = {int(name) for name in unread if name.isdecimal() and len(name) <= _DIGITS}
        self.live = {
            registered_broker.broker_id for registered_broker in registered if registered_broker.ephemeral_owner
        } | unread_ids
        self.registered = {registered_broker.broker_id for registered_broker in registered} | unread_ids
        self.claimed = any(isinstance(row, Migration) and row.kraft_controller_id is not None for row in self.rows)
        self.asked = {api.observer: api.broker_id for api in self.rows if isinstance(api, BrokerApi)}
        self._identify()
        self.offering = {api.observer for api in self.rows if isinstance(api, BrokerApi) and api.api_key == _QUORUM_API}

    def _identify(self) -> None:
        """Take an address of the cluster file that no broker registered as the broker that answers there."""
        names = {
            identity.address: identity.answered_by
            for identity in self.rows
            if isinstance(identity, BrokerIdentity) and identity.broker_id < 0
        }
        for read in self.rows:
            if isinstance(read, SourceRead) and self.asked.get(read.observer, 0) < 0 and names.get(read.target) is not None:
                self.asked[read.observer] = names[read.target] or 0

    def contradict(self, *, left_out: bool) -> set[str]:
        """Return the observers that offer what only KRaft has, against ZooKeeper's word."""
        if not left_out and self.is_read:
            return self.offering
        return {observer for observer in self.offering if self.asked[observer] in self.live}


def _without(sample: _MigratingSample) -> bool:
    if all(sample.asked[observer] in sample.registered for observer in sample.offering):
        return False
    if sample.claimed:
        return True
    if sample.registry is None:
        return sample.offering == sample.asked.keys()
    return sample.is_read and not sample.live


def _claim_of(row: Row, observers: set[str]) -> bool:
    return isinstance(row, BrokerApi | QuorumView | QuorumReplica | QuorumVoter) and row.observer in observers


def _believed(row: Row, contradict: set[str]) -> Row:
    """Return a read as it is, failed where it is the answer that contradicts ZooKeeper."""
    if not isinstance(row, SourceRead) or row.operation != "ApiVersions" or row.observer not in contradict:
        return row
    if row.outcome == "failed":
        return row
    message = "it offers DescribeQuorum, like a broker in KRaft mode, but ZooKeeper records that brokers use ZooKeeper"
    needs = "a broker that either runs in KRaft mode or is registered in ZooKeeper; find out which process answers there"
    return replace(
        row,
        outcome="failed",
        error=ReadFailure.CONTRADICTS_ZOOKEEPER.words,
        message=message,
        needs=needs,
        reason=ReadFailure.CONTRADICTS_ZOOKEEPER.name,
    )


def _acls_of_zookeeper(row: Row) -> bool:
    return isinstance(row, AclHolder) and row.broker_id is None
