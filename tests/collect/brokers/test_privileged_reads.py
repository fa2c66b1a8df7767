"""What a broker tells only to those who may: asked where the own rights are known to allow it, and nowhere else."""

import pytest
from kafka.protocol.admin import DescribeAclsResponse

from collect import fakes
from collect.fakes import NO_AUTHORIZER, FakeBroker, Garbling, Trickling, server
from collect.taken import target
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.targets import UNREGISTERED
from kafka_audit.collect.brokers import acls
from kafka_audit.collect.brokers.acls import AclBook
from kafka_audit.collect.brokers.broker_view import CLUSTER, IDENTITY, BrokerAsker
from kafka_audit.collect.brokers.privileged_reads import ACLS, LOG_DIRS, REASSIGNMENTS
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.rows.acl_sets import AclEntry
from kafka_audit.collect.rows.source_reads import MAY_DESCRIBE
from kafka_audit.model.tables import BOOTSTRAP, AclHolder, BrokerIdentity, LogDir, Reassignment, SourceRead
from made_rows import of

DESCRIBE, DESCRIBE_CONFIGS = 1 << 8, 1 << 10
ALL = {3: (0, 12), 18: (0, 3), 29: (0, 3), 32: (0, 4), 35: (0, 4), 46: (0, 0), 60: (0, 0)}
OLD = {3: (0, 5), 18: (0, 1), 29: (0, 0), 32: (0, 1), 35: (0, 0)}  # 1.1
RULES = [
    (4, "kafka-cluster", 3, [("User:kafka", "*", 9, 3), ("User:eve", "10.0.0.1", 9, 2)]),
    (2, "pay", 4, [("User:a", "*", 3, 3)]),
]
LOGGED = (29, 46)  # a refusal of these is an ERROR in the broker's log


@pytest.fixture
def broker():
    fake = FakeBroker(2)
    fake.apis = dict(ALL)
    fake.brokers = {2: ("127.0.0.1", 1)}
    fake.acls = RULES
    with server(fake, one_at_a_time=True) as fake.address:
        yield fake


def ask(fake, book=None, *, broker_id=2, read_s=60.0, listener="PLAINTEXT"):
    return (
        BrokerAsker([target(fake.address, broker_id, listener)], 1, ClientOptions(read_s=read_s), book or ViewBook()).ask().rows
    )


def reads(rows):
    return {row.operation: (row.outcome, row.error, row.needs) for row in of(rows, SourceRead)}


def reasons(rows):
    return {row.operation: (row.reason, row.message) for row in of(rows, SourceRead) if row.outcome == "failed"}


ANSWERED = ("answered", None, None)
DENIED = ("failed", "CLUSTER_AUTHORIZATION_FAILED", MAY_DESCRIBE)
UNTRIED = ("failed", "not tried", MAY_DESCRIBE)


def test_with_the_right_everything_is_told(broker):
    broker.log_dirs = {"/a": (0, {"orders": [0, 1, fakes.FUTURE], "x": [3]}), "/b": (56, {})}
    broker.reassignments = {("orders", 1): ((0, 1, 2), (2,), (0,))}
    book = ViewBook()
    rows = ask(broker, book)
    assert [reads(rows)[operation] for operation in (ACLS, LOG_DIRS, REASSIGNMENTS)] == [ANSWERED] * 3
    (holder,) = of(rows, AclHolder)
    assert (holder.observer, holder.broker_id, holder.acls) == ("broker:2", 2, 3)
    assert [tuple(AclEntry._make(tuple(vars(row).values())[1:])) for row in book.acls.rows([holder.acls_digest])] == [
        ("Cluster", "kafka-cluster", "LITERAL", "User:eve", "10.0.0.1", "ClusterAction", "DENY"),
        ("Cluster", "kafka-cluster", "LITERAL", "User:kafka", "*", "ClusterAction", "ALLOW"),
        ("Topic", "pay", "PREFIXED", "User:a", "*", "Read", "ALLOW"),
    ]
    log_dirs = {
        (log_dir.path, log_dir.error, log_dir.replicas, log_dir.total_bytes, log_dir.usable_bytes) for log_dir in of(rows, LogDir)
    }
    assert log_dirs == {("/a", 0, 3, 1000, None), ("/b", 56, 0, 1000, None)}
    (moved,) = of(rows, Reassignment)
    assert (moved.topic, moved.partition, moved.replicas, moved.adding, moved.removing) == ("orders", 1, (0, 1, 2), (2,), (0,))


