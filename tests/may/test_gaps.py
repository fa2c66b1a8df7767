"""A read that is taken away makes no step bolder: what was no GO stays none, and a GO does not outlive what it rests on."""

import pytest

from checks.test_inputs import SOURCES, blinded, speaks
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import OF_TOPICS
from kafka_audit.model.errors import UsageError
from may.test_cases import CASES, answer, asked, options_of  # noqa: F401 -- a fixture
from samples import sampled

PARTS = 5
"""Every fifth case at a time; `make test` takes the first part."""

OF_REGISTRY = {"zookeeper", "registrations", "brokers"}
NEEDED = {
    "stop": OF_REGISTRY | {"topics", "quorum"},
    "restart": OF_REGISTRY | {"topics", "settings"},
    "finalize": OF_REGISTRY | {"quorum"},
    "delete-znode": {"zookeeper", "registrations"},
    "remove-voter": {"brokers", "quorum", "controllers"},
    "unregister": {"brokers", "views", "quorum"},
    "format": OF_REGISTRY | {"topics", "views"},
    "reassign": OF_REGISTRY | {"topics", "disks"},
    "delete-topic": OF_REGISTRY | {"topics", "settings"},
    "set": {"zookeeper", "brokers"},
}
"""Without one of these a step of a kind is no GO; the gates of `upgrade` and `migrate` read nearly all."""


def without(view, source):
    """Return a cluster in which a source could not be read; where asked topics are, the registry says, in KRaft a view."""
    blind = blinded(view, source)
    lists = source.views if view.kraft else source.zookeeper or "RegisteredTopic" in {table.__name__ for table in source.tables}
    rows = {table: () if lists and table in OF_TOPICS else found for table, found in blind.differences.rows.items()}
    return ClusterView(blind.snapshot, blind.previous, Differences(rows=rows))


def gaps(name, view, step):
    """Yield the sources that speak of the cluster of a case, and whether the answer GO needs each."""
    wanted = CASES[name][1]
    for source in (source for source, told in SOURCES.items() if speaks(told, view)):
        down = wanted.get("is_down") and source == "settings"  # what a partition needs is no question then
        yield source, wanted["answer"] == "GO" and not down and source in NEEDED.get(step.kind, ())


@pytest.mark.parametrize("part", sampled(range(PARTS), every=PARTS))
def test_a_gap_makes_no_step_bolder(asked, part):  # noqa: F811 -- the fixture
    bolder, kept = {}, {}
    for name, (view, step) in list(asked.items())[part::PARTS]:
        wanted = CASES[name][1]["answer"]
        for source, is_needed in gaps(name, view, step):
            try:
                found = answer(without(view, SOURCES[source]), step, options_of(CASES[name][1])).permit
            except UsageError as error:
                found = str(error)
            if found not in {"GO", "NOT_NOW", "NEVER", "UNKNOWN"} or found == "GO" != wanted:
                bolder[name, source] = wanted, found
            if is_needed and found == "GO":
                kept[name] = source
    assert (bolder, kept) == ({}, {})


def test_each_source_that_a_step_needs_is_taken_from_a_go(asked):  # noqa: F811 -- the fixture
    seen = {(step.kind, source) for name, (view, step) in asked.items() for source, needed in gaps(name, view, step) if needed}
    assert seen == {(kind, source) for kind, sources in NEEDED.items() for source in sources}
