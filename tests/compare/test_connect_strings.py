"""Connect strings of ZooKeeper: which lead to the same data."""

import pytest

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
