"""One rule on printed text: each fault's words, and that no report of another fault, and of no healthy cluster, has them."""

import re

import pytest

from faults import subjects
from kafka_audit.faults.fault import known_faults
from samples import sampled
from testbed.corpus import confusion, printed, record, words
from testbed.corpus.catalogue import faults
from testbed.corpus.documents import terminal_reports
from testbed.corpus.inputs import ALL_INPUTS, INPUTS, METADATA_ALONE
from testbed.corpus.recorded import CLUSTERS, SUFFIX, recordings
from testbed.corpus.words import Demands

RECORDED = {name: recording for name, recording in recordings().items() if (CLUSTERS / f"{name}{SUFFIX}").is_file()}
BROKEN = [name for name, recording in RECORDED.items() if recording.demands is not None]
HEALTHY = [name for name in RECORDED if name not in BROKEN]
CUT = Demands(cause="controller [01] cannot reach", resource="broker 2", guess="out of reach")
OTHER = {"disk": Demands(cause="log dir.*is offline", resource="broker 2")}
ORDER = ("cause", "undecided", "symptom", "silent", "wrong")
BY_CODES = {confusion.DECIDED: "cause", confusion.SUSPECTED: "undecided"}


@pytest.fixture(scope="module")
def texts(request) -> dict[str, str]:
    return terminal_reports(confusion.pairs_of(name for name in RECORDED if name in subjects.selected(request)))


@pytest.fixture(scope="module")
def verdicts(request) -> confusion.Verdicts:
    return subjects.verdicts(subjects.selected(request) & {*BROKEN})


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("CRITICAL Broker 2 is cut off: controller 0 cannot reach it", "cause"),
        ("Broker 2 is cut off: most likely controller 0 cannot reach it", "cause"),
        ("Controller 0 cannot reach 10.99.0.12:9092", "cause"),
        ("Brokers 1 and 2: controller 0 cannot reach them", "cause"),
        ("Broker 2 is cut off: possibly controller 0 cannot reach it", "undecided"),
        ("Broker 2 lists no broker; cause not decided\n  CANDIDATES\n    ? an address out of reach", "undecided"),
        ("Broker 2 lists no broker; cause not decided\n    controller 0 cannot reach broker 2", "undecided"),
        ("Broker 2 lists no broker; cause not decided\n    - an address out of reach is ruled out", "symptom"),
        ("Broker 1 lists no broker; cause not decided\n    ? an address out of reach", "symptom"),
        ("? an address out of reach", "silent"),
        ("controller 0 cannot reach broker 1", "symptom"),
        ("controller 0 cannot reach\nbroker 2", "symptom"),
        ("broker 22 is fine, controller 0 cannot reach it", "symptom"),
        ("Log dir /d of broker 2 is offline", "wrong"),
        ("controller 0 cannot reach broker 2\n\nLog dir /d of broker 2 is offline", "wrong"),
        ("Log dir /d of broker 2 is possibly offline, it is offline", "symptom"),
        ("Clear: no failure above LOW", "silent"),
        ("", "silent"),
    ],
)
def test_the_worth_of_a_text(text, verdict):
    assert words.worth(text, CUT, OTHER, 3).verdict == verdict


