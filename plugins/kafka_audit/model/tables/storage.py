"""Disks of brokers, answers about the leadership of partitions, and members of consumer groups."""

from kafka_audit.model.tables.row import Long, Row

OPEN_FOR_LONG_MS = 60_000
"""Age from which an open transaction has a row: producers end theirs within seconds, and by default within a minute."""


class LogDir(Row, filled_by=("DescribeLogDirs",)):
    """One directory of DescribeLogDirs."""

    sample: int
    observer: str
    broker_id: int
    path: str
    error: int  # 0, 56 KAFKA_STORAGE_ERROR, …
    total_bytes: Long | None  # None below version 4 of the answer
    usable_bytes: Long | None
    replicas: int
    replica_bytes: Long | None = None  # the sizes of these replicas together; null in old snapshots
    offsets_bytes: Long | None = None  # of those of __consumer_offsets the largest; null where there is none
    replicas_digest: str | None = None  # of `DiskReplicas`; null for a broker's only directory, and in old snapshots


class DiskReplicas(Row, filled_by=("DescribeLogDirs",)):
    """Replicas of a topic in a directory of a broker that has several; stored once for each distinct `replicas_digest`."""

    replicas_digest: str
    topic: str
    partitions: tuple[int, ...]  # sorted, without those that are moved to this directory


class LogDirReplica(Row, filled_by=("DescribeLogDirs",)):
    """A future replica: a copy that is moved to this directory from another directory of the same broker."""

    sample: int
    observer: str
    broker_id: int
    path: str
    topic: str
    partition: int
    size_bytes: Long
    offset_lag: Long  # offsets behind the replica that it will replace


class CopiedReplica(Row, filled_by=("DescribeLogDirs of copied replicas",)):
    """The size of a replica of a partition that is reassigned, or whose ISR lacks a replica: of the first 2,000 of them."""

    sample: int
    observer: str
    broker_id: int
    topic: str
    partition: int
    size_bytes: Long  # 0: the broker holds nothing of it yet


class TieredPartition(Row, filled_by=("ListOffsets tier",)):
    """A partition of a topic with remote storage, as its leader has it: of the first 2,000 of each broker (Kafka 3.9)."""

    sample: int
    observer: str
    broker_id: int
    topic: str
    partition: int
    tiered_offset: Long  # the last one in remote storage; -1: none
    local_offset: Long  # the first one on the leader's disk
    end_offset: Long
    local_bytes: Long
    segment_bytes: Long | None  # of its topic; null: that of the broker


class LeadershipAsked(Row, filled_by=("ListOffsets",)):
    """The number of partitions in the ListOffsets requests to one broker; no row without a request or a response."""

    sample: int
    observer: str
    broker_id: int
    as_leader: int  # partitions that it leads, by ZooKeeper (KRaft: by the newest epoch of all views)
    as_former: int  # partitions that it holds and does not lead, although preferred, listed as offline, or on a failed disk
    listed_offline: int  # partitions with this broker in offline_replicas of a view


class LeadershipAnswer(Row, filled_by=("ListOffsets",)):
    """An unexpected response to ListOffsets: an error of a leader, or of another broker anything but 6 NOT_LEADER_OR_FOLLOWER."""

    sample: int
    observer: str
    broker_id: int
    topic: str
    partition: int
    asked_as: str  # "leader" or "former"
    error: int  # 56 KAFKA_STORAGE_ERROR, 6, 74 FENCED_LEADER_EPOCH, 75 UNKNOWN_LEADER_EPOCH, 3; 0: it answers as leader
    leader: int | None  # in the reference; -1: none
    leader_epoch: int | None  # in the reference
    preferred: bool  # it is the first of the replicas
    listed_offline: bool  # it is in offline_replicas of a view


class OldTransaction(Row, filled_by=("read_committed offsets",)):
    """A partition whose oldest open transaction is older than a minute, by the offsets of its leader.

    Read only if the topic of transactions exists. Partitions with younger transactions have no row.
    """

    sample: int
    observer: str  # the leader
    broker_id: int
    topic: str
    partition: int
    stable_offset: Long  # the last stable offset: the first record of that transaction; read_committed stops there
    end_offset: Long  # the high watermark
    older_than_ms: Long  # age of the record at the stable offset by its timestamp: above a minute, or above the time-out


