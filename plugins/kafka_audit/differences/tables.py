"""The columns of the difference tables (one `.sql` file each, of the same name) and of the small tables that they are given.

Each row belongs to one judged snapshot: the runner puts `snapshot_id` in front, as the store does for snapshot tables.
`moment` is `now` (the newest sample of the snapshot), `before` (the sample before it) or `previous` (the newest sample of the
previous snapshot). Lists of partitions hold the first ten in the order of topic and partition, as Kafka writes them ("orders-0");
topics that one party alone lists come last, because it can list any number. The count beside them is of all. `repeated`: the
sample before shows the very same, resting on the same versions.
"""

from kafka_audit.model.tables import Row

LISTED = 10
"""How many partitions or topics a row lists."""

MOST_ROWS = 1000
"""How many rows of one snapshot a table that has a row for each topic returns at most."""

MOST_STATES = 10_000
"""How many partitions with a fault are listed at most: each is a finding, and up to 5,000 are listed one by one."""


# What the runner gives to the files: facts as large as brokers, from `cluster.facts`.


class ChosenSample(Row):
    """Which rows of the stored tables are meant by a moment. One row for each moment that there is."""

    moment: str
    source_id: str  # the snapshot that the rows are of
    sample: int
    kraft: bool  # that snapshot has no ZooKeeper: the reference is what `ReferenceList` names
    steady: bool  # of `now`: the controller and the list of brokers were not written between the samples
    minutes: float | None  # of `now`: from the start of the previous snapshot to this one's; null without a previous one
    controller_epoch: int | None  # /controller_epoch
    first_zxid: int | None  # ZooKeeper's newest when the sample began
    unread_topics: bool  # the znodes of topics, or some of them, were not read in this snapshot


class ReferenceList(Row):
    """KRaft: a distinct list of topics that brokers hold. Those of place 1 are the newest: together they are the reference."""

    moment: str
    source_id: str
    topics_digest: str
    place: int
    tied: int  # how many lists share place 1


class ObserverView(Row):
    """A view to compare with the reference: of this cluster, in the newest sample or the one before it."""

    moment: str  # now or before
    source_id: str
    name: str  # the broker's id, or the address of a broker whose id is unknown
    listener: str
    topics_digest: str
    filled: bool  # it lists a broker
    hides: bool  # its broker may have an authorizer: a topic that no view lists may be one that the auditor may not describe
    old_metadata: bool  # Metadata below v6 reports a leader without the listener as error 5
    registered_listener: bool  # a broker advertises the listener
    holders: int = 1  # how many hold this list of topics, on any listener


class KnownBroker(Row):
    """A registered broker; in KRaft one that the newest lists hold."""

    moment: str
    broker_id: int
    rack: str | None
    listeners: tuple[str, ...]  # advertised
    min_isr: int | None  # min.insync.replicas of topics without a topic setting; null if unknown
    capped: bool  # Kafka 3.7 and later: never more than the topic has replicas
    returned: bool  # registered again since the previous snapshot


class Reassigned(Row):
    """A partition under reassignment."""

    moment: str  # now or previous
    topic: str
    partition: int
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class FormerLeader(Row):
    """A partition for which a broker that does not lead it answered ListOffsets with KAFKA_STORAGE_ERROR."""

    broker_id: int
    topic: str
    partition: int
    preferred: bool


class LostBroker(Row):
    """A broker that goes with a loss: what becomes of partitions is computed for each loss."""

    loss: str  # "broker:2", "rack:a"
    broker_id: int
    margin: int  # copies more than are needed that are asked for


class LostDisk(Row):
    """A log dir that goes with a loss, of a broker that stays."""

    loss: str  # "disk:2:/data-1"
    broker_id: int
    replicas_digest: str  # of `DiskReplicas`
    margin: int
    moves: bool  # whether partitions that the broker leads there get another leader


class ElectionRule(Row):
    """How leaders are elected, as far as the release and the settings of all brokers decide. One row."""

    unclean: bool | None  # unclean.leader.election.enable of topics without a topic setting; null if unknown
    unclean_used: bool  # controllers use the setting at all
    eligible: bool  # eligible leader replicas (KIP-966) are enabled


class KnownEligible(Row):
    """The eligible leader replicas (KIP-966) of a partition that has a leader and replicas out of sync, as far as asked for."""

    topic: str
    partition: int
    brokers: tuple[int, ...]


