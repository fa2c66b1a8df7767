"""A throttle left over from a reassignment holds back what a leader sends to followers, or what a follower fetches."""

from kafka_audit.cluster.throttles import is_rate
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works

_LEADER, _FOLLOWER = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
_NO_LIMIT = str(2**63 - 1)


@fault
def replication_throttle(facts: Facts, edge: Edge) -> Observations:
    """A rate holds back the replicas that a topic names, at the leader (`shouldLeaderThrottle`) and at the follower.

    It holds those that are out of sync, so they never catch up. Brokers have no such key by default, and hide its value.
    """
    if facts.has_throttled_topics is False:
        yield works("topics", "no topic has throttled replicas")
        return
    settings = facts.between.settings
    ends = [(edge.target, _LEADER), *((source, _FOLLOWER) for source in edge.sources)]
    free = []
    for broker, key in ends:
        reported = settings.reported(broker)
        row = reported.get(key)
        if row is not None and is_rate(row) and row.value != _NO_LIMIT:
            yield fails(f"settings of broker {broker}", f"{key}={row.value}" if row.value else f"{key} is set")
        elif reported:
            free.append(f"{key} is not set")
    if edge.sources and len(free) == len(ends):
        yield works(f"settings of broker {edge.target} and of {edge.who}", " and ".join(dict.fromkeys(free)))
