"""A throttle left over from a reassignment holds back what a leader sends to followers that are out of sync."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import THROTTLE, EdgeObservation, cause, fails, works
from kafka_audit.diagnosis.edges import REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts

_KEY = "leader.replication.throttled.rate"
_NO_LIMIT = 2**63 - 1


@cause(
    kind=THROTTLE,
    layer=6,
    edges=(REPLICATE,),
    rare=True,
    decided_by=f"`{_KEY}` among the dynamic settings of broker {{target}}",
)
def replication_throttle(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """The rate throttles followers out of sync only (`ReplicaManager.shouldLeaderThrottle`), so they never catch up."""
    setting = facts.between.settings.running(edge.target, _KEY)
    if setting.state == "unset" or (setting.value or "").strip() == str(_NO_LIMIT):
        yield works(f"settings of broker {edge.target}", f"{_KEY} is not set")
    elif setting.value:
        yield fails(f"settings of broker {edge.target}", f"{_KEY}={setting.value}")
