"""Whether lint looks for key stores: where the user says that this host is the broker's own, and never because a file says so."""

import json

import pytest

from kafka_audit.cli import main

FILE = """broker.id=1
zookeeper.connect=zk:2181
log.dirs={data}
listeners=SSL://:9093
ssl.keystore.location={store}
ssl.keystore.password=hunter2
"""
SAYS = "does not start with its server.properties: ssl.keystore.location: Failed to load SSL keystore"
NOT_KNOWN = "the files do not show whether"


@pytest.fixture
def linted_finding(tmp_path, capsys):
    """Return a function that lints a file beside the log directory of its broker, and returns the finding on key stores."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=0\nbroker.id=1\n")

    def lint(*options, store="k.p12"):
        (tmp_path / "server.properties").write_text(FILE.format(data=tmp_path / "data", store=tmp_path / store))
        main(["lint", str(tmp_path / "server.properties"), "--format", "json", *options])
        (file,) = json.loads(capsys.readouterr().out)["files"]
        (found,) = [finding for finding in file["findings"] if finding["code"] == "KA414"]
        return found

    return lint


def test_a_store_that_is_missing_on_the_brokers_host(linted_finding):
    found = linted_finding("--on-host")
    assert found["status"] == "FAIL"
    assert SAYS in found["message"]
    assert found["evidence"]["line"] == 5


def test_a_store_that_is_there_may_have_another_password(linted_finding, tmp_path):
    (tmp_path / "k.p12").write_bytes(b"")
    found = linted_finding("--on-host")
    assert (found["status"], "its password was not tested" in found["message"]) == ("UNKNOWN", True)


def test_a_path_that_can_be_none_is_no_file(linted_finding):
    assert linted_finding("--on-host", store="x" * 5000)["status"] == "FAIL"


def test_a_pull_request_with_its_own_log_directory_learns_nothing_of_the_build_host(linted_finding, tmp_path):
    without = linted_finding()
    (tmp_path / "k.p12").write_bytes(b"")
    assert linted_finding() == without
    assert NOT_KNOWN in without["message"]
