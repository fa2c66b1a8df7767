"""Whether lint looks for key stores: on the broker's own host only, which its log directory tells."""

import json

import pytest

from kafka_audit.cli import main

FILE = """{ids}
{logs}
listeners=SSL://:9093
ssl.keystore.location={store}
ssl.keystore.password=hunter2
"""
SAYS = "does not start with its server.properties: ssl.keystore.location: Failed to load SSL keystore"
NOT_KNOWN = "the files do not show whether"


@pytest.fixture
def told(tmp_path, capsys):
    """Return a function that lints a file beside a log directory, and returns the finding on key stores."""

    def lint(ids="broker.id=1\nzookeeper.connect=zk:2181", meta=None, store="k.p12", logs="log.dirs=nowhere,{data}"):
        data = tmp_path / "data"
        data.mkdir()
        if meta is not None:
            (data / "meta.properties").write_bytes(meta)
        text = FILE.format(ids=ids, logs=logs.format(data=data), store=tmp_path / store)
        (tmp_path / "server.properties").write_text(text)
        main(["lint", str(tmp_path / "server.properties"), "--format", "json"])
        (file,) = json.loads(capsys.readouterr().out)["files"]
        (found,) = [one for one in file["findings"] if one["code"] == "KA414"]
        return found

    return lint


@pytest.mark.parametrize(
    ("ids", "meta"),
    [
        ("broker.id=1\nzookeeper.connect=zk:2181", b"version=0\nbroker.id=1\n"),
        (
            "node.id=1\nprocess.roles=broker\ncontroller.quorum.voters=9@c:9093\ncontroller.listener.names=C",
            b"version=1\nnode.id=1",
        ),
    ],
)
def test_a_store_that_is_missing_on_the_brokers_host(told, ids, meta):
    found = told(ids=ids, meta=meta)
    assert found["status"] == "FAIL"
    assert SAYS in found["message"]
    assert found["evidence"]["line"] == len(ids.splitlines()) + 3


def test_a_store_that_is_there_may_have_another_password(told, tmp_path):
    (tmp_path / "k.p12").write_bytes(b"")
    found = told(meta=b"broker.id=1")
    assert (found["status"], "its password was not tested" in found["message"]) == ("UNKNOWN", True)


@pytest.mark.parametrize("meta", [None, b"broker.id=2\n", b"", b"broker.id=\\u12", b"\0" * 100_000])
def test_elsewhere_it_is_not_known(told, meta):
    found = told(meta=meta)
    assert (found["status"], NOT_KNOWN in found["message"]) == ("UNKNOWN", True)


@pytest.mark.parametrize(
    "logs", ["log.dirs=", "log.dir=nowhere", "log.dirs=/\0", f"log.dirs=/{'x' * 5000}", "log.dirs=${{env:DATA}}"]
)
def test_log_directories_that_tell_nothing(told, logs):
    assert NOT_KNOWN in told(meta=b"broker.id=1", logs=logs.replace("\0", "\\u0000"))["message"]
