"""Properties of every diagnosis, over all cases of checks of edges, all clusters of incidents' cases, and recorded real clusters.

They hold for whatever computes a diagnosis: facts of a snapshot go in, the finished document comes out (`documents`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import pytest

from faults import known, subjects
from faults.added import with_open_probes
from faults.claims import SURE, claims, failures, ids_in, ids_in_evidence, party, stronger, unsupported_exclusions
from faults.inputs import without_each
from faults.matrix_claims import EVIDENCE, contradictions
from faults.relabelled import hosts_of, other_ids, shape, shuffled, topics_of, with_ids, with_texts
from kafka_audit.model.tables import Probe, Snapshot
from testbed.corpus.documents import Document, Pair, documents

NAMES = subjects.names()
WITHOUT, PROBED = " without ", " with open probes to broker "
SAMPLED = 20
"""One of so many."""
REACH = frozenset({"KA301", "KA302", "KA303"})
"""Causes that a probe which connects speaks against."""


def over(red: Mapping[str, str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Test cases of one file together, each recorded cluster, and each known fault alone, as one that must fail.

    A sample of the files and clusters is enough for a commit; `make integration` takes all.
    """
    together = defaultdict(list)
    for name in NAMES:
        if name not in red:
            together[family(name)].append(name)
    sample = [*together][SAMPLED // 2 :: SAMPLED]
    params = [pytest.param(tuple(of), id=one, marks=() if one in sample else pytest.mark.large) for one, of in together.items()]
    for name, why in red.items():
        fails = pytest.mark.xfail(reason=why, strict=True, raises=AssertionError)
        params.append(pytest.param((name,), id=name, marks=[fails, pytest.mark.large]))
    return pytest.mark.parametrize("names", params)


def family(name: str) -> str:
    """Return what is tested together: a recorded cluster, or the cases of one file."""
    return name if name in subjects.recorded_names() else name.partition("-")[0]


class Judged:
    """Documents on clusters, and on the same clusters changed. One pass of the engine makes all that a property needs."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.pairs = subjects.every()

    @cached_property
    def whole(self) -> dict[str, Document]:
        """With the evidence of every finding that says between which parties an edge is, of an incident or not."""
        return documents({name: self.pairs[name] for name in self.names}, evidence=EVIDENCE)

    @cached_property
    def told(self) -> dict[str, Document]:
        """With the evidence of findings of incidents alone, like all that is changed."""
        return {name: of_incidents_alone(document) for name, document in self.whole.items()}

    @cached_property
    def diagnosed(self) -> list[str]:
        """Clusters with a diagnosis, and all real ones."""
        return [name for name in self.names if name in subjects.recorded_names() or claims(self.told[name])]

    @cached_property
    def reduced(self) -> dict[str, Document]:
        """Without each input."""
        pairs: dict[str, Pair] = {}
        for name in self.diagnosed:
            snapshot, previous = self.pairs[name]
            for what, left in without_each(snapshot):
                key = f"{name}{WITHOUT}{what}"
                pairs[key] = of_its_own(key, left, previous)
        return documents(pairs, passing=False)

    @cached_property
    def probed(self) -> dict[str, Document]:
        """With open probes to each broker."""
        pairs: dict[str, Pair] = {}
        for name in self.diagnosed:
            snapshot, previous = self.pairs[name]
            for broker in sorted({probe.broker_id for probe in snapshot.of(Probe)} - {-1}):
                if more := with_open_probes(snapshot, broker):
                    key = f"{name}{PROBED}{broker}"
                    pairs[key] = of_its_own(key, more, previous)
        return documents(pairs, passing=False)

    @cached_property
    def renamed(self) -> dict[str, tuple[Document, dict[int, int], dict[str, str]]]:
        """With other ids, hosts and topics, and which stands for which."""
        pairs, ids, texts = {}, {}, {}
        for name in self.eventful:
            both = [one for one in self.pairs[name] if one is not None]
            ids[name] = other_ids(row for one in both for row in one.rows)
            texts[name] = {host: f"10.77.{number}.{200 - number}" for number, host in enumerate(hosts_of(both[0]))}
            texts[name] |= {topic: f"{chr(122 - number % 26)}{topic}" for number, topic in enumerate(topics_of(both[0]))}
            pairs[name] = of_pair(self.pairs[name], lambda one, n=name: with_texts(with_ids(one, ids[n]), texts[n]))
        return {name: (document, ids[name], texts[name]) for name, document in documents(pairs).items()}

    @cached_property
    def shuffled(self) -> dict[str, Document]:
        """With the rows in another order."""
        return documents({name: of_pair(self.pairs[name], lambda one: shuffled(one, seed=3)) for name in self.eventful})

    @cached_property
    def eventful(self) -> list[str]:
        """Clusters with an incident, and all real ones."""
        return [name for name in self.names if name in subjects.recorded_names() or self.told[name]["incidents"]]


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> Judged:
    """Documents on what selected tests are about (`-k KA302`)."""
    wanted: set[str] = set()
    for item in request.session.items:
        params = getattr(getattr(item, "callspec", None), "params", {}) if item.path == request.path else {}
        wanted |= {name.partition(WITHOUT)[0].partition(PROBED)[0] for name in (*params.get("names", ()), params.get("name", ""))}
    return Judged(name for name in NAMES if name in wanted)


def changed(
    judged: Judged, names: tuple[str, ...], found: Mapping[str, Document], word: str, red: Mapping[str, str]
) -> Iterator[tuple[str, Document, Document]]:
    """Yield each change of these clusters by its name, with the document before and after; known faults only by their name."""
    for key, document in found.items():
        name = key.partition(word)[0]
        if key in names or (name in names and key not in red):
            yield key, judged.told[name], document


@over(known.HEADLINES)
def test_the_ids_in_a_headline_are_in_the_evidence_of_its_findings(judged, names):
    wrong = {
        f"{name}: {incident['headline']}": sorted(strangers)
        for name in names
        for incident in judged.told[name]["incidents"]
        if (strangers := ids_in(incident["headline"]) - ids_in_evidence(judged.told[name], incident))
    }
    assert wrong == {}


@over(known.EXCLUSIONS)
def test_what_is_called_ruled_out_has_an_observation_against_it(judged, names):
    wrong = {
        f"{name}: {incident['headline']}": lines
        for name in names
        for incident in judged.told[name]["incidents"]
        if (lines := unsupported_exclusions(judged.told[name], incident))
    }
    assert wrong == {}


@over(known.LESS_DATA)
def test_less_data_gives_less_certainty_and_never_another_cause(judged, names):
    wrong = {
        key: surer
        for key, before, after in changed(judged, names, judged.reduced, WITHOUT, known.LESS_DATA)
        if (surer := stronger(before, after))
    }
    assert wrong == {}


@over(known.OPEN_PROBES)
def test_a_probe_that_connects_never_makes_an_edge_more_broken(judged, names):
    wrong = {}
    for key, before, after in changed(judged, names, judged.probed, PROBED, known.OPEN_PROBES):
        broker = f"broker/{key.rpartition(' ')[2]}"
        known_before, known_after = failures(before), failures(after)
        worse = {code for (code, at), rank in known_after.items() if at == broker and rank > known_before.get((code, at), 0)}
        was_broken = any(one["status"] == "FAIL" and party(one["resource"]["name"]) == broker for one in before["findings"])
        # What reaches a broker that does not work is no longer a suspect: another cause may become surer, none of reachability.
        worse &= REACH if was_broken else worse
        if worse or {one for one, rank in stronger(before, after).items() if one[1] != broker and rank[1] >= SURE}:
            wrong[key] = sorted(worse), stronger(before, after)
    assert wrong == {}


@over(known.OTHER_NAMES)
def test_other_ids_hosts_and_topics_change_names_only(judged, names):
    wrong = {}
    for name in set(names) & judged.renamed.keys():
        document, ids, texts = judged.renamed[name]
        wanted, seen = shape(judged.told[name], ids, texts), shape(document)
        if wanted != seen:
            wrong[name] = {part: (without(wanted[part], seen[part]), without(seen[part], wanted[part])) for part in wanted}
    assert wrong == {}


@over(known.OTHER_ORDER)
def test_the_order_of_rows_changes_nothing_that_is_concluded(judged, names):
    found = {name: conclusions(judged.shuffled[name]) for name in names if name in judged.shuffled}
    assert {name: said for name, said in found.items() if said != conclusions(judged.told[name])} == {}


@over({})
def test_the_matrix_contradicts_no_finding(judged, names):
    """No edge works there that a finding calls broken, and none is broken there where a finding passes."""
    assert {name: wrong for name in names if (wrong := list(contradictions(judged.whole[name])))} == {}


def of_incidents_alone(document: Document) -> Document:
    headed = {fingerprint for incident in document["incidents"] for fingerprint in incident["findings"]}
    return {
        **document,
        "findings": [one if one["fingerprint"] in headed else one | {"evidence": {}} for one in document["findings"]],
    }


def of_its_own(key: str, snapshot: Snapshot, previous: Snapshot | None) -> Pair:
    """Return a changed cluster under its own ids: the engine tells snapshots apart by them, previous ones too."""
    before = None if previous is None else replace(previous, snapshot_id=f"{key}-previous")
    return replace(snapshot, snapshot_id=key), before


def of_pair(pair: Pair, function: Callable[[Snapshot], Snapshot]) -> Pair:
    snapshot, previous = pair
    return function(snapshot), None if previous is None else function(previous)


def without(some: list[object], others: list[object]) -> list[object]:
    return [one for one in some if one not in others]


def conclusions(document: Document) -> object:
    return shape(document), [incident["headline"] for incident in document["incidents"]]
