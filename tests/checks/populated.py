"""What a world of `base.yaml` has besides in a cluster in use: the topics of `testbed.population`, and Kafka's internal ones."""

from typing import Any

from testbed.population.contents import Contents, topics

BROKERS = 3
INTERNAL = {
    "__consumer_offsets": {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"},
    "__transaction_state": {"cleanup.policy": "compact", "min.insync.replicas": "2", "unclean.leader.election.enable": "false"},
}
_STATE = {"leader_epoch": 1, "controller_epoch": 3}


def _topic(number: int, partitions: int, settings: dict[str, str]) -> dict[str, Any]:
    czxid = 400 + number  # before the newest change that ZooKeeper had seen
    places = [[(number + partition + step) % BROKERS for step in range(BROKERS)] for partition in range(partitions)]
    states = [{"replicas": held, "leader": held[0], "isr": sorted(held), "state_mzxid": czxid, **_STATE} for held in places]
    return {
        "topic_id": f"id-{number}",
        "czxid": czxid,
        "mzxid": czxid,
        "config": settings,
        "partitions": dict(enumerate(states)),
    }


def populated(contents: Contents) -> dict[str, Any]:
    """Return a patch of the base."""
    made = [(topic["name"], topic["partitions"], topic["settings"]) for topic in topics(contents.topics, BROKERS)]
    made += [(name, BROKERS, settings) for name, settings in INTERNAL.items()]
    return {"topics": {name: _topic(number, partitions, config) for number, (name, partitions, config) in enumerate(made)}}
