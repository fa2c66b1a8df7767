from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.differences.tables import LISTED, BrokerShare
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.states import leaders_stay, led_elsewhere, many_led_elsewhere


@check(code="KA607", severity=Severity.LOW, parts=("topics",))
def leaders_not_preferred(view: ClusterView) -> Judgements:
    """Brokers do not lead the partitions that prefer them."""
    led = sum(share.preferred for share in view.partitions.shares.values())
    away = sorted(led_elsewhere(view), key=lambda share: (-share.preferred_elsewhere / share.preferred, share.broker_id))
    if away:
        stay = leaders_stay(view) and bool(many_led_elsewhere(view))
        stands = stay or any(row.state == "standing" for row in progress_of(view).of_kind("leaders"))
        evidence: dict[str, object] = {"led": led, "brokers": _named(away), "shares": _shares(away)}
        evidence["waits"] = "; they stay there until somebody starts an election" if stay else ""
        yield view.judge("cluster", Status.FAIL, evidence, severity=None if stands else Severity.INFO)
    elif view.kraft and not led:
        yield view.judge("cluster", Status.UNKNOWN, NO_TOPIC, led=led)
    else:
        yield view.judge("cluster", Status.PASS, led=led)


def _shares(shares: Sequence[BrokerShare]) -> tuple[dict[str, int], ...]:
    return tuple(
        {"broker": share.broker_id, "prefer": share.preferred, "elsewhere": share.preferred_elsewhere} for share in shares
    )


def _named(shares: Sequence[BrokerShare]) -> str:
    each = (
        f"broker {share.broker_id} does not lead {share.preferred_elsewhere} of {share.preferred} partitions that prefer it"
        for share in shares[:LISTED]
    )
    more = f"; and {len(shares) - LISTED} more brokers" if len(shares) > LISTED else ""
    return "; ".join(each) + more