class UnreachedBroker(Row):
    """A broker that clients or other brokers do not reach: as a leader it serves none of these."""

    broker_id: int
    by_clients: bool  # a vantage that reaches other brokers on the same listener
    sources: tuple[int, ...]  # brokers that cannot fetch from it


class AskedTopic(Row):
    """A topic that a user asks about, by its name."""

    topic: str


# What the files return.


class ListAge(Row):
    """KRaft, where brokers hold different lists: the sum of leader epochs (+1) over topics that all lists have and differ in.

    Asked before all others: which list is the newest decides what the reference is. Where it was asked, `Differences` holds its
    rows beside the others.
    """

    moment: str
    topics_digest: str
    age: int


class PartitionCount(Row):
    """How much there is by the reference, now; topics in deletion are left out, but counted in `deleting`."""

    topics: int
    partitions: int
    led: int  # with a leader whose id is known
    leaderless: int
    deleting: int  # topics
    incomplete: int  # partitions with leader whose ISR lacks a replica
    unregistered: int  # partitions with a replica on a broker that is not registered


class ListCount(Row):
    """How much a list of topics of the newest sample or the one before shows, for all observers and both modes.

    Also where there is no reference, as in KRaft with a single broker: `missing` is 0 then.
    """

    topics_digest: str
    partitions: int
    led: int  # with a leader
    missing: int  # partitions of the reference's topics that the list lacks; those in deletion left out
    brokers: tuple[int, ...]  # with the lowest and the highest id that have a replica of any
    offline_in_sync: tuple[int, ...] = ()  # in the ISR of a partition with a leader, and listed as offline; KRaft


class BrokerShare(Row):
    """What a broker holds by the reference, now. Brokers that are assigned or lead anything, registered or not."""

    broker_id: int
    replicas: int  # partitions with a replica there, topics in deletion included
    in_sync: int  # of those: with the broker in the ISR
    leaderless: int  # of those: without leader
    led: int
    preferred: int  # led partitions whose first replica it is, and in whose ISR it is; topics in deletion left out
    preferred_elsewhere: int  # of those: led by another
    newest_led: int | None  # of the states that it leads: the highest mzxid, in KRaft the highest leader epoch


class ViewDifference(Row):
    """What a view says differently from the reference, by observer, kind and whether the sample before shows the same.

    Kinds: `leader` (another leader, of an older epoch), `leader_ahead` (its epoch is above the reference's; KRaft: not below),
    `no_leader` (error 5 although the leader is registered), `listener_missing` (error 72: the leader lacks the listener),
    `partition_missing`, `replicas`, `isr` (another ISR of the same leader and epoch), `topic_missing`, `topic_hidden` (in no view
    at all, and an authorizer may hide it, or refused with error 29), `topic_disputed` (KRaft: only some of the newest lists have
    it). `partitions` counts a topic as often as it has partitions. The reference and the view of the first one are beside it.
    """

    name: str
    kind: str
    repeated: bool
    partitions: int
    first: tuple[str, ...]  # "orders-0"; a topic's name for kinds of topics
    brokers: tuple[int, ...]  # leaders concerned, for no_leader and listener_missing; the first ten
    listeners: tuple[str, ...]  # on which the view was held, sorted
    leader: int | None  # by the reference
    leader_epoch: int | None
    replicas: tuple[int, ...] | None
    isr: tuple[int, ...] | None
    view_error: int | None
    view_leader: int | None
    view_leader_epoch: int | None
    view_replicas: tuple[int, ...] | None
    view_isr: tuple[int, ...] | None


class ReplicaGap(Row):
    """A leader and a registered follower that is missing in the ISR of partitions with that leader, now."""

    leader: int
    replica: int
    partitions: int  # in which both are replicas
    in_sync: int  # of those: with the follower in the ISR
    repeated: bool
    oldest_version: int | None  # of these states: mzxid, in KRaft the leader epoch
    follows_others: bool  # it is in the ISR of partitions with another leader
    leader_alone: bool  # no follower at all is in the ISR of what this leader leads
    listed_offline: bool  # some view lists it under offline_replicas of such a partition
    added: bool = False  # wherever it is missing, a reassignment adds it


