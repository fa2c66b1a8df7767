from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.security.client_logins import USER, other_logins, unread_logins, without_login
from kafka_audit.configuration.authorization import OF_QUOTAS
from kafka_audit.model.tables import QuotaUser
from kafka_audit.model.text import clean, listing

_USERS = "zookeeper /config/users"
_LIMITS = "zookeeper /config quotas"
_LOOKED = frozenset({"DescribeClientQuotas", "DescribeClientQuotas limits", f"{_USERS} quotas", _LIMITS})


@check(code="KA417", severity=Severity.INFO)
def quotas_without_login(view: ClusterView) -> Judgements:
    """A quota names a user without a login: no SCRAM credential has this name, and brokers take no other logins."""
    operations, right = (
        (("DescribeClientQuotas",), "Describe and DescribeConfigs on Cluster")
        if view.kraft
        else ((_USERS, _LIMITS), "a new snapshot")
    )
    reads = [read for read in view.last_reads if read.operation.startswith(operations)]
    failed = next((read for read in reads if read.outcome == "failed"), None)
    named = frozenset(f"{USER}{row.user}" for row in view.of(QuotaUser))
    if failed is not None or not any(read.operation in _LOOKED for read in reads):
        error, needs = ("not asked", right) if failed is None else (failed.error, failed.needs or right)
        yield view.unknown("cluster", f"quotas were not read: {error}", needs)
    elif not named:
        yield view.judge("cluster", Status.PASS, count=0)
    elif (other := next(other_logins(view), None)) is not None:
        yield view.not_applicable("cluster", other)
    elif unread := next(unread_logins(view, OF_QUOTAS), None):
        yield view.unknown("cluster", *unread)
    else:
        without = [clean(principal.removeprefix(USER)) for principal in without_login(view, named)]
        evidence: dict[str, object] = {"users": listing(without, 5), "count": len(named), "first": next(iter(without), None)}
        yield view.judge("cluster", Status.FAIL if without else Status.PASS, evidence)