@pytest.mark.parametrize("operations", [0, DESCRIBE_CONFIGS])
def test_without_the_right_nothing_is_tried(broker, operations):
    broker.operations, broker.may_describe = operations, False
    rows = ask(broker)
    assert {operation: reads(rows)[operation] for operation in (ACLS, LOG_DIRS, REASSIGNMENTS)} == dict.fromkeys(
        (ACLS, LOG_DIRS, REASSIGNMENTS), UNTRIED
    )
    assert reasons(rows)[ACLS] == ("NOT_AUTHORIZED", "DescribeCluster does not list this right")
    assert [broker.asked(key) for key in (29, 35, 46)] == [[], [], []]
    assert of(rows, AclHolder) + of(rows, LogDir) == []


def test_a_broker_that_knows_no_own_rights_is_asked_first_what_refuses_silently(broker):
    broker.apis, broker.may_describe = dict(OLD), False
    rows = ask(broker)
    assert {operation: reads(rows)[operation] for operation in (ACLS, LOG_DIRS)} == {ACLS: UNTRIED, LOG_DIRS: DENIED}
    assert reasons(rows)[ACLS][0] == "NOT_AUTHORIZED"
    assert (broker.asked(35), broker.asked(29)) == ([0], [])
    broker.may_describe = True
    rows = ask(broker)
    assert {operation: reads(rows)[operation] for operation in (ACLS, LOG_DIRS)} == {ACLS: ANSWERED, LOG_DIRS: ANSWERED}
    assert [(log_dir.path, log_dir.total_bytes) for log_dir in of(rows, LogDir)] == [("/data", None)]


def test_a_broker_that_can_tell_neither_is_not_tried(broker):
    broker.apis = {key: OLD[key] for key in (3, 18, 29)}
    rows = ask(broker)
    assert reads(rows)[ACLS] == ("failed", "not tried", "Kafka 1.0 or later")
    assert reasons(rows)[ACLS] == ("NOT_TRIED", "this version does not report the auditor's rights")
    assert broker.asked(29) == []


@pytest.mark.parametrize(("apis", "mute", "unread"), [(OLD, {35}, LOG_DIRS), (ALL, {35, 60}, CLUSTER)])
def test_without_an_answer_the_rights_are_unknown_and_not_missing(broker, apis, mute, unread):
    broker.apis, broker.mute = dict(apis), mute
    rows = ask(broker, read_s=3.0)
    assert reads(rows)[unread][:2] == ("failed", "timeout")
    assert reads(rows)[ACLS] == ("failed", "not tried", "an answer to DescribeLogDirs")
    assert reasons(rows)[ACLS] == ("NOT_TRIED", "without DescribeLogDirs the auditor's rights are unknown")
    assert broker.asked(29) == []
    assert "NOT_AUTHORIZED" not in {reason for reason, _ in reasons(rows).values()}


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_empty_list_of_directories_is_a_refusal(broker, version):
    """Up to 2.8 that is all that a broker says; it is the answer of no running broker."""
    broker.apis[35] = (0, version)
    broker.log_dirs = {}
    assert reads(ask(broker))[LOG_DIRS] == DENIED


def test_a_right_that_was_taken_away_in_between_is_told_by_kafka(broker):
    broker.may_describe = False  # while the own operations still list it
    rows = ask(broker)
    assert {operation: reads(rows)[operation] for operation in (ACLS, LOG_DIRS, REASSIGNMENTS)} == dict.fromkeys(
        (ACLS, LOG_DIRS, REASSIGNMENTS), DENIED
    )


def test_no_authorizer_is_a_definite_no(broker):
    broker.acls_error = NO_AUTHORIZER
    rows = ask(broker)
    assert reads(rows)[ACLS] == ANSWERED
    assert of(rows, AclHolder) == []


def test_an_authorizer_without_any_acl_is_something_else(broker):
    broker.acls = []
    (holder,) = of(ask(broker), AclHolder)
    assert holder.acls == 0


def test_reassignments_are_asked_of_the_controller_only(broker):
    broker.controller_id = 0
    assert REASSIGNMENTS not in reads(ask(broker))
    broker.controller_id = 2
    broker.reassignments_error = 41  # it has just handed over
    assert reads(ask(broker))[REASSIGNMENTS] == ("failed", "NOT_CONTROLLER", "an answer from the controller")


@pytest.mark.parametrize(("listed", "asked"), [((2, 3), True), ((1, 2), False)])
def test_without_zookeeper_the_first_broker_passes_the_question_on(broker, listed, asked):
    broker.apis[55] = (0, 1)
    broker.controller_id = 7
    broker.brokers = dict.fromkeys(listed, ("h", 1))
    assert (REASSIGNMENTS in reads(ask(broker))) == asked


def test_another_broker_at_the_address_is_not_noted_as_this_one(broker):
    rows = ask(broker, broker_id=7)
    assert {operation: reads(rows)[operation][:2] for operation in (ACLS, LOG_DIRS)} == dict.fromkeys(
        (ACLS, LOG_DIRS), ("failed", "unexpected answer")
    )
    assert of(rows, LogDir) + of(rows, AclHolder) == []


