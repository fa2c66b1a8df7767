"""What lies on brokers' disks, who answers for the leadership of partitions, and whose consumers read them."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class LogDir(Row):
    """One directory of DescribeLogDirs."""

    sample: int
    observer: str
    broker_id: int
    path: str
    error: int  # 0, 56 KAFKA_STORAGE_ERROR, …
    total_bytes: int | None  # None below version 4 of the answer
    usable_bytes: int | None
    replicas: int


@dataclass(frozen=True, kw_only=True)
class LogDirReplica(Row):
    """A future replica: a copy that is being moved to this directory from another one of the same broker."""

    sample: int
    observer: str
    broker_id: int
    path: str
    topic: str
    partition: int
    size_bytes: int
    offset_lag: int  # how many offsets it is behind the replica that it will replace


@dataclass(frozen=True, kw_only=True)
class LeadershipAsked(Row):
    """Of how many partitions ListOffsets was asked at one broker, itself; no row where nothing was asked or answered."""

    sample: int
    observer: str
    broker_id: int
    as_leader: int  # partitions that ZooKeeper (KRaft: the newest epoch among views) says it leads
    as_former: int  # partitions that it holds and does not lead, though preferred, listed as offline, or on a failed disk
    listed_offline: int  # partitions for which some view lists it under offline_replicas


@dataclass(frozen=True, kw_only=True)
class LeadershipAnswer(Row):
    """An unexpected answer to ListOffsets: an error of a leader, any but 6 NOT_LEADER_OR_FOLLOWER of another."""

    sample: int
    observer: str
    broker_id: int
    topic: str
    partition: int
    asked_as: str  # "leader" or "former"
    error: int  # 56 KAFKA_STORAGE_ERROR, 6, 74 FENCED_LEADER_EPOCH, 75 UNKNOWN_LEADER_EPOCH, 3; 0: it believes that it leads
    leader: int | None  # leader in the reference, -1: none
    leader_epoch: int | None  # the reference's
    preferred: bool  # it is the first of the replicas
    listed_offline: bool  # some view lists it under offline_replicas


@dataclass(frozen=True, kw_only=True)
class OldTransaction(Row):
    """A partition whose oldest open transaction began longer ago than transaction.max.timeout.ms, by the offsets of its leader.

    Only asked where the topic of transactions exists; partitions with younger transactions have no row.
    """

    sample: int
    observer: str  # the leader
    broker_id: int
    topic: str
    partition: int
    stable_offset: int  # the last stable offset: the first record of that transaction; read_committed stops there
    end_offset: int  # the high watermark
    older_than_ms: int  # the record at the stable offset has a timestamp that is older than this


@dataclass(frozen=True, kw_only=True)
class EligibleReplicas(Row):
    """A partition without a leader, as DescribeTopicPartitions (Kafka 3.8 on) reports it; asked of one broker of KRaft."""

    sample: int
    observer: str
    topic: str
    partition: int
    isr: tuple[int, ...]
    eligible: tuple[int, ...]  # the ELR: out of the ISR, and with every acknowledged record (KIP-966); sorted
    last_known: tuple[int, ...]  # LastKnownElr: members before they started without their data; sorted


@dataclass(frozen=True, kw_only=True)
class GroupCoordinator(Row):
    """What the group coordinator of a broker answers to ListGroups; only asked where __consumer_offsets exists."""

    sample: int
    observer: str
    broker_id: int
    error: int  # 0; 14 COORDINATOR_LOAD_IN_PROGRESS, 15 COORDINATOR_NOT_AVAILABLE, 16 NOT_COORDINATOR


@dataclass(frozen=True, kw_only=True)
class GroupMember(Row):
    """A member of a consumer group, as the group's coordinator tells; only asked for while replicas are offline."""

    sample: int
    observer: str  # the coordinator
    broker_id: int
    group: str
    state: str  # Stable, PreparingRebalance, Empty, …
    client_id: str
    host: str  # address that the coordinator sees
    partitions: tuple[str, ...]  # assigned, as topic-partition, sorted
