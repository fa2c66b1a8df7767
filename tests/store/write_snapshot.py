"""Publish a small snapshot from a process of its own: `write_snapshot.py ROOT SNAPSHOT_ID`; says why not, and ends with 2."""

import sys

from kafka_audit.model.errors import StoreError
from kafka_audit.store import Store
from store.test_object_store import snapshot

if __name__ == "__main__":
    try:
        store = Store(sys.argv[1])
        store.prepare()
        store.write(snapshot(sys.argv[2]))
    except StoreError as error:
        sys.stdout.write(f"{type(error).__name__} {error}")
        sys.exit(2)
