"""Shared code of checks before an upgrade: whether they apply, and which release is planned."""

from kafka_audit.checks import ClusterView, Judgements
from kafka_audit.configuration.definitions import VERSIONS, version_numbers
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION, version
from kafka_audit.model.tables import PlannedUpgrade
from kafka_audit.model.tables.views import DEFAULT_SOURCE


def planned_upgrade(view: ClusterView) -> PlannedUpgrade | None:
    """Return the planned upgrade of a cluster, None if there is none."""
    return next(iter(view.of(PlannedUpgrade)), None)


def target_minor(planned: PlannedUpgrade | None) -> tuple[int, ...] | None:
    """Return the minor release after an upgrade, e.g. (4, 0); None if it is unknown, or has no rules here."""
    numbers = version_numbers(planned.version or "")[:2] if planned else ()
    oldest, newest = (version_numbers(version)[:2] for version in (VERSIONS[0], VERSIONS[-1]))
    return numbers if len(numbers) == len(newest) and oldest <= numbers <= newest else None


def no_upgrade(view: ClusterView) -> Judgements:
    """Yield why a check of an upgrade cannot judge: none is planned, or not to a release that is known."""
    planned = planned_upgrade(view)
    if planned is None:
        yield view.not_applicable("cluster", "no rolling upgrade is planned")
    elif target_minor(planned) is None:
        named = planned.version is not None
        error = f"the rules of Kafka {planned.version} are unknown" if named else "the plan does not name the new release"
        needs = f"--kafka-version with a release from {VERSIONS[0]} to {VERSIONS[-1]}"
        yield view.unknown("cluster", error, needs, target=planned.version or "not named", who="any node")


def pinned_protocol(view: ClusterView, broker: int) -> str | None:
    """Return the protocol that a broker's file sets, "" where it sets none; None if that is unknown."""
    settings = view.settings
    if any(read.observer == f"properties:{broker}" and read.outcome == "failed" for read in view.last_reads):
        return None
    if broker in settings.every_file:
        setting = settings.get(broker, INTER_BROKER_VERSION)
        line = settings.every_file[broker].get(INTER_BROKER_VERSION)
        return None if setting.state == "hidden" else (line.value or "").strip() if line else ""
    reported = settings.answers.get(broker, {}).get(INTER_BROKER_VERSION)
    if reported is None or (reported.value is None and reported.sensitive):
        return None
    return "" if reported.source == DEFAULT_SOURCE else (reported.value or "").strip()


def protocol_in_use(view: ClusterView) -> str | None:
    """Return the oldest protocol that a broker uses now, as a file has it: `2.8`."""
    known = (view.settings.answers.get(broker, {}).get(INTER_BROKER_VERSION) for broker in view.inter_broker.brokers)
    values = [row.value for row in known if row is not None and row.value]
    return min(values, key=version).partition("-")[0] if values else None
