"""Which version of a request a protocol version lets brokers with ZooKeeper send to each other, whatever the receiver offers.

Clients agree on a version by ApiVersions. A controller and a follower do not: `inter.broker.protocol.version` decides, and a
receiver that does not know the version closes the connection.

Sources: Kafka 3.9, `kafka.controller.ControllerChannelManager` (LeaderAndIsr, UpdateMetadata, StopReplica), `MetadataVersion`
(Fetch, OffsetForLeaderEpoch, `isAllocateProducerIdsSupported`, `isAlterPartitionSupported`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.configuration.starts.protocol_versions import Version, version

_SENT: Mapping[tuple[int, str], Mapping[str, int]] = MappingProxyType(
    {
        (1, "Fetch"): {"1.1-IV0": 7, "2.0-IV1": 8, "2.1-IV2": 10, "2.3-IV1": 11, "2.7-IV1": 12, "3.1-IV0": 13}
        | {"3.5-IV0": 14, "3.5-IV1": 15, "3.7-IV4": 16, "3.9-IV0": 17},
        (4, "LeaderAndIsr"): {"1.0-IV0": 1, "2.2-IV0": 2, "2.4-IV0": 3, "2.4-IV1": 4, "2.8-IV1": 5, "3.2-IV0": 6, "3.4-IV0": 7},
        (5, "StopReplica"): {"2.2-IV0": 1, "2.4-IV1": 2, "2.6-IV0": 3, "3.4-IV0": 4},
        (6, "UpdateMetadata"): {"1.0-IV0": 4, "2.2-IV0": 5, "2.4-IV1": 6, "2.8-IV1": 7, "3.4-IV0": 8},
        (23, "OffsetForLeaderEpoch"): {"2.0-IV0": 1, "2.1-IV1": 2, "2.3-IV1": 3, "2.8-IV0": 4},
        (56, "AlterPartition"): {"2.7-IV2": 0},
        (67, "AllocateProducerIds"): {"3.0-IV0": 0},
    }
)


@dataclass(frozen=True, kw_only=True)
class SentRequest:
    """A request in the version in which a protocol version sends it."""

    api_key: int
    name: str
    version: int


def sent_requests(protocol: Version) -> Iterator[SentRequest]:
    """Yield the requests between brokers whose version a protocol version decides."""
    for (api_key, name), since in _SENT.items():
        sent = [number for text, number in since.items() if version(text) <= protocol]
        if sent:
            yield SentRequest(api_key=api_key, name=name, version=max(sent))
