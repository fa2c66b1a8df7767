"""The command that puts the snapshot and the report of a bundle into a store, where the pages show them."""

import argparse

from kafka_audit.cli.bundling import bundle_reading
from kafka_audit.cli.printing import console
from kafka_audit.report.every_page import require_publishable
from kafka_audit.store import Store
from kafka_audit.store.bundles import Bundle


def import_command(arguments: argparse.Namespace) -> int:
    """Check a bundle, write what it has into the store, print the id of its snapshot."""
    say = console.Progress(quiet=arguments.quiet)
    store = Store(arguments.store)
    store.prepare()

    def snapshot_of(bundle: Bundle) -> str:
        require_publishable(bundle.report, bundle.written())
        return bundle.report.snapshot_id

    snapshot_id = bundle_reading.rendered(arguments.bundle, snapshot_of, store)
    say(f"imported into {store.root}; `kafka-audit report {snapshot_id} --out {store.root}` and the pages of this store show it")
    console.write_result(snapshot_id)
    return 0
