"""What the store deletes, so that it does not grow without limit. Nothing else is deleted.

A cluster's snapshots beyond `keep` of its entry in the cluster file go, the oldest first: beyond a number once there are a tenth
more than that (and than what the last search had to leave), beyond an age once a day, and with a long age less often, because
not every audit has to search old snapshots. These stay, regardless of age:

* the newest of each cluster id, with which the next one is compared, also after a long outage;
* what a kept snapshot was compared with, so the previous one and every baseline that was asked for;
* what a run in progress names;
* baselines of changes;
* everything of a cluster that is not in the cluster file.

Snapshots share the files of tables that are the same. A snapshot that goes is unpublished first, then its folder loses all
files that no other manifest names. The rest goes with the last snapshot that names it. An audit that writes at the same time has
put the files that it will name into its mark (`Store.write`): marks are read after the snapshot is unpublished.

A run goes with the last of the snapshots that it judged, and never while it is in progress: asked less than a day ago, and not
concluded. So the number of runs is at most that of kept snapshots. A day after a run is concluded its reports are compressed, and
what passed between the worker and Spark goes: the reports hold all of it. Files and snapshots whose write never ended, because
the process was killed, go after a day, however few snapshots there are.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import StoreError
from kafka_audit.model.run import Request, SnapshotPair, run_path
from kafka_audit.store import reports
from kafka_audit.store.baselines import FOLDER
from kafka_audit.store.files import Files
from kafka_audit.store.local_disk import STAGING
from kafka_audit.store.manifest import cluster_of, named_files, taken_at

CONCLUDED = "concluded"
"""Name of the empty file that marks a run whose reports are written."""

IN_PROGRESS = timedelta(days=1)
"""How long a run that was not concluded, or a snapshot that was not published, may still be worked on."""

_PRUNED = "pruned"
_FULL_RUNS = "concluded"

log = logging.getLogger(__name__)

Reference = tuple[str, str]
"""A file of a table: the snapshot whose folder has it, and the table."""


@dataclass(frozen=True, kw_only=True)
class _Published:
    """What pruning needs of a manifest; of a damaged one, which is not readable, it is not known."""

    cluster_id: str | None
    files: frozenset[Reference]
    readable: bool


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


def prune(files: Files, cluster: str, keep: Keep, now: datetime) -> None:
    """Delete what a cluster has too much of.

    Args:
        files: the store's.
        cluster: its name in the cluster file.
        keep: how many published snapshots stay at least, and for how long.
        now: with a time zone.

    Raises:
        StoreError: something could not be read or deleted; what was deleted until then is no snapshot any longer.
    """
    all_names = {name for name in files.names("snapshots") if cluster_of(name)}
    own = sorted((name for name in all_names if cluster_of(name) == cluster), reverse=True)
    if not _is_due(files, cluster, own, keep, now):
        return
    manifests = _published(files, own)
    published = [name for name in own if name in manifests]
    surplus = [name for place, name in enumerate(published) if _is_beyond(keep, place, name, now)]
    runs = _runs(files, now)
    baselines = {name.removesuffix(".json") for name in files.names(FOLDER)}
    stays = _needed(runs, all_names - set(surplus)) | _newest_of_each_id(published, manifests) | baselines
    gone = [name for name in reversed(surplus) if name not in stays]
    for name in gone:
        files.write(f"{STAGING}/{name}", b"")  # so that the next run finds what a kill leaves of it
        files.remove(f"snapshots/{name}/manifest.json")  # from here on it is no longer a snapshot
        del manifests[name]
    unpublished = [name for name in reversed(own) if name not in manifests and _is_over(name, gone, now)]
    _remove_unnamed(files, unpublished, manifests)
    left = all_names - set(unpublished)
    forgotten = [run.name for run in runs if not run.in_progress and not left & {pair.snapshot_id for pair in run.pairs}]
    for name in forgotten:
        files.remove_folder(run_path(name, "").rstrip("/"))
    remaining = sum(cluster_of(name) == cluster for name in files.names("snapshots"))
    files.write(f"clusters/{cluster}/{_PRUNED}", json.dumps({"at": now.isoformat(), "left": remaining}).encode())
    if gone or forgotten:
        log.info("%s: %d snapshots and %d runs were deleted because of their age (%s)", cluster, len(gone), len(forgotten), keep)


def _is_due(files: Files, cluster: str, own: Sequence[str], keep: Keep, now: datetime) -> bool:
    """Return whether so much is beyond `keep` that it is worth to look through the past; `own` are newest first."""
    if keep.snapshots is not None and len(own) > keep.snapshots + (more := keep.snapshots // 10):
        _, left = _last_search(files, cluster)  # folders of shared files and baselines, which the next search would leave again
        if len(own) > left + more:
            return True
    oldest = next((taken for name in reversed(own) if (taken := taken_at(name))), None)
    if keep.days is None or oldest is None or now - oldest <= timedelta(days=keep.days):
        return False
    last, _ = _last_search(files, cluster)
    # A search reads every manifest that is left: of a year of audits, once a week.
    return last is None or not timedelta(0) <= now - last < timedelta(days=max(min(1.0, keep.days / 10), keep.days / 50))


def _last_search(files: Files, cluster: str) -> tuple[datetime | None, int]:
    """Return when the past of a cluster was searched last, and how many snapshots and folders it left."""
    try:
        found = json.loads(files.read(f"clusters/{cluster}/{_PRUNED}") or b"")
        at = datetime.fromisoformat(found["at"])
        return (at if at.tzinfo else None), int(found["left"])
    except (ValueError, TypeError, KeyError):  # never, or not by this program
        return None, 0


def _is_beyond(keep: Keep, place: int, name: str, now: datetime) -> bool:
    """Return whether a snapshot is too much; `place` counts from the newest."""
    too_old = keep.days is not None and now - (taken_at(name) or now) > timedelta(days=keep.days)
    return too_old or (keep.snapshots is not None and place >= keep.snapshots)


def _is_over(name: str, gone: Collection[str], now: datetime) -> bool:
    """Return whether a folder without a manifest is no audit in progress."""
    return name in gone or now - (taken_at(name) or now) > IN_PROGRESS


def _remove_unnamed(files: Files, names: Sequence[str], manifests: Mapping[str, _Published]) -> None:
    """Delete the files of unpublished snapshots of a cluster that no manifest and no audit in progress names, and their marks.

    Args:
        files: the store's.
        names: the snapshots, oldest first.
        manifests: the published snapshots of the cluster, read before now.
    """
    if not names:
        return
    cluster = cluster_of(names[0])
    # Marks before the manifests that are new: an audit removes its mark when its manifest is there. The mark of one that was
    # killed names its own tables, which are to go.
    marks = [mark for mark in files.names(STAGING) if cluster_of(mark) == cluster and mark not in names]
    needed = {name for mark in marks for name in _marked(files, mark)}
    new = [name for name in files.names("snapshots") if cluster_of(name) == cluster and name not in manifests]
    since = _published(files, new)
    every = [*manifests.values(), *since.values()]
    if not all(published.readable for published in every):
        log.warning("%s: deleted snapshots keep their tables, because a damaged manifest may name them", cluster)
        return
    for published in every:
        needed |= published.files
    for name in names:
        if name not in since:
            kept = {f"{table}.parquet" for holder, table in needed if holder == name}
            files.remove_folder(f"snapshots/{name}", but=kept)
        files.remove(f"{STAGING}/{name}")


def _marked(files: Files, mark: str) -> set[Reference]:
    """Return the files that an audit in progress will name."""
    lines = (files.read(f"{STAGING}/{mark}") or b"").decode(errors="replace").splitlines()
    return {(holder, table) for holder, slash, table in (line.partition("/") for line in lines) if slash}


def mark_concluded(files: Files, run: str) -> None:
    """Mark a run as done: it is not resumed, and what passed between worker and Spark goes after a day."""
    files.write(run_path(run, CONCLUDED), b"")
    files.write(f"{_FULL_RUNS}/{run}", b"")  # so that not every audit has to look at all runs


def remove_write_leftovers(files: Files, now: datetime) -> None:
    """Delete what writes left that did not end, a day after they began, and what concluded runs need no longer.

    Raises:
        StoreError: something could not be read or deleted.
    """
    left = [name for name in files.names(STAGING) if now - (_written(files, name) or now) > IN_PROGRESS]
    unpublished: dict[str, list[str]] = {}
    for name in left:
        cluster = cluster_of(name)
        if cluster is not None and files.read(f"snapshots/{name}/manifest.json") is None:
            unpublished.setdefault(cluster, []).append(name)
            continue
        files.remove(f"{STAGING}/{name}")
    for cluster, names in unpublished.items():
        own = [name for name in files.names("snapshots") if cluster_of(name) == cluster]
        _remove_unnamed(files, names, _published(files, own))
    if left:
        log.info("%d files and snapshots of writes that did not end are removed", len(left))
    for run in files.names(_FULL_RUNS):
        if now - (files.modified(f"{_FULL_RUNS}/{run}") or now) > IN_PROGRESS:
            try:
                _shrink(files, run)
            except StoreError as error:  # of another user; it goes with the run
                log.warning("run %s stays as it is: %s", run, error)
            files.remove(f"{_FULL_RUNS}/{run}")


def _shrink(files: Files, run: str) -> None:
    """Compress the reports of a run, and delete what passed between worker and Spark: the package and the judgements."""
    for pair in _pairs(files, run) or ():
        reports.pack(files, pair.snapshot_id)
    for name in files.names(f"runs/{run}"):
        if name.endswith(".zip"):
            files.remove(run_path(run, name))
    files.remove_folder(run_path(run, "judged"))


def _written(files: Files, name: str) -> datetime | None:
    return taken_at(name) if cluster_of(name) else files.modified(f"{STAGING}/{name}")


def _published(files: Files, names: Iterable[str]) -> dict[str, _Published]:
    """Return the published ones of these snapshots; what a damaged manifest names is not known."""
    found: dict[str, _Published] = {}
    for name in names:
        text = files.read(f"snapshots/{name}/manifest.json")
        if text is not None:
            cluster_id, named = named_files(text, name)
            found[name] = _Published(cluster_id=cluster_id, files=named or frozenset(), readable=named is not None)
    return found


def _needed(runs: Iterable[_StoredRun], kept: set[str]) -> set[str]:
    """Return what kept snapshots were compared with, and what is being worked on."""
    needed: set[str] = set()
    for run in runs:
        if run.in_progress:
            needed |= run.named()
        needed |= {pair.previous_snapshot_id for pair in run.pairs if pair.previous_snapshot_id and pair.snapshot_id in kept}
    return needed


def _newest_of_each_id(newest_first: Iterable[str], manifests: Mapping[str, _Published]) -> set[str]:
    newest: dict[str, str] = {}
    for name in newest_first:
        cluster_id = manifests[name].cluster_id
        if cluster_id is not None:
            newest.setdefault(cluster_id, name)
    return set(newest.values())


def _runs(files: Files, now: datetime) -> list[_StoredRun]:
    """Return the runs that asked something; a folder without a request is not one of ours."""
    found = []
    for name in files.names("runs"):
        pairs = _pairs(files, name)
        if pairs is not None:
            found.append(_StoredRun(name=name, pairs=pairs, in_progress=_in_progress(files, name, now)))
    return found


def _pairs(files: Files, run: str) -> tuple[SnapshotPair, ...] | None:
    """Return what a run was asked, None where it was asked nothing."""
    text = files.read(run_path(run, "request.json"))
    if text is None:
        return None
    try:
        return tuple(pair for pair in Request.from_json(text.decode()).pairs if cluster_of(pair.snapshot_id))
    except (ValueError, KeyError, TypeError):
        return ()  # cut short: it cannot be concluded


def _in_progress(files: Files, run: str, now: datetime) -> bool:
    if files.modified(run_path(run, CONCLUDED)) is not None:
        return False
    asked = files.modified(run_path(run, "request.json"))
    return asked is None or now - asked < IN_PROGRESS
