from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.model.tables import Quota
from kafka_audit.model.tables.registry import DEFAULT
from kafka_audit.model.text import clean

_LOWEST = {"producer_byte_rate": 600, "consumer_byte_rate": 600, "connection_creation_rate": 2}
"""A batch of 16 KiB, a producer's default, takes 30 s at this rate, and then the request ends. A client opens two connections."""
_DOES = {
    "producer_byte_rate": "stops producers",
    "consumer_byte_rate": "stops consumers",
    "connection_creation_rate": "closes new connections",
}
_READ = {True: "DescribeClientQuotas limits", False: "zookeeper /config quotas"}
_TYPES = {"user": "users", "client_id": "clients", "address": "ips"}


_ALL = {"user": "every user", "client_id": "every client id", "address": "every address"}
_ONE = {"user": "user ", "client_id": "client id ", "address": "address "}


@check(code="KA723", severity=Severity.HIGH)
def quota_too_low(view: ClusterView) -> Judgements:
    """A quota is so low that clients cannot work with it."""
    reads = [read for read in view.last_reads if read.operation == _READ[view.kraft]]
    failed = next((read for read in reads if read.outcome == "failed"), None)
    quotas = view.of(Quota)
    low = sorted((row for row in quotas if row.limit < _LOWEST.get(row.key, 0)), key=lambda row: (not _is_of_all(row), row.limit))
    if low:
        yield _too_low(view, low[0], len(low) - 1)
    elif failed is not None or not reads:
        right = "DescribeConfigs on Cluster" if view.kraft else "read on /config/users, /config/clients and /config/ips"
        error, needs = ("not asked", "a new snapshot") if failed is None else (failed.error, failed.needs or right)
        yield view.unknown("cluster", f"quotas were not read: {error}", needs)
    else:
        yield view.judge("cluster", Status.PASS, count=len(quotas))


def _is_of_all(row: Quota) -> bool:
    return {row.user, row.client_id, row.address} <= {DEFAULT, None}


def _too_low(view: ClusterView, row: Quota, more: int) -> Judgement:
    entities = [(kind, name) for kind in _TYPES if (name := getattr(row, kind)) is not None]
    (kind, name), *others = entities
    evidence = {
        "quota": f"{row.key}={row.limit:g}",
        "whose": " and ".join(_ALL[kind] if name == DEFAULT else f"{_ONE[kind]}{clean(name)}" for kind, name in entities),
        "does": _DOES[row.key],
        "advice": "pair" if others else "default" if name == DEFAULT else "named",
        "type": _TYPES[kind],
        "name": name,
        "key": row.key,
        "more": more,
    }
    return view.judge("cluster", Status.FAIL, evidence, severity=None if _is_of_all(row) else Severity.MEDIUM)
