"""Reading a bundle, which may come from anyone: in a process of its own, whose time and memory are bounded."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kafka_audit.bounds import child_process
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.text import clean
from kafka_audit.report.every_page import UNSHOWN
from kafka_audit.store import Store, bundles
from kafka_audit.store.manifest import cluster_of

_T = TypeVar("_T")

_SECONDS, _MEGABYTES = 120.0, 2048
"""An entry has at most a quarter of the memory."""


def is_bundle(subject: str) -> bool:
    """Return whether a word of the command line names a bundle, not a snapshot."""
    return cluster_of(subject) is None and (subject.lower().endswith(".zip") or Path(subject).is_file())


def rendered(path: str | os.PathLike[str], render: Callable[[bundles.Bundle], _T], store: Store | None = None) -> _T:
    """Return what `render` makes of a bundle, all of whose entries were checked.

    Args:
        path: the bundle.
        render: gets the bundle.
        store: gets the snapshot and its report, if they can be rendered; None: nothing does.

    Raises:
        SnapshotError: the bundle is damaged, or made to harm, or the store has no place for it.
    """

    def of_report() -> _T:
        with bundles.Bundle(path) as bundle:
            try:
                found = render(bundle)
            except UNSHOWN as error:
                why = clean(f"{type(error).__name__}: {error}")
                msg = f"{clean(os.fspath(path))}: its report cannot be shown ({why}); ask for a new bundle"
                raise SnapshotError(msg) from None
            if store is not None:
                bundle.copy_into(store)
        return found

    if not child_process.is_possible():
        return of_report()
    try:
        return child_process.run_in_child(lambda _: of_report(), seconds=_SECONDS, megabytes=_MEGABYTES)
    except child_process.ChildError as error:
        msg = f"{clean(os.fspath(path))}: the process that reads it {error}; ask for a new bundle"
        raise SnapshotError(msg) from None
