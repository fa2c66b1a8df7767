"""What the store deletes, so that it does not grow without limit. Nothing else is deleted.

A cluster's snapshots beyond `keep.snapshots` of its entry in the cluster file go, the oldest first, once there are a tenth more
than that: not every audit has to search old snapshots. These stay, regardless of age:

* the newest of each cluster id, with which the next one is compared, also after a long outage;
* what a kept snapshot was compared with, so the previous one and every baseline that was asked for;
* what a run in progress names;
* baselines of changes;
* everything of a cluster that is not in the cluster file.

A run goes with the last of the snapshots that it judged, and never while it is in progress: asked less than a day ago, and not
concluded. So the number of runs is at most that of kept snapshots. Files and snapshots whose write never ended, because the
process was killed, go after a day, however few snapshots there are.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.run import Request, SnapshotPair, run_path
from kafka_audit.store.baselines import FOLDER
from kafka_audit.store.files import STAGING, Files
from kafka_audit.store.manifest import Manifest, cluster_of, taken_at

CONCLUDED = "concluded"
"""Name of the empty file that marks a run whose reports are written."""

IN_PROGRESS = timedelta(days=1)
"""How long a run that was not concluded, or a snapshot that was not published, may still be worked on."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _StoredRun:
    name: str
    pairs: tuple[SnapshotPair, ...]
    in_progress: bool

    def named(self) -> set[str]:
        return {
            snapshot_id
            for pair in self.pairs
            for snapshot_id in (pair.snapshot_id, pair.previous_snapshot_id)
            if snapshot_id is not None
        }


def prune(files: Files, cluster: str, keep: int, now: datetime) -> None:
    """Delete what a cluster has too much of.

    Args:
        files: the store's.
        cluster: its name in the cluster file.
        keep: how many published snapshots stay at least; 2 or more.
        now: with a time zone.

    Raises:
        StoreError: something could not be read or deleted; what was deleted until then was deleted whole.
    """
    all_names = {name for name in files.names("snapshots") if cluster_of(name)}
    own = sorted((name for name in all_names if cluster_of(name) == cluster), reverse=True)
    if len(own) <= keep + keep // 10:
        return
    ids = _published(files, own)
    published = [name for name in own if name in ids]
    surplus = published[keep:]
    runs = _runs(files, now)
    baselines = {name.removesuffix(".json") for name in files.names(FOLDER)}
    stays = _needed(runs, all_names - set(surplus)) | _newest_of_each_id(published, ids) | baselines
    gone = [name for name in reversed(surplus) if name not in stays]
    gone += [name for name in own if name not in ids and now - (taken_at(name) or now) > IN_PROGRESS]
    for name in gone:
        files.write(f"{STAGING}/{name}", b"")  # so that the next run finds what a kill leaves of it
        files.remove(f"snapshots/{name}/manifest.json")  # from here on it is no longer a snapshot
        files.remove_folder(f"snapshots/{name}")
        files.remove(f"{STAGING}/{name}")
    left = all_names - set(gone)
    forgotten = [run.name for run in runs if not run.in_progress and not left & {pair.snapshot_id for pair in run.pairs}]
    for name in forgotten:
        files.remove_folder(run_path(name, "").rstrip("/"))
    if gone or forgotten:
        log.info(
            "%s: %d snapshots and %d runs were old enough to go (keep.snapshots: %d)", cluster, len(gone), len(forgotten), keep
        )


def remove_write_leftovers(files: Files, now: datetime) -> None:
    """Delete what writes left that did not end, a day after they began.

    Raises:
        StoreError: something could not be read or deleted.
    """
    left = [name for name in files.names(STAGING) if now - (_written(files, name) or now) > IN_PROGRESS]
    for name in left:
        if cluster_of(name) and files.read(f"snapshots/{name}/manifest.json") is None:
            files.remove_folder(f"snapshots/{name}")
        files.remove(f"{STAGING}/{name}")
    if left:
        log.info("%d files and snapshots of writes that did not end are removed", len(left))


def _written(files: Files, name: str) -> datetime | None:
    return taken_at(name) if cluster_of(name) else files.modified(f"{STAGING}/{name}")


def _published(files: Files, names: Iterable[str]) -> dict[str, str | None]:
    """Return the cluster id of each published snapshot, None if a damaged manifest does not contain it."""
    found: dict[str, str | None] = {}
    for name in names:
        path = f"snapshots/{name}/manifest.json"
        text = files.read(path)
        if text is not None:
            try:
                found[name] = Manifest.from_json(text, place=files.place(path), snapshot_id=name).cluster_id
            except SnapshotError:
                found[name] = None
    return found


def _needed(runs: Iterable[_StoredRun], kept: set[str]) -> set[str]:
    """Return what kept snapshots were compared with, and what is being worked on."""
    needed: set[str] = set()
    for run in runs:
        if run.in_progress:
            needed |= run.named()
        needed |= {pair.previous_snapshot_id for pair in run.pairs if pair.previous_snapshot_id and pair.snapshot_id in kept}
    return needed


def _newest_of_each_id(newest_first: Iterable[str], ids: Mapping[str, str | None]) -> set[str]:
    newest: dict[str, str] = {}
    for name in newest_first:
        cluster_id = ids[name]
        if cluster_id is not None:
            newest.setdefault(cluster_id, name)
    return set(newest.values())


def _runs(files: Files, now: datetime) -> list[_StoredRun]:
    """Return the runs that asked something; a folder without a request is not one of ours."""
    found = []
    for name in files.names("runs"):
        text = files.read(run_path(name, "request.json"))
        if text is None:
            continue
        try:
            pairs = Request.from_json(text.decode()).pairs
        except (ValueError, KeyError, TypeError):
            pairs = ()  # cut short: it cannot be concluded
        found.append(_StoredRun(name=name, pairs=pairs, in_progress=_in_progress(files, name, now)))
    return found


def _in_progress(files: Files, run: str, now: datetime) -> bool:
    if files.modified(run_path(run, CONCLUDED)) is not None:
        return False
    asked = files.modified(run_path(run, "request.json"))
    return asked is None or now - asked < IN_PROGRESS
