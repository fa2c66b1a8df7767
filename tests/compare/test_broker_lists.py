"""How a list of brokers differs from the registrations."""

import ast
from pathlib import Path

import kafka_audit
from kafka_audit.compare.broker_lists import ListDifference, list_differences

REGISTERED = {0: [("Kafka-0.corp", 9092)], 1: [("kafka-1.corp", 9092)], 2: [("2001:DB8::2", 9092)]}
LISTED = {0: ("kafka-0.corp", 9092), 1: ("kafka-1.corp.", 9092), 2: ("2001:db8:0::2", 9092)}


def test_other_spellings_are_no_difference():
    assert list_differences(REGISTERED, LISTED) == {}


def test_each_way_to_differ_has_its_name():
    assert list_differences(REGISTERED, LISTED | {1: ("proxy", 9092)}) == {1: ListDifference.ELSEWHERE}
    assert list_differences(REGISTERED, LISTED | {1: ("kafka-1.corp", 9093)}) == {1: ListDifference.ELSEWHERE}
    assert list_differences(REGISTERED, {0: LISTED[0], 2: LISTED[2]}) == {1: ListDifference.MISSING}
    assert list_differences(REGISTERED, LISTED | {7: ("kafka-7.corp", 9092)}) == {7: ListDifference.UNREGISTERED}
    assert list_differences(REGISTERED, {}, empty=True) == dict.fromkeys(REGISTERED, ListDifference.NOTHING)


def test_where_no_address_is_known_only_presence_is_compared():
    assert list_differences({0: (), 1: ()}, {0: ("anything", 1)}) == {1: ListDifference.MISSING}


def test_one_of_several_addresses_is_enough():
    assert list_differences({0: [("b0", 9092), ("b0", 9093)]}, {0: ("B0", 9093)}) == {}


_ALONE = {
    "clients/sockets.py",  # its text is the script of a vantage, which imports nothing of ours
}


def test_no_other_module_makes_hosts_comparable():
    """Whoever lower-cases a host, cuts its last dot or reads it as an IP address answers a question of `compare`."""
    root = Path(kafka_audit.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith("compare/") and name not in _ALONE:
            found += [f"{name}:{line}" for line in _comparing_hosts(ast.parse(path.read_text()))]
    assert found == []


_OF_HOSTS = ("host", "address")


def _comparing_hosts(tree):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        dotless = called == "rstrip" and [getattr(argument, "value", None) for argument in node.args] == ["."]
        of_host = isinstance(node.func, ast.Attribute) and any(word in _name(node.func.value).lower() for word in _OF_HOSTS)
        if called == "ip_address" or (of_host and (called in {"lower", "casefold"} or dotless)):
            yield node.lineno


def _name(of):
    """Return the last name in `row.host`, `host` or `row["host"]`."""
    if isinstance(of, ast.Subscript):
        of = of.slice
    return str(getattr(of, "attr", getattr(of, "id", getattr(of, "value", ""))))


def test_the_rule_finds_what_it_forbids():
    forbidden = ["row.host.lower()", "ipaddress.ip_address(text)", "endpoint.host.rstrip('.')", "address['host'].lower()"]
    assert [len(list(_comparing_hosts(ast.parse(text)))) for text in forbidden] == [1] * 4
    assert list(_comparing_hosts(ast.parse("endpoint.listener.lower(); mechanism.lower()"))) == []
