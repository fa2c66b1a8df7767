"""The commonest first run: a wrong address."""

import socket

import pytest

from kafka_audit.cli import main


@pytest.fixture
def closed():
    """Return an address of this host at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"127.0.0.1:{port}"


def test_where_nothing_answers_and_nothing_ever_has_the_command_says_so_after_one_look(closed, tmp_path, capsys):
    assert main(["run", "--bootstrap", closed, "--out", str(tmp_path)]) == 3
    out, err = capsys.readouterr()
    assert out.startswith(f"Not audited: nothing answers at {closed} (connection refused). Nothing was judged.\n")
    assert len(out.splitlines()) < 5
    assert "sample 2" not in err


def test_a_second_run_at_the_wrong_address_is_no_outage_either(closed, tmp_path, capsys):
    for _ in range(2):
        assert main(["run", "--bootstrap", closed, "--out", str(tmp_path), "--quiet"]) == 3
        assert capsys.readouterr().out.startswith("Not audited:")
