from collections.abc import Mapping
from dataclasses import replace

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.set_lines import start_values
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.releases import releases
from kafka_audit.configuration.definitions import VERSIONS, StartRule
from kafka_audit.configuration.starts import start_refusal
from kafka_audit.configuration.starts.after_config import refusal_after_config
from kafka_audit.model.tables import BrokerProperty

_OWN_PAGE = frozenset({StartRule.NOT_ADVERTISED, StartRule.NOT_MAPPED, StartRule.MECHANISM_NOT_ENABLED})
"""KA311 and KA406 say these."""


@check(code="KA310", severity=Severity.CRITICAL)
def configuration_refused(view: ClusterView) -> Judgements:
    """Kafka rejects the configuration file."""
    yield from no_files(view)
    for broker, lines in sorted(view.settings.files.items()):
        known = releases(view, broker)
        evidence = {"broker": broker, "who": f"broker {broker}", "version": known[-1] if known else "of its release"}
        if not known and _is_said_elsewhere(lines):
            continue
        if not known:
            needs = f"an answer from broker {broker} to ApiVersions, or kafka-audit lint with --kafka-version"
            facts = evidence | {"error": "its release is unknown", "needs": needs}
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, facts)
        else:
            yield from _of_file(view, broker, lines, known, evidence)


def _is_said_elsewhere(lines: Mapping[str, BrokerProperty]) -> bool:
    """Return whether the oldest and the newest release refuse a file for what has a check of its own."""
    held = {key: row.value for key, row in lines.items()}
    found = [start_refusal(start_values(held, version), version) for version in (VERSIONS[0], VERSIONS[-1])]
    return all(refusal is not None and refusal.rule in _OWN_PAGE for refusal in found)


def _of_file(
    view: ClusterView, broker: int, lines: Mapping[str, BrokerProperty], known: tuple[str, ...], evidence: Mapping[str, object]
) -> Judgements:
    held = {key: row.value for key, row in lines.items()}
    refusal = start_refusal(start_values(held, known[-1]), known[-1])
    if refusal is None and len(known) == 1:
        hidden = frozenset(key for key, value in held.items() if value is None)
        shown = {key: value for key, value in held.items() if value is not None}
        refusal = refusal_after_config(shown, known[-1], unknown=hidden)
    resource = f"broker/{broker}"
    if refusal is None:
        yield view.judge(resource, Status.PASS, evidence)
        return
    if refusal.rule in _OWN_PAGE:
        return
    facts = {**evidence, "kafka_says": refusal.message, "key": refusal.key or None}
    if "config.providers" in lines:
        needs = f"the values that config.providers of broker {broker} provide"
        facts |= {"error": "config.providers provide some values", "needs": needs}
        yield view.judge(resource, Status.UNKNOWN, facts)
    elif len(known) > 1 and start_refusal(start_values(held, known[0]), known[0]) is None:
        needs = "kafka-audit lint with --kafka-version"
        facts |= {"error": f"Kafka {known[0]} accepts it, {known[1]} does not, and the broker is in between", "needs": needs}
        yield view.judge(resource, Status.UNKNOWN, facts)
    else:
        found = view.judge(resource, Status.FAIL, facts)
        yield found if len(known) == 1 else replace(found, confidence=Confidence.INFERRED)
