"""A migration from ZooKeeper to KRaft: its traces in ZooKeeper, and from when on ZooKeeper is no party any more.

KRaft controllers that migrate claim /controller with their node id and a `kraftControllerEpoch`, and write topics and states back
to ZooKeeper. Brokers that already run without it register with the controllers alone. Source: KIP-866, `kafka.zk.KafkaZkClient`
(`registerKRaftControllerAsMigrating`), `kafka.zk.MigrationZNode`.
"""

from collections.abc import Iterable

from kafka.protocol.admin import DescribeQuorumRequest

from kafka_audit.collect.znodes import ZnodeError, read_object
from kafka_audit.model.tables import (
    AclHolder,
    BrokerApi,
    DynamicConfig,
    Migration,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    ScramUser,
)

MIGRATION = "/migration"

_EPOCH = "kraftControllerEpoch"
_OF_ZOOKEEPER = (Registry, RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition, DynamicConfig, ScramUser)


def claimed(controller: bytes) -> bool:
    """Tell whether /controller names a KRaft controller; raises ZnodeError."""
    epoch = read_object(controller).get(_EPOCH, -1)
    return isinstance(epoch, int) and epoch >= 0


def row(sample: int, controller: bytes | None, migration: bytes | None) -> Migration | None:
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
    """Tell whether any broker runs without ZooKeeper."""
    return any(isinstance(one, BrokerApi) and one.api_key == DescribeQuorumRequest.API_KEY for one in rows)


def without_zookeeper(rows: Iterable[Row]) -> list[Row]:
    """Return a look's rows; where a broker runs without ZooKeeper, nothing that ZooKeeper holds is compared with it any more.

    What is left there is written back by the controllers, and is nobody's reference: no such broker registers in it.
    """
    found = list(rows)
    if not runs_without_zookeeper(found):
        return found
    return [one for one in found if not isinstance(one, _OF_ZOOKEEPER) and not _acls_of_zookeeper(one)]


def _acls_of_zookeeper(one: Row) -> bool:
    return isinstance(one, AclHolder) and one.broker_id is None
