"""A read that is taken away makes no step bolder: what was no GO stays none, and a GO does not outlive what it rests on."""

from checks.test_inputs import SOURCES, blinded, speaks
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import OF_TOPICS
from kafka_audit.model.errors import UsageError
from may.test_cases import CASES, answer, asked, options_of  # noqa: F401 -- a fixture

NEEDED = {
    "stop": {"zookeeper", "registrations", "topics", "brokers", "views", "quorum"},
}
"""Without these a step of a kind is no GO."""


def without(view, source):
    """Return a cluster in which a source could not be read; where asked topics are, the registry says, in KRaft a view."""
    blind = blinded(view, source)
    lists = source.views if view.kraft else source.zookeeper or "RegisteredTopic" in {table.__name__ for table in source.tables}
    rows = {table: () if lists and table in OF_TOPICS else found for table, found in blind.differences.rows.items()}
    return ClusterView(blind.snapshot, blind.previous, Differences(rows=rows))


def test_a_gap_makes_no_step_bolder(asked):  # noqa: F811 -- the fixture
    bolder, kept = {}, {}
    for name, (view, step) in asked.items():
        wanted = CASES[name][1]["answer"]
        for source in (source for source, told in SOURCES.items() if speaks(told, view)):
            try:
                found = answer(without(view, SOURCES[source]), step, options_of(CASES[name][1])).permit
            except UsageError as error:
                found = str(error)
            if found == "GO" != wanted or found not in {"GO", "NOT_NOW", "NEVER", "UNKNOWN"}:
                bolder[name, source] = wanted, found
            elif found == wanted == "GO":
                kept.setdefault(step.kind, {}).setdefault(source, []).append(name)
            print(f"{step.kind}|{wanted}|{found}|{source}|{name}")
    assert bolder == {}