class ReplicaState(Row):
    """A partition of one kind or more, now. Topics in deletion are left out. At most `MOST_STATES`, those of `alone` last.

    Kinds, in this order: `leaderless`, `under_min_isr` (fewer in the ISR than `min_isr`), `at_min_isr` (just as many, and one is
    missing), `under_replicated` (any is missing), `too_few_replicas` (2 to `min_isr` of them), `one_rack`, `single_replica` (of a
    topic that is none of Kafka's own). The second to fourth are of partitions with a leader. How many there are of each kind,
    listed or not, is in `ReplicaFault`.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None  # -1: none
    isr: tuple[int, ...]
    factor: int  # replicas, without those that a reassignment adds
    missing: tuple[int, ...]  # of those: out of the ISR
    unregistered: tuple[int, ...]  # of the missing: brokers that are not registered
    lasting: tuple[int, ...] | None  # of the missing: missing in the previous snapshot too, not registered again; null: unknown
    min_isr: int | None
    rack: str | None  # the one that all replicas are on, where there are several replicas and several racks
    moving: bool  # under reassignment
    repeated: bool
    kinds: tuple[str, ...]
    alone: bool = False  # one party alone lists the topic; these come last


class ReplicaFault(Row):
    """How many partitions there are of a kind of `ReplicaState`; no row where there is none."""

    kind: str
    partitions: int


class InternalTopic(Row):
    """One of Kafka's own topics that exist, not in deletion."""

    topic: str
    partitions: int
    factor: int  # the fewest replicas of a partition


class CoordinatorShare(Row):
    """How many partitions of a topic that coordinates groups or transactions a broker leads by the reference, now."""

    topic: str
    broker_id: int
    led: int


class InternalTopicSetting(Row):
    """What topics of Kafka, of Kafka Connect or of the schema registry set for themselves about how long records are kept."""

    topic: str
    key: str  # cleanup.policy, retention.ms, retention.bytes
    value: str


class DeletedTopic(Row):
    """A topic that is marked for deletion now. At most `MOST_ROWS`, those of `before` first; `PartitionCount` counts all."""

    topic: str
    before: bool  # it was marked in the previous snapshot, the same topic
    unregistered: tuple[int, ...]  # brokers with replicas of it that are not registered


class ReassignedState(Row):
    """A partition under reassignment now, as `Reassigned` gives it."""

    topic: str
    partition: int
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...] | None
    repeated: bool  # the previous snapshot had the same one of the same topic, and no further replica has joined the ISR since
    unregistered: tuple[int, ...]  # of the adding


class LeaderMove(Row):
    """Partitions that a broker led in the previous snapshot, of topics that are the same in both."""

    broker_id: int
    led: int
    moved: int  # led by another now, or by none
    first: tuple[str, ...]
    leaders: tuple[int, ...]  # who leads them now, -1 for none; sorted


class MovedPartition(Row):
    """A partition whose leader is another than in the previous snapshot; none at all where there are more than 200."""

    topic: str
    partition: int
    before: int | None
    after: int | None


class EpochChange(Row):
    """Leader epochs that rose by 20 or more and every ten minutes or faster (`rose`), or fell in every sample (`fell`), by kind.

    Against the previous snapshot, over topics that are the same in both.
    """

    kind: str
    partitions: int
    most: int  # the largest change of one
    first: tuple[str, ...]
    before: tuple[int, ...]  # the epochs of each of the first, in the previous snapshot
    after: tuple[int, ...]
    broker_id: int | None  # `rose`: who has a replica of most of them
    share: int | None  # of how many


class StateFault(Row):
    """ZooKeeper: states that are faulty without a comparison, by kind.

    `ahead`: written with a controller epoch above /controller_epoch; `recovering`: the leader was elected unclean and has not
    recovered. `repeated` counts those that existed before the first read or are equal in both samples.
    """

    kind: str
    partitions: int
    repeated: int
    first: tuple[str, ...]  # of the repeated
    epochs: tuple[int, ...]  # `ahead`: the controller epochs of each of the first
    controller_epoch: int | None  # `ahead`: the highest of all


class TopicChange(Row):
    """A topic that came, went or was recreated since the previous snapshot. At most `MOST_ROWS`."""

    kind: str  # created, deleted, recreated
    topic: str
    before: str | None  # topic id, before Kafka 2.8 the znode's czxid
    after: str | None


class TopicIdDifference(Row):
    """How topic ids of all views compare with the reference's: one row, none where no view shows ids."""

    compared: int  # topics
    differing: int  # and the same in the sample before
    unrepeated: int
    other_id: bool  # one of the differing has an id in the reference, and it is another
    first: tuple[str, ...]  # topics
    reference_id: str | None  # of the first
    view_id: str | None


