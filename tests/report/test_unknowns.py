"""What is not known, by what would tell it: many checks as codes, the same of several brokers once."""

import pytest

import small_cluster
from kafka_audit.report.unknowns import OpenQuestion, questions
from reported import report_of


def read(broker, operation, needs, error="timeout"):
    head = {"observer": f"broker:{broker}", "broker": broker, "operation": operation}
    return {**head, "error": error, "kind": error, "needs": needs}


def unknown(code, place, needs, error="timeout"):
    return {
        "status": "UNKNOWN",
        "code": code,
        "resource": {"name": place},
        "message": f"Cannot determine whether {code} holds at {place}",
        "evidence": {"error": error} | ({"needs": needs} if needs else {}),
        "remediation": f"Needed: {needs}." if needs else "Ask by hand.",
    }


def document(reads=(), findings=()):
    return {"coverage": {"unknown": [*reads]}, "findings": [*findings]}


def in_a_line(to_know, line):
    return OpenQuestion(to_know=to_know, lines=(line,), brief=line)


def test_reads_that_failed_alike_are_one_line():
    reads = [read(0, "ApiVersions", "a way to b0:9092"), read(0, "Metadata", "a way to b0:9092"), read(0, "X", None, "refused")]
    assert questions(report_of(document(reads))) == [
        in_a_line("a way to b0:9092", "broker 0, ApiVersions and Metadata: timeout"),
        in_a_line("", "broker 0, X: refused"),
    ]


@pytest.mark.parametrize(("count", "folded"), [(3, False), (4, True)])
def test_more_than_three_checks_that_need_the_same_are_named_by_their_codes(count, folded):
    codes = [f"KA10{number}" for number in range(count)]
    found = [unknown(code, "broker/2/listener/A" if code == "KA101" else "broker/2", "a view") for code in reversed(codes)]
    (one,) = questions(report_of(document(findings=found)))
    assert len(one.lines) == (1 if folded else 3)
    assert one.lines[0] == (
        "4 checks of broker 2: KA100, KA101, KA102, KA103" if folded else "KA102 broker/2: whether KA102 holds at broker/2"
    )


def test_checks_of_the_cluster_and_of_brokers_are_folded_apart():
    of_brokers = [unknown("KA302", f"broker/{broker}", "a right") for broker in range(3)]
    of_cluster = [unknown(code, "cluster", "a right") for code in ("KA602", "KA603", "KA605")]
    (one,) = questions(report_of(document(findings=[*of_brokers, *of_cluster])))
    assert one.lines == ("1 check of brokers 0, 1 and 2: KA302", "3 checks of the cluster: KA602, KA603, KA605")


def test_brokers_that_lack_the_same_are_told_once():
    found = [unknown("KA703", f"broker/{broker}", f"an answer from b{broker}:9092") for broker in (4, 7, 11)]
    assert questions(report_of(document(findings=found))) == [
        in_a_line("an answer from b4:9092; likewise for brokers 7 and 11", "KA703 broker/4: whether KA703 holds at broker/4")
    ]


def test_a_question_in_brief_counts_its_checks_and_names_three():
    found = [unknown(f"KA10{number}", "broker/2", "a view") for number in range(4)]
    (one,) = questions(report_of(document([read(2, "Metadata", "a view")], found)))
    assert one.brief == "broker 2: timeout; 4 checks: KA100, KA101, KA102 and 1 more"


def test_reads_of_several_brokers_with_the_same_kind_of_error_are_told_once():
    reads = [read(b, "Metadata", f"a way to b{b}:9092") | {"error": f"timeout: no answer from b{b}:9092"} for b in (4, 7)]
    (one,) = questions(report_of(document(reads)))
    assert one.to_know == "a way to b4:9092; likewise for broker 7"
    assert one.lines == ("broker 4, Metadata: timeout: no answer from b4:9092",)


@pytest.mark.parametrize(
    "other",
    [
        unknown("KA704", "broker/7", "an answer from b7:9092"),
        unknown("KA703", "broker/7", "a file of b7:9092", "not read"),
        unknown("KA703", "broker/7", ""),
        unknown("KA703", "cluster", "an answer from b7:9092"),
    ],
    ids=["another check", "another need", "nothing would do", "of no broker"],
)
def test_brokers_that_lack_something_else_are_told_apart(other):
    found = questions(report_of(document(findings=[unknown("KA703", "broker/4", "an answer from b4:9092"), other])))
    assert len(found) == 2
    assert not any("likewise" in one.to_know for one in found)


def test_nothing_is_lost_of_many_brokers(told):
    reads = [{"observer": f"broker:{n}", "operation": "Metadata", "error": f"error {n}", "needs": "rights"} for n in range(25)]
    report, _ = told([small_cluster.finding("KA001", "broker/0")], {"brokers": {}, "reads": reads})
    (one,) = questions(report_of(report))
    assert len(one.lines) == 11
    assert one.lines[-1] == "and 15 more reads, in findings.json"


def untrusted(broker, host):
    return {**read(broker, "Metadata", f'trusted_hosts: ["{host}"]', "not trusted"), "untrusted_host": host}


def test_brokers_that_the_cluster_file_does_not_trust_are_one_line_of_it():
    reads = [untrusted(number, f"b{number}.kafka.corp") for number in range(100)]
    checks = [unknown("KA301", f"broker/{number}", f'trusted_hosts: ["b{number}.kafka.corp"]') for number in range(100)]
    (one,) = questions(report_of(document(reads, checks)))
    hosts = ", ".join(f'"b{number}.kafka.corp"' for number in range(100))
    assert one.to_know == f"trusted_hosts: [{hosts}] in the cluster file, if these hosts are yours"
    assert one.lines[:2] == ("broker 0, Metadata: not trusted", "broker 1, Metadata: not trusted")
    assert one.lines[10] == "and 90 more reads, in findings.json"
    assert one.lines[11:] == ("KA301 broker/0: whether KA301 holds at broker/0", "KA301: and 99 more like it, in findings.json")


def test_more_hosts_than_a_line_takes_are_counted():
    (one,) = questions(report_of(document([untrusted(number, f"b{number}") for number in range(103)])))
    assert one.to_know.endswith('"b99"] and 3 more hosts of findings.json in the cluster file, if these hosts are yours')


def test_nothing_but_the_line_itself_gets_into_the_one_for_all():
    evil = [
        read(8, "Metadata", 'trusted_hosts: ["b8"]', "not trusted"),
        untrusted(9, 'b9", "*.evil.example'),
        read(7, "X", 'listeners: {trusted_hosts: ["evil"]}'),
    ]
    found = questions(report_of(document([untrusted(1, "b1"), *evil])))
    assert [one.to_know for one in found if "if this host is yours" in one.to_know] == [
        'trusted_hosts: ["b1"] in the cluster file, if this host is yours'
    ]
    assert len(found) == 3
