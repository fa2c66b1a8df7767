"""Snapshots that a process of the console script takes of real brokers, with a login whose secrets appear nowhere."""

from kafka_audit.store import Store


def issued_tokens(log):
    """Return the tokens that `oidc_server.py` issued, by its log."""
    return [line.split()[2] for line in log.read_text().splitlines()] if log.exists() else []


def ended(process):
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    return stdout, stderr


def snapshot_rows(process, store, log, *secrets):
    """Return the rows of the snapshot that a process takes; no secret and no token of `log` is in what it prints or stores."""
    stdout, stderr = ended(process)
    stored = [path.read_bytes().decode("latin-1") for path in store.rglob("*") if path.is_file()]
    assert stored
    assert not [secret for secret in (*secrets, *issued_tokens(log)) if any(secret in text for text in (stdout, stderr, *stored))]
    return Store(store).read(stdout.strip()).rows
