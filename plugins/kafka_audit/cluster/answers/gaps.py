"""Why parts of the registry cannot be judged by: brokers, controller, topics; now, or in the previous snapshot."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import BrokerConfig, SourceRead

_PARTS = (
    ("brokers", re.compile(r"zookeeper /brokers/ids")),
    ("topics", re.compile(r"zookeeper /(brokers/topics|admin/delete_topics)")),
    ("controller", re.compile(r"zookeeper /controller")),
    ("controller epoch", re.compile(r"zookeeper /controller")),
    ("cluster id", re.compile(r"zookeeper /(cluster/id|controller)")),
)
_KRAFT_HAS_IT_ELSEWHERE = ("controller epoch", "cluster id")  # in the quorum, in views, in the cluster file
_SINGLE_ZNODE = re.compile(r"zookeeper /brokers/(ids|topics)/[^*]")


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Why a part of the registry (brokers, controller, topics) cannot be judged by."""

    status: Status  # UNKNOWN (error, needs) or NOT_APPLICABLE (reason)
    whole: bool  # False: only single znodes failed; what was read can fail a check, but not pass it
    reason: str | None = None
    error: str | None = None
    needs: str | None = None


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A part of ZooKeeper of which reads failed. `whole` is False where only single znodes did."""

    whole: bool
    error: str | None
    needs: str | None


def unread_znodes(reads: Iterable[SourceRead]) -> Mapping[str, Unread]:
    """Return what failed to be read of each part of ZooKeeper; where more than single znodes did, that counts."""
    found: dict[str, Unread] = {}
    for read in reads:
        if read.observer != "zookeeper" or read.outcome != "failed":
            continue
        whole = not _SINGLE_ZNODE.match(read.operation)
        for part in (name for name, pattern in _PARTS if pattern.match(read.operation)):
            if part not in found or (whole and not found[part].whole):
                found[part] = Unread(whole=whole, error=read.error, needs=read.needs)
    return found


def gap_now(registry: RegistrySample, *, kraft: bool, part: str) -> Gap | None:
    """Return why a part of the newest sample cannot be judged by; `kraft`: the judged snapshot has no ZooKeeper.

    `views` are those of several brokers: what one alone says cannot differ from what all say.
    """
    if part == "views":
        alone = kraft and len({name for broker_list in registry.lists for name in broker_list.names}) == 1
        return Gap(status=Status.NOT_APPLICABLE, whole=True, reason=_ALONE) if alone else None
    failed = unread_znodes(registry.samples.last_reads).get(part)
    whole = failed is None or failed.whole
    if kraft and part == "controller":
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        return Gap(status=Status.NOT_APPLICABLE, whole=whole, reason=reason)
    if kraft and part in _KRAFT_HAS_IT_ELSEWHERE:
        return None
    if failed is None and registry.state is not None:
        return None
    if kraft:
        return Gap(status=Status.UNKNOWN, whole=whole, error=_FEW, needs="answers of two brokers to Metadata")
    error = f"ZooKeeper was not read: {(failed and failed.error) or 'no answer'}"
    needs = (failed and failed.needs) or "a ZooKeeper that answers"
    return Gap(status=Status.UNKNOWN, whole=whole, error=error, needs=needs)


def gap_earlier(registry: RegistrySample, *, kraft: bool, part: str) -> Gap | None:
    """Return why a part of the previous snapshot cannot be compared with; `kraft`: the judged snapshot has no ZooKeeper."""
    if kraft and part == "controller":
        return None
    if registry.samples.snapshot is None:
        return Gap(status=Status.NOT_APPLICABLE, whole=True, reason="no previous snapshot")
    failed = unread_znodes(registry.samples.last_reads).get(part)
    whole = failed is None or failed.whole
    if failed is None and registry.state is not None:
        return None
    if kraft:
        error, needs = f"in the previous snapshot {_FEW}", "two snapshots with views of two brokers"
        return Gap(status=Status.UNKNOWN, whole=whole, error=error, needs=needs)
    error = f"the previous snapshot did not read ZooKeeper: {(failed and failed.error) or 'no answer'}"
    return Gap(status=Status.UNKNOWN, whole=whole, error=error, needs="two snapshots that read ZooKeeper")


def previous_gap(gaps: Iterable[Gap | None]) -> Gap | None:
    """Return why partitions and epochs cannot be compared, of gaps of topics and controller; single znodes are passed over."""
    whole = [gap for gap in gaps if gap is not None and gap.whole]
    if not whole:
        return None
    return Gap(
        status=min(gap.status for gap in whole),
        whole=True,
        reason=min((gap.reason for gap in whole if gap.reason is not None), default=None),
        error=min((gap.error for gap in whole if gap.error is not None), default=None),
        needs=min((gap.needs for gap in whole if gap.needs is not None), default=None),
    )


_FEW = "fewer than two brokers returned a view"
_ALONE = "only one broker answers, and lists no other"


KEY = "min.insync.replicas"


@dataclass(frozen=True, kw_only=True)
class MinIsrGap:
    """Why min.insync.replicas is not known of every partition."""

    whole: bool  # what topics set for themselves was not read at all, so that it is known of no partition
    topics_unread: bool  # of some topics
    error: str
    needs: str


def broker_defaults(configs: Iterable[BrokerConfig], brokers: Collection[int]) -> Mapping[int, int | None]:
    """Return min.insync.replicas of topics without a topic setting, by the leading broker.

    It is the broker's own setting, else the one that all others have; None where that is unknown.
    """
    own = _settings(configs)
    values = set(own.values())
    common = values.pop() if len(values) == 1 else None
    return {broker: own.get(broker, common) for broker in brokers}


def min_isr_gap(
    reads: Iterable[SourceRead], configs: Iterable[BrokerConfig], brokers: Collection[int], *, kraft: bool
) -> MinIsrGap | None:
    """Return why min.insync.replicas is not known of every partition; None where it is.

    Args:
        reads: every read as it ended when it was asked last.
        configs: settings of brokers.
        brokers: those that are registered.
        kraft: there is no ZooKeeper.
    """
    asked = [read for read in reads if read.operation.startswith("zookeeper /config/topics") or read.operation == _DESCRIBE]
    answered = any(read.outcome == "answered" and read.operation in {"zookeeper /config/topics", _DESCRIBE} for read in asked)
    failed = [read for read in asked if read.outcome == "failed"]
    if failed or not answered:
        last = max(failed, key=lambda read: (read.error or "", read.needs or ""), default=None)
        error = f"topic configurations were not read: {(last and last.error) or 'no source was read'}"
        needs = (last and last.needs) or ("DescribeConfigs on Topic" if kraft else "a ZooKeeper that answers")
        return MinIsrGap(whole=not answered, topics_unread=True, error=error, needs=needs)
    own = _settings(configs)
    known = [own[broker] for broker in brokers if broker in own]
    if not known or (len(known) < len(brokers) and len(set(known)) > 1):
        error, needs = "not every broker reported min.insync.replicas", "DescribeConfigs on Cluster"
        return MinIsrGap(whole=False, topics_unread=False, error=error, needs=needs)
    return None


_DESCRIBE = "DescribeConfigs TOPIC"


def _settings(configs: Iterable[BrokerConfig]) -> Mapping[int, int]:
    values = {row.broker_id: integer((row.value or "").strip()) for row in configs if row.key == KEY}
    return {broker: value for broker, value in values.items() if value is not None}
