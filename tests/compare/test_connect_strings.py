"""Connect strings of ZooKeeper: which lead to the same data."""

import ast
from pathlib import Path

import pytest

import kafka_audit
from kafka_audit.compare.connect_strings import chroot_of, same_data, servers_of

CONNECT = "zk1:2181,zk2:2181/kafka"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (CONNECT, True),
        (" ZK1:2181/kafka ", True),
        ("zk1:2181,zk2:2181", False),
        ("zk1:2181/kafka,zk2:2181/kafka", False),
        ("zk3:2181/kafka", False),
        ("zk2/kafka", True),
    ],
)
def test_the_same_data_has_the_same_chroot_and_a_server_in_common(other, same):
    assert same_data(CONNECT, other) is same
    assert same_data(other, CONNECT) is same


@pytest.mark.parametrize(
    ("connect", "found"),
    [
        ("zk1,zk2:2182/kafka", (("zk1", 2181), ("zk2", 2182))),
        ("[fd00::1]:2181", (("fd00::1", 2181),)),
        ("zk1:2181,zk1:2181", (("zk1", 2181),)),
        ("", ()),
    ],
)
def test_servers_of_a_connect_string(connect, found):
    assert servers_of(connect) == found


def test_no_slash_is_no_chroot():
    assert (chroot_of("zk1:2181"), chroot_of("zk1:2181/"), chroot_of(CONNECT)) == ("", "", "/kafka")


def takes_chroots(path):
    """Yield the lines of a module that take the path after the servers from a text with "chroot" or "connect" in its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            call = node.value
            taken = isinstance(node.slice, ast.Constant) and node.slice.value == 2
            if taken and getattr(call.func, "attr", "") == "partition" and "onnect" in ast.unparse(call.func):
                yield node.lineno


def test_no_other_module_takes_the_chroot_of_a_connect_string():
    root = Path(kafka_audit.__file__).parent
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if any(takes_chroots(path))}
    assert found == {"compare/connect_strings.py"}
