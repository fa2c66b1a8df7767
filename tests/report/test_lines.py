"""What `explain` prints for pasted lines: the meaning, whether it is ordinary, and what a line is that is not known."""

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.report.plain_text import explain
from kafka_audit.report.plain_text.lines import line_text
from kafka_audit.says.reading import read_pasted

TIME = "[2026-03-04 10:11:12,345]"


def text_of(pasted, width=100):
    return line_text(catalogue(), read_pasted(pasted), width=width)


def test_a_line_is_explained_by_its_meaning():
    pasted = f"{TIME} INFO [Partition orders-3 broker=1] Shrinking ISR from 1,2,3 to 1,2. Leader: (x). (kafka.cluster.Partition)"
    head, blank, *lines = text_of(pasted).splitlines()
    assert head.startswith("INFO Shrinking ISR from … to …")
    assert head.endswith("; Partition)")
    assert blank == ""
    assert lines == [
        "  A leader removed followers from the ISR of a partition, or took them back.",
        "  It is       a step of something ordinary",
        "  Ordinary?   Yes, when a broker stops or restarts. Again and again for the same follower, it is",
        "              slow or loses its path.",
        "  Who         broker; its connection: replicate",
        "  Checks      KA604 under_replicated, KA603 at_min_isr, KA602 under_min_isr",
        "  Next        If it repeats, look which follower it is.",
    ]


def test_what_a_line_cannot_decide_is_named():
    first, *lines = text_of("Error processing event x").splitlines()
    assert first == "Ambiguous: this line is one of 3, which mean different things."
    assert sum("  It is " in line for line in lines) == 3


def test_several_lines_are_numbered_and_quoted_without_control_characters():
    text = text_of(
        f"{TIME} ERROR Shutdown broker because all log dirs in /data\u202e have failed (kafka.log.LogManager)\n"
        f"{TIME} WARN something else (com.example.Shop)\n"
    )
    assert "1. [2026-03-04 10:11:12,345] ERROR Shutdown broker because all log dirs in /data\\u202e have" in text
    assert "2. [2026-03-04 10:11:12,345] WARN something else (com.example.Shop)" in text
    assert "but of a program with the logger com.example.Shop." in " ".join(text.split())


def test_the_exceptions_below_a_line_are_explained_behind_it():
    text = text_of(
        f"{TIME} WARN Controller 1's connection to broker b2:9092 (id: 2 rack: null) was unsuccessful "
        "(kafka.controller.RequestSendThread)\njava.net.UnknownHostException: b2\n\tat java.net.InetAddress.x(Y.java:1)\n"
    )
    assert (
        text.index("The controller cannot connect to a broker.") < text.index("Below it:") < text.index("UnknownHostException: …")
    )


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        (f"{TIME} ERROR the moon is full", "Not known: no release of Kafka from 1.0 to 4.4 and of ZooKeeper"),
        (
            f"{TIME} DEBUG [Broker id=1] Partition x-0 marked as failed (kafka.server.X)",
            "Not known: of lines at DEBUG, only those",
        ),
        (
            "kubelet  Back-off restarting failed container kafka",
            "This is no line of a Kafka broker or of ZooKeeper, but of Kubernetes.",
        ),
    ],
)
def test_a_line_that_is_not_known_gets_no_page(pasted, said):
    found = explain.explained(catalogue(), pasted, width=200, color=False)
    assert not found.fits
    assert found.text.startswith(f"No page fits. {said}")
    assert "What it means" not in found.text


def test_a_known_line_gets_the_page_about_the_same_fault_only():
    line = (
        f"{TIME} WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Partition orders-3 marked as failed (kafka.server.X)"
    )
    found = explain.explained(catalogue(), line, width=100, color=False)
    assert found.fits
    assert found.text.startswith("WARN Partition … marked as failed  (Kafka 2.3 to 4.4; AbstractFetcherThread)")
    assert "\n\nPartition marked as failed\n" in found.text
    of_zookeeper = explain.explained(
        catalogue(), "Cannot open channel to 2 at election address b2/10.0.0.2:3888", width=100, color=False
    )
    assert of_zookeeper.fits
    assert "What it means" not in of_zookeeper.text or "KA802" in of_zookeeper.text.partition("What it means")[2]