class CoordinatedTransaction(Row, filled_by=("ListTransactions",)):
    """A transaction that is not ended, as its coordinator has it: of those in partitions of `OldTransaction`."""

    sample: int
    observer: str  # the coordinator
    broker_id: int
    transactional_id: str
    producer_id: Long
    producer_epoch: int
    state: str  # Ongoing, PrepareCommit, PrepareAbort
    started_ms: Long | None  # by the clock of the coordinator
    timeout_ms: int  # of the producer
    partitions: tuple[str, ...]  # those of `OldTransaction` in which it has no end yet, as topic-partition, sorted


class TopicEnd(Row, filled_by=("end offsets",)):
    """The end of a partition of a topic that a user asks about, at its leader, and its end some seconds later."""

    sample: int
    observer: str
    broker_id: int
    topic: str
    partition: int
    end_offset: Long  # -1: the leader did not report it
    later_offset: Long


class EligibleReplicas(Row, filled_by=("DescribeTopicPartitions",)):
    """A partition without leader or with replicas out of sync, by DescribeTopicPartitions (Kafka 3.8 on) of a KRaft broker."""

    sample: int
    observer: str
    topic: str
    partition: int
    leader: int | None  # None: no leader
    isr: tuple[int, ...]
    eligible: tuple[int, ...]  # the ELR: not in the ISR, with every acknowledged record (KIP-966); sorted
    last_known: tuple[int, ...]  # LastKnownElr: members that later started without their data; sorted


class GroupCoordinator(Row, filled_by=("ListGroups",)):
    """The response of the group coordinator of a broker to ListGroups; read only if __consumer_offsets exists."""

    sample: int
    observer: str
    broker_id: int
    error: int  # 0; 14 COORDINATOR_LOAD_IN_PROGRESS, 15 COORDINATOR_NOT_AVAILABLE, 16 NOT_COORDINATOR


class CoordinatorPartition(Row, filled_by=("DescribeGroups coordinators",)):
    """A partition of __consumer_offsets whose leader does not coordinate its groups, as it answers about a made-up group."""

    sample: int
    observer: str
    broker_id: int  # the leader
    partition: int
    error: int  # 14, 15 or 16, as of `GroupCoordinator`


class RebalancingGroup(Row, filled_by=("DescribeGroups rebalancing",)):
    """A group in a rebalance, as its coordinator reports it (ListGroups 4, Kafka 2.6)."""

    sample: int
    observer: str  # the coordinator
    broker_id: int
    group: str
    kind: str  # classic (Kafka Connect among them), consumer, streams
    state: str  # PreparingRebalance, CompletingRebalance; Assigning, Reconciling; of streams NotReady
    members: int
    members_digest: str  # of the ids of members: each that joins anew has another one
    group_epoch: int | None  # null: of the classic protocol
    assignment_epoch: int | None  # that of the target assignment
    late: int  # members whose epoch is lower than that: they have not given up what others are to get
    late_clients: tuple[str, ...]  # the first three of them: client id, host and epoch


class SharePartition(Row, filled_by=("DescribeShareGroupOffsets",)):
    """A partition that members of a share group have and are not done with, as its coordinator reports it (Kafka 4.2)."""

    sample: int
    observer: str  # the coordinator
    broker_id: int
    group: str
    topic: str
    partition: int
    start_offset: Long  # the first that is not processed; -1: none is stored, as nothing was processed yet
    left: Long  # records that are not processed; -1: not known
    members: int  # to which it is assigned
    clients: tuple[str, ...]  # the first three of them: client id, host and epoch


class GroupMember(Row, filled_by=("DescribeGroups",)):
    """A member of a consumer group, as its coordinator reports it; read only while replicas are offline."""

    sample: int
    observer: str  # the coordinator
    broker_id: int
    group: str
    state: str  # Stable, PreparingRebalance, Empty, …
    client_id: str
    host: str  # the address of the client, as the coordinator reports it
    partitions: tuple[str, ...]  # assigned, as topic-partition, sorted
    kind: str = ""  # share or streams: a group whose members are not read; "" of consumers