def test_an_address_that_nobody_registered_is_not_asked(broker):
    assert not {ACLS, LOG_DIRS} & reads(ask(broker, broker_id=UNREGISTERED, listener=BOOTSTRAP)).keys()


@pytest.mark.parametrize("key", [29, 35, 46])
def test_one_read_without_an_answer_costs_one_deadline_and_not_the_identity(broker, key):
    broker.mute = {key}
    rows = ask(broker, read_s=3.0)
    assert broker.requests[-1][0] == key, "nothing is asked behind it"
    assert len(broker.asked(key)) == 1
    assert reads(rows)[IDENTITY] == ANSWERED
    assert [row.answered_by for row in of(rows, BrokerIdentity)] == [2]
    operation = {29: ACLS, 35: LOG_DIRS, 46: REASSIGNMENTS}[key]
    assert reads(rows)[operation][:2] == ("failed", "timeout")


@pytest.mark.parametrize("seed", range(60))
def test_answers_that_make_no_sense_inside_are_rows(seed):
    fake = Garbling(2, seed, spare=(3, 18, 32, 60))
    fake.apis, fake.acls = dict(ALL), RULES
    fake.reassignments = {("orders", 0): ((0, 1), (2,), ())}
    with server(fake) as fake.address:
        rows = ask(fake, read_s=5.0)
    assert {ACLS, LOG_DIRS, REASSIGNMENTS} <= reads(rows).keys()
    assert all(needs or error for outcome, error, needs in reads(rows).values() if outcome == "failed")


def test_a_byte_a_second_costs_one_deadline():
    fake = Trickling(2, key=29)
    fake.apis, fake.brokers = dict(ALL), {2: ("127.0.0.1", 1)}
    with server(fake) as fake.address:
        rows = ask(fake, read_s=3.0)
    assert len(fake.asked(29)) == 1
    assert reads(rows)[ACLS][:2] == ("failed", "timeout")
    assert reads(rows)[REASSIGNMENTS][:2] == ("failed", "timeout")
    assert reads(rows)[LOG_DIRS] == reads(rows)[IDENTITY] == ANSWERED


def body(version, resources):
    fake = FakeBroker(1)
    fake.acls = resources
    return bytes(fake._acls(version, None).encode(framed=False, header=False))


@pytest.mark.parametrize("version", range(1, 4))
def test_every_version_reads_the_same(version):
    assert acls.decode_acls_answer(body(version, RULES), version) == acls.decode_acls_answer(body(3, RULES), 3)
    assert len(acls.decode_acls_answer(body(version, RULES), version)) == 3


def test_our_decoding_is_kafka_pythons():
    resources = [(kind, f"n{kind}", 3, [("User:ü", "h", operation, 3)]) for kind in range(2, 8) for operation in range(2, 15)]
    data = body(3, resources)
    theirs = DescribeAclsResponse.decode(data, version=3)
    count = sum(len(resource.acls) for resource in theirs.resources)
    assert len(acls.decode_acls_answer(data, 3)) == count == len(resources)
    names = {acl.operation for acl in acls.decode_acls_answer(data, 3)}
    assert {"All", "Describe", "ClusterAction", "IdempotentWrite", "DescribeTokens"} <= names
    assert not [name for name in names if name.startswith("operation")]


def test_the_order_of_an_answer_does_not_matter_and_its_content_does():
    book = AclBook()
    same = {book.add(body(3, RULES), 3), book.add(body(3, RULES[::-1]), 3), book.add(body(1, RULES), 1)}
    assert len(same) == 1
    other = [(*RULES[0][:3], [("User:kafka", "*", 9, 2), RULES[0][3][1]]), RULES[1]]  # ALLOW became DENY
    assert book.add(body(3, other), 3) not in same


def test_a_body_is_decoded_once(monkeypatch):
    decoded = []
    read = acls.decode_acls_answer
    monkeypatch.setattr(acls, "decode_acls_answer", lambda *arguments: decoded.append(1) or read(*arguments))
    book = AclBook()
    for _ in range(100):
        book.add(body(3, RULES), 3)
    assert len(decoded) == 1


def test_garbage_is_told_as_such():
    data = body(3, RULES)
    for cut in range(len(data)):
        with pytest.raises(WireError):
            acls.decode_acls_answer(data[:cut], 3)
    for flipped in range(6, len(data)):
        changed = bytes([*data[:flipped], data[flipped] ^ 0xFF, *data[flipped + 1 :]])
        try:
            acls.decode_acls_answer(changed, 3)
        except WireError:
            continue
