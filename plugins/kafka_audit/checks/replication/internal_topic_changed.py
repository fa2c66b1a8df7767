from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import InternalTopicSetting

_COMPACT, _DELETE, _POLICY = "compact", "delete", "cleanup.policy"
_KEPT = {
    "__share_group_state": (_DELETE, "share groups forget which records were acknowledged, and read them again"),
    "__remote_log_metadata": (_DELETE, "segments in remote storage are forgotten: their records are neither read nor deleted"),
    "_schemas": (_COMPACT, "the schema registry loses schemas, and consumers cannot read records that have them"),
    "connect-configs": (_COMPACT, "Kafka Connect does not start, or loses its connectors"),
    "connect-offsets": (_COMPACT, "Kafka Connect does not start, or its connectors begin again"),
    "connect-status": (_COMPACT, "Kafka Connect does not start, or forgets which connectors are paused"),
}
"""The policy that each topic is made with, and what is lost with another one. Those of KA616 are left to it."""


@check(code="KA621", severity=Severity.HIGH, parts=("topics",))
def internal_topic_changed(view: ClusterView) -> Judgements:
    """A topic that keeps the state of a service deletes or compacts what the service needs."""
    gap = view.min_isr_gap
    if gap is not None and gap.topics_unread:
        yield view.unknown("cluster", gap.error, gap.needs)
        return
    found: dict[str, dict[str, str]] = {}
    for row in view.differences.of(InternalTopicSetting):
        if row.topic in _KEPT:
            found.setdefault(row.topic, {})[row.key] = row.value
    if not found:
        yield view.not_applicable(
            "cluster", "no topic of share groups, remote storage, Connect or schemas has settings of its own"
        )
    for topic, settings in sorted(found.items()):
        wanted, lost = _KEPT[topic]
        evidence: dict[str, object] = {"topic": topic, "wanted": wanted, "lost": lost}
        problem = _problem(settings, wanted)
        status = Status.PASS if problem is None else Status.FAIL
        value = tuple(part.strip() for part in settings.get(problem or "", "").split(",")) or None
        yield view.judge(f"topic/{topic}", status, evidence, key=problem, value=value if problem else None)


def _problem(settings: Mapping[str, str], wanted: str) -> str | None:
    """Return the setting that removes what the service needs; None where none does."""
    policy = {part.strip().lower() for part in settings.get(_POLICY, wanted).split(",") if part.strip()}
    if policy != {wanted}:
        return _POLICY
    limits = ("retention.ms", "retention.bytes") if wanted == _DELETE else ()
    return next((key for key in limits if _is_limit(settings.get(key, "-1"))), None)


def _is_limit(text: str) -> bool:
    return text.strip().lstrip("+").isdecimal()