class KeptTopic(Row):
    """Topics that an observer's view lists and the reference does not have; none of observers without such topics."""

    name: str
    topics: int
    repeated: int  # of them in the sample before, too
    first: tuple[str, ...]


class TopicSetting(Row):
    """What topics set for themselves, by key."""

    key: str
    topics: int  # that set it
    filled: int  # of those: to a value other than empty or false
    first: tuple[str, ...]  # of the filled


class FormerLeaderState(Row):
    """`FormerLeader` with who led then and who leads now."""

    broker_id: int
    topic: str
    partition: int
    preferred: bool
    leader_before: int | None  # in the previous snapshot, where the topic is the same
    leader: int | None


class LossCount(Row):
    """What becomes of partitions in whose ISR is a replica that goes: how many there are of a kind; no row where there is none.

    Kinds: `offline` (no leader: nothing of the ISR is left), `unclean` (a replica leads that was out of the ISR), `unreached` (a
    replica leads that clients do not reach), `not_writable` (acks=all is refused: fewer in the ISR than the effective
    min.insync.replicas; what does not reach the next leader is no copy), `at_risk` (one copy is left), `last_copy` (the same, of
    three replicas or more, of which one was out of the ISR before, or does not reach the next leader), `below_margin` (fewer
    than needed and the margin), `moved` (the coordinator of groups, transactions or share groups becomes another broker).
    Beside these, what is not known: `unclean_unknown` (of `offline`: whether a replica out of the ISR may lead),
    `eligible_unknown` (of `offline`: whether a replica out of the ISR is eligible, where no broker was asked). The loss "" is
    what is so already.
    """

    loss: str
    kind: str
    partitions: int
    topics: int
    first_topics: tuple[str, ...]  # of the first ten
    first_partitions: tuple[int, ...]  # of each of them


class LossEffect(Row):
    """The same, with all partitions of each topic. Only computed for the losses that a user names."""

    loss: str
    kind: str
    topic: str
    partitions: tuple[int, ...]  # sorted


class FollowedLeader(Row):
    """Which leaders a broker follows, and is in the ISR of some partition that they lead; of up to 200 brokers.

    Its requests pass. With ZooKeeper it would reach them as the controller.
    """

    broker_id: int
    leaders: tuple[int, ...]  # sorted


class TopicPlacement(Row):
    """A partition of an asked topic, now; topics in deletion are left out."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None  # -1: none
    isr: tuple[int, ...] | None


class TopicOwnSetting(Row):
    """What an asked topic sets for itself."""

    topic: str
    key: str
    value: str


class DefaultFactor(Row):
    """How many topics without a min.insync.replicas of their own have so many replicas, in the partition that has fewest."""

    factor: int
    topics: int
    first: str
    fewest: int  # in sync, in the partition of all these topics that has fewest


GIVEN: tuple[type[Row], ...] = (
    ChosenSample,
    ReferenceList,
    ObserverView,
    KnownBroker,
    Reassigned,
    FormerLeader,
    LostBroker,
    LostDisk,
    ElectionRule,
    KnownEligible,
    UnreachedBroker,
    AskedTopic,
)
"""Small tables that the runner gives to the files."""

DIFFERENCES: tuple[type[Row], ...] = (
    PartitionCount,
    ListCount,
    BrokerShare,
    ViewDifference,
    ReplicaGap,
    ReplicaState,
    ReplicaFault,
    InternalTopic,
    CoordinatorShare,
    InternalTopicSetting,
    DeletedTopic,
    ReassignedState,
    LeaderMove,
    MovedPartition,
    EpochChange,
    StateFault,
    TopicChange,
    TopicIdDifference,
    KeptTopic,
    TopicSetting,
    FormerLeaderState,
    LossCount,
    FollowedLeader,
)
"""All that is computed in one pass. `ListAge` is asked for before, where it is needed, and `OF_LOSSES` if a user names losses."""

OF_LOSSES: tuple[type[Row], ...] = (LossEffect,)
"""What is computed besides for losses that a user names."""

OF_TOPICS: tuple[type[Row], ...] = (TopicPlacement, TopicOwnSetting, DefaultFactor)
"""What is computed besides where a user names topics."""
