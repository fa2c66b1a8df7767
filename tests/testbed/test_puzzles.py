"""Puzzles: nothing in them tells what is wrong, the judge is blind, and the scripted agent names the cause by our tools."""

import json
from collections import Counter

import pytest

from testbed.puzzles import agent, bundle, judge, page
from testbed.puzzles.__main__ import ROOT, main

pytestmark = pytest.mark.large


@pytest.fixture(scope="module")
def every():
    return bundle.puzzles()


@pytest.fixture(scope="module")
def said(every, tmp_path_factory):
    return agent.answers(every.values(), str(tmp_path_factory.mktemp("store") / "store"))


def of(every, name):
    return next(puzzle for puzzle in every.values() if puzzle.recording.name == name)


def test_a_party_says_what_it_said_and_its_view(every):
    dead = of(every, "zookeeper_dead_disk")
    assert {"zookeeper", "broker:2", "logs:2", "vantage:worker", "before:broker:2"} < set(bundle.parties(dead))
    now, before = (bundle.said(dead, party) for party in ("broker:2", "before:broker:2"))
    assert '"topic": "disks"' in now
    assert '"error": 56' in now  # KAFKA_STORAGE_ERROR, by broker 2 itself
    assert '"error": 56' not in before
    lines = [line for line in now.splitlines() if line.startswith("{")]
    observers = {json.loads(line).get("observer") for line in lines}
    assert observers <= {"broker:2", None}
    with pytest.raises(bundle.BedError, match="no party 'broker:9'"):
        bundle.said(dead, "broker:9")


def test_no_answer_of_a_party_has_a_conclusion_or_a_name_of_the_recording(every):
    for puzzle in every.values():
        own = puzzle.recording.name.partition("_")[2]
        text = "\n".join(bundle.said(puzzle, party) for party in bundle.parties(puzzle))
        assert own not in text
        assert '"signature"' not in text


def test_two_tools_print_what_one_broker_lists(every):
    dead = of(every, "zookeeper_dead_disk")
    assert "Topic: disks\tPartition: 0\tLeader: 0\tReplicas: 2,0,1\tIsr: 0,1" in bundle.kafka_topics(dead)
    assert "broker 0 at 10.99.0.10:9092 (controller)" in bundle.kcat(dead)
    assert bundle.kafka_topics(of(every, "zookeeper_healthy")) == ""


@pytest.mark.parametrize(
    ("name", "answer", "verdict"),
    [
        ("zookeeper_dead_disk", "Broker 2 lost its disk.", judge.CAUSE),
        ("zookeeper_dead_disk", "The log directory of broker 2 went offline", judge.CAUSE),
        ("zookeeper_dead_disk", "The log directory of broker 1 went offline", judge.SILENT),
        ("zookeeper_dead_disk", "Perhaps broker 2 lost its disk.", judge.UNDECIDED),
        ("zookeeper_dead_disk", "Partition disks-0 has no leader", judge.SYMPTOM),
        ("zookeeper_dead_disk", "All is well.", judge.SILENT),
        ("zookeeper_dead_disk", "Broker 2 lost its disk.\n\nThe certificate of broker 2 expired", judge.WRONG),
        ("zookeeper_healthy", "All is well.", judge.QUIET),
        ("zookeeper_healthy", "Broker 2 lost its disk.", judge.WRONG),
        ("kraft_no_cluster_action", "The principal of broker 2 lacks the right ClusterAction", judge.CAUSE),
    ],
)
def test_the_judge_reads_words(every, name, answer, verdict):
    assert judge.verdict(of(every, name), answer) == verdict


def test_the_agent_names_nine_of_ten_causes_and_no_false_one(every, said):
    found = Counter(judge.verdict(puzzle, said[number]) for number, puzzle in every.items())
    broken = sum(puzzle.recording.demands is not None for puzzle in every.values())
    assert found[judge.CAUSE] >= 0.9 * broken
    assert found[judge.WRONG] == 0
    assert found[judge.QUIET] == len(every) - broken


def test_the_page_shows_this_and_a_third_is_held_out(every, said):
    size = sum(path.stat().st_size for path in bundle.CLUSTERS.glob(f"*{bundle.SUFFIX}"))
    assert (ROOT / "docs" / "puzzles.md").read_text() == page.page(every.values(), said, size)
    assert 0.2 < sum(puzzle.held_out for puzzle in every.values()) / len(every) < 0.45


def test_the_command_lists_asks_scores_and_exports(every, tmp_path, capsys, monkeypatch):
    dead = of(every, "zookeeper_dead_disk")
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(every)
    assert main(["ask", dead.number, "kcat"]) == 0
    assert "3 brokers" in capsys.readouterr().out
    assert main(["ask", "p"]) == 2
    assert "there is no puzzle 'p'" in capsys.readouterr().err
    for text, code in (("Broker 2 lost its disk", 0), ("All is well", 1)):
        monkeypatch.setattr("sys.stdin.read", lambda text=text: text)
        assert main(["score", dead.number]) == code
    assert main(["export", str(tmp_path)]) == 0
    folder = tmp_path / page.part(dead) / dead.number
    assert (folder / "broker-2.txt").read_text() == f"{bundle.said(dead, 'broker:2')}\n"
    assert (folder / "kcat.txt").is_file()