def test_a_line_that_shows_a_fault_by_itself_says_so():
    java = (
        'Exception in thread "main" java.lang.UnsupportedClassVersionError: kafka/Kafka has been '
        "compiled by a more recent version"
    )
    assert text_of(java).startswith("It shows: the process does not start: its Java is too old")
    known = (
        f"{TIME} ERROR Exiting Kafka due to fatal exception "
        "(kafka.Kafka$)\njava.lang.ClassNotFoundException: com.example.Authorizer"
    )
    assert "It shows: the node does not start: the class com.example.Authorizer is missing" in text_of(known)


def test_a_line_that_may_pass_or_is_of_another_program_shows_no_fault():
    passing = (
        f"{TIME} WARN [RaftManager id=1] Connection to node 2 (b2/10.0.0.2:9093) could not be "
        "established. Node may not be available."
    )
    other = f"{TIME} ERROR Failed (org.apache.kafka.connect.runtime.Worker)\njava.lang.ClassNotFoundException: com.example.Sink"
    assert "It shows" not in text_of(passing)
    assert "It shows" not in text_of(other)


@pytest.mark.parametrize(
    ("line", "exception", "title"),
    [
        (
            "[ReplicaManager broker=1] Error processing append operation on partition orders-3 (kafka.server.ReplicaManager)",
            "NotEnoughReplicasException: Number of insync replicas for partition orders-3 is [1], below required minimum [2]",
            "NotEnoughReplicasException",
        ),
        (
            "WorkerSourceTask{id=a-0} failed to send record to orders: (org.apache.kafka.connect.runtime.WorkerSourceTask)",
            "RecordTooLargeException: The message is 2000000 bytes when serialized which is larger than 1048576, …",
            "RecordTooLargeException, or a follower that stops at one offset",
        ),
        (
            "[ReplicaManager broker=1] Error processing append operation on partition orders-3 (kafka.server.ReplicaManager)",
            "TimeoutException: it timed out",
            None,
        ),
    ],
)
def test_an_exception_whose_name_is_an_error_of_kafka_has_its_page(line, exception, title):
    found = explain.explained(
        catalogue(), f"{TIME} ERROR {line}\norg.apache.kafka.common.errors.{exception}", width=100, color=False
    )
    assert found.fits
    assert (found.text.splitlines().count(title) == 1) if title else ("What it means" not in found.text)


def test_no_page_stands_behind_a_line_that_is_ordinary_or_whose_exception_is_another_one():
    page = "Also typed"
    ordinary = (
        f"{TIME} WARN [QuorumController id=1] Renouncing the leadership due to a metadata log "
        "event. We were the leader at epoch 12, "
        "but in the new epoch 13, the leader is (none). Reverting to last stable offset 1233. "
        "(org.apache.kafka.controller.QuorumController)"
    )
    unknown = f"{TIME} ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\njava.lang.IllegalStateException: something new"
    for pasted in (ordinary, unknown):
        found = explain.explained(catalogue(), pasted, width=100, color=False)
        assert found.fits
        assert page not in found.text


@pytest.mark.parametrize(
    ("typed", "fits"),
    [
        ("Not updating high watermark", True),
        ("not UPDATING high watermark", True),
        ("error while fetching", False),  # the beginning of too many lines
        ("high watermark", False),
        ("Not updating low watermark", False),
    ],
)
def test_a_few_words_of_a_line_are_found_where_no_page_fits(typed, fits):
    found = explain.explained(catalogue(), typed, width=100, color=False)
    assert found.fits == fits
    assert found.text.startswith("WARN Not updating high watermark" if fits else "No page fits.")


def test_what_was_said_of_a_line_is_not_said_again():
    text = text_of(
        "+ FILE=/run/password.file\n+ OTHER=/run/other.file\n/opt/run.sh: line 32: /run/password.file: Permission denied\n"
    )
    assert text.count("Not known: no release of Kafka") == 1
    assert "2. + OTHER=/run/other.file\n\nThe same as 1." in text
    assert "It shows: the process may not use /run/password.file" in text