KCAT = """ 3 brokers:
  broker 0 at 10.99.0.10:9092
  topic "orders" with 1 partitions:
    partition 0, leader {}, replicas: 0,1, isrs: {}
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (KCAT.format(0, "0,1"), "silent"),
        (KCAT.format(0, "0"), "symptom"),
        (KCAT.format(-1, "0,1"), "symptom"),
        (KCAT.format(0, "0,1").replace(" 3 brokers", " 2 brokers"), "symptom"),
        ("% ERROR: Failed to acquire metadata: Local: Broker transport failure", "symptom"),
        ("Topic: orders\tPartition: 0\tLeader: none\tReplicas: 0,1\tIsr: 0", "symptom"),
        ("Topic: orders\tPartition: 0\tLeader: 0\tReplicas: 0,1\tIsr: 0,1", "silent"),
        ("org.apache.kafka.common.errors.TimeoutException: Call", "symptom"),
        ("no end after 40 s", "symptom"),
    ],
)
def test_the_rule_is_that_of_all_tools(text, verdict):
    assert words.worth(text, CUT, OTHER, 3).verdict == verdict


def test_codes_are_taken_away_before():
    text = words.without_codes("HIGH  KA302, measured. A path (KA501): KA718 fails")
    assert text == "HIGH  , measured. A path:  fails"
    assert words.names(Demands(cause="KA302", resource="cluster"), "KA302 fails") == ""


@pytest.mark.parametrize("fault", faults().values(), ids=faults())
def test_a_fault_demands_words_for_its_cause_and_names_faults_that_exist(fault):
    assert not re.search(r"KA\\?d", fault.demands.cause + fault.demands.guess)
    assert not re.search(r"KA\d", fault.demands.cause + fault.demands.guess)
    assert re.compile(fault.demands.cause).groups >= 0
    assert set(fault.besides) <= set(printed.every_demand()) - {fault.id}


def own_and_others(name):
    recording = RECORDED[name]
    return recording.demands, printed.others(recording.demands, recording.besides)


@pytest.mark.parametrize("name", sampled(BROKEN, every=20))
def test_the_report_on_a_recorded_cluster_names_its_cause_and_no_other(texts, name):
    worth = words.worth(texts[f"{name} {ALL_INPUTS}"], *own_and_others(name), 3)
    assert (worth.verdict, worth.false) == ("cause", ""), worth.line


@pytest.mark.parametrize("name", sampled(BROKEN, every=20))
def test_a_text_is_worth_no_less_than_the_codes_whatever_is_missing(texts, verdicts, name):
    own, others = own_and_others(name)
    for inputs in INPUTS:
        here = {key: demand for key, demand in others.items() if key != "auditor_lacks_rights" or inputs != METADATA_ALONE}
        by_codes = verdicts[name][inputs]
        worth = words.worth(texts[f"{name} {inputs}"], own, here, 3)
        assert worth.verdict != "wrong", (inputs, worth)
        assert ORDER.index(worth.verdict) <= ORDER.index(BY_CODES.get(by_codes, by_codes)), (inputs, by_codes, worth)


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("name", sampled(HEALTHY))
def test_the_report_on_a_healthy_cluster_names_no_fault_and_no_symptom(texts, name, inputs):
    text = texts[f"{name} {inputs}"]
    true = {"auditor_lacks_rights"} if inputs == METADATA_ALONE else set()
    assert words.named(text, printed.others(None, true)) == {}
    assert inputs == METADATA_ALONE or "vantage" in name or not words.symptom(text, 3)  # probes of a misplaced vantage do fail


def test_causes_of_one_kind_have_words_of_their_own():
    kinds = [fault.kind for fault in known_faults()]
    several = [fault for fault in known_faults() if kinds.count(fault.kind) > 1]
    assert all(bool(fault.words) == (kinds.count(fault.kind) > 1) for fault in known_faults())
    assert len({fault.words for fault in several}) == len(several)
    shared = {(fault.kind, fault.group, fault.check, fault.word, fault.sentence) for fault in known_faults()}
    assert len(shared) == len({*kinds}), "faults of one kind are one to a reader"


RUNS = [run for (kind, _, _), run in record.newest(record.read()).items() if kind == "fault"]


@pytest.mark.parametrize("fault", faults().values(), ids=faults())
def test_no_recorded_headline_names_another_fault(fault):
    others = printed.others(fault.demands, fault.besides)
    found = [words.named(run["headline"], others) for run in RUNS if run["id"] == fault.id]
    assert [miss for miss in found if miss] == []


KEPT = {(run["id"], run["version"]): printed.kept(run) for run in record.newest(record.read()).values() if run["kind"] == "fault"}


@pytest.mark.parametrize(("fault", "version"), [key for key, texts in KEPT.items() if printed.HEALED in texts])
def test_the_report_on_a_repaired_cluster_no_longer_names_the_cause(fault, version):
    known = faults()[fault]
    if not known.usual and not set(known.cause) & set(known.lasting):
        assert words.names(known.demands, KEPT[fault, version][printed.HEALED]) == ""


def test_kept_texts_are_of_the_run_whose_date_they_have(tmp_path):
    run = {"id": "one_rack", "version": "4.3.0 KRaft", "date": "2026-11-27T08:00:00Z"}
    assert printed.kept(run, tmp_path) == {}
    printed.keep(run["id"], run["version"], run["date"], {printed.OWN: "All replicas are on rack a"}, tmp_path)
    assert printed.kept(run, tmp_path) == {printed.OWN: "All replicas are on rack a"}
    assert printed.kept(run | {"date": "2026-11-28T08:00:00Z"}, tmp_path) == {}
