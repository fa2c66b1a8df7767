"""Signs of the version of a broker: the APIs that it offers, and its inter-broker protocol version."""

from collections import defaultdict
from collections.abc import Mapping

from kafka_audit.checks import ClusterView
from kafka_audit.checks.configuration.effective import Effective
from kafka_audit.model.tables import BrokerApi
from kafka_audit.model.text import counted

KEY = "inter.broker.protocol.version"
_NAMES = {0: "Produce", 1: "Fetch", 2: "ListOffsets", 3: "Metadata", 18: "ApiVersions", 32: "DescribeConfigs"}

Ranges = tuple[tuple[int, tuple[int, int]], ...]  # API key, lowest and highest version; sorted


def offered_apis(view: ClusterView) -> Mapping[int, Ranges]:
    """Return the APIs that brokers offered, by broker."""
    found: dict[int, set[tuple[int, tuple[int, int]]]] = defaultdict(set)
    for row in view.of(BrokerApi):
        if row.broker_id >= 0:
            found[row.broker_id].add((row.api_key, (row.min_version, row.max_version)))
    return {broker: tuple(sorted(ranges)) for broker, ranges in found.items()}


def protocol(effective: Effective, broker: int) -> str | None:
    """Return the protocol version without the step in it (3.9 for 3.9-IV0); "" if the file does not set it."""
    value = effective.get(broker, KEY)
    if not value.known or effective.between.kraft or effective.settings.get(broker, "process.roles").value:
        return None
    reported = value.explicit or value.source == "DescribeConfigs"
    return (value.text or "").partition("-")[0] if reported else ""


def unlike(own: Mapping[int, tuple[int, int]], usual: Mapping[int, tuple[int, int]]) -> str:
    """Return in which APIs an offer is unlike the usual one, for a sentence."""
    unlike = sorted(key for key in {*own, *usual} if own.get(key) != usual.get(key))
    first = min((key for key in unlike if key in _NAMES), default=unlike[0])
    name = f"{_NAMES[first]} (API {first})" if first in _NAMES else f"API {first}"
    more = f", and {counted(len(unlike) - 1, 'more API')}" if len(unlike) > 1 else ""
    return f"it offers {name} in {_versions(own.get(first))}, most brokers in {_versions(usual.get(first))}{more}"


def _versions(offered: tuple[int, int] | None) -> str:
    return "no version" if offered is None else f"versions {offered[0]} to {offered[1]}"


def gap(
    effective: Effective, broker: int, offers: Mapping[int, Ranges], protocols: Mapping[int, str]
) -> tuple[str, str | None] | None:
    """Return the missing data and its source; None if everything was compared."""
    if effective.between.asked and (broker not in offers or len(offers) == 1):
        subject = f"broker {broker}" if broker not in offers else "another broker"
        return f"{subject} did not answer ApiVersions", f"an answer from {subject}"
    if effective.between.asked and effective.between.kraft:
        return None
    if broker not in protocols:
        return f"{KEY} is unknown", None
    if not effective.between.asked and "" in protocols.values():
        return f"files without {KEY} use the version of the software", "an audit of the running brokers"
    return None
