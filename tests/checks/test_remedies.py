"""What the remedies of checks may not advise."""

import re

import pytest

from kafka_audit.checks import catalogue
from kafka_audit.incidents.remedies import what_to_do

every_remedy = pytest.mark.parametrize("remedy", [what_to_do(check) for check in catalogue().values()], ids=catalogue())


@every_remedy
def test_deletes_no_znode(remedy):
    assert "> delete " not in remedy
    assert " deleteall " not in remedy


@pytest.mark.parametrize(
    ("code", "loss", "command"),
    [
        ("KA501", "its records are lost", "kafka-storage.sh format"),
        ("KA601", "loses every record", "--election-type unclean"),
        ("KA901", "a downgrade of the software is not possible", "set it on all"),
    ],
)
def test_says_what_is_lost_before_the_command(code, loss, command):
    before, found, _ = what_to_do(catalogue()[code]).partition(command)
    assert found
    assert loss in before


def test_who_uses_what_is_logged_at_debug():
    remedy = what_to_do(catalogue()["KA408"])
    assert "kafka.authorizer.logger=DEBUG" in remedy
    assert remedy.index("DEBUG") < remedy.index("to false on {who}")


@every_remedy
def test_a_command_is_on_one_line(remedy):
    assert [command for command in re.findall(r"`([^`]*)`", remedy) if "\n" in command] == []


@every_remedy
def test_moves_replicas_with_a_throttle(remedy):
    for command in re.findall(r"`([^`]*kafka-reassign-partitions\.sh[^`]*--execute[^`]*)`", remedy):
        assert "--throttle" in command or "nothing is copied" in remedy
