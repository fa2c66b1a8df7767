"""The schedule of suspicions, and the trigger in Airflow's own shared stream."""

import asyncio
import json
from contextlib import aclosing, suppress

import pytest
from airflow.sdk import Asset
from airflow.triggers.base import BaseEventTrigger
from airflow.triggers.shared_stream import SharedStreamManager

from hostile_parties.broker import honest_brokers
from kafka_audit.airflow import environment, watched_asset
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.schedule.suspect_trigger import ClusterSuspectTrigger
from kafka_audit.airflow.schedule.suspicions import suspicions
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.model.errors import UsageError
from kafka_audit.store.watch_files import WatchFiles
from kafka_audit.watch import audit_requests
from kafka_audit.watch.loop import steps


@pytest.fixture(autouse=True)
def _settings(monkeypatch, tmp_path):
    for name in ("WATCH", "WATCH_GRACE_SECONDS", "WATCH_MINUTES", "SCHEDULE"):
        monkeypatch.delenv(f"KAFKA_AUDIT_{name}", raising=False)
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.yaml"))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    describe(tmp_path, prod="127.0.0.1:1", test="127.0.0.1:2")


def describe(folder, **bootstrap):
    clusters = {name: {"bootstrap": [address], "limits": {"read_s": 300}} for name, address in bootstrap.items()}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": clusters}))


@pytest.mark.parametrize("text", [None, "off", "OFF", "none", "0", "", "false"])
def test_the_watch_is_switched_off_with_one_setting(monkeypatch, text):
    if text is not None:
        monkeypatch.setenv("KAFKA_AUDIT_WATCH", text)
    assert environment.watch_every() is None
    assert suspicions() is None


@pytest.mark.parametrize(("text", "seconds"), [("on", 20.0), ("30", 30.0), ("1", 20.0), ("often", 20.0), ("nan", 20.0)])
def test_the_watch_is_on_also_if_its_interval_makes_no_sense(monkeypatch, text, seconds):
    monkeypatch.setenv("KAFKA_AUDIT_WATCH", text)
    assert environment.watch_every() == seconds


def test_with_the_setting_each_cluster_is_watched(monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_WATCH", "on")
    watched = {asset.name: asset for asset in suspicions().objects}
    assert set(watched) == {"kafka_audit/prod/suspect", "kafka_audit/test/suspect"}
    ((watcher,),) = [asset.watchers for name, asset in watched.items() if "prod" in name]
    assert isinstance(watcher.trigger, ClusterSuspectTrigger)
    assert watcher.trigger.cluster == "prod"


def test_another_dag_waits_for_the_same_asset_with_the_same_watcher(monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_WATCH", "on")
    (ours,) = (asset for asset in suspicions().objects if asset.name == "kafka_audit/prod/suspect")
    theirs = watched_asset("prod")
    assert theirs == ours
    assert [(watcher.name, watcher.trigger.serialize()) for watcher in theirs.watchers] == [
        (watcher.name, watcher.trigger.serialize()) for watcher in ours.watchers
    ]


def test_a_cluster_file_that_is_wrong_leaves_the_dag_without_a_schedule(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_AUDIT_WATCH", "on")
    (tmp_path / "clusters.yaml").write_text("clusters: {prod: {boostrap: []}}")
    assert suspicions() is None


def test_a_run_that_suspicions_triggered_audits_those_clusters_alone():
    events = {assets.suspect_asset("test"): [], Asset(name="kafka_audit/other/clean", uri="x-other://x"): []}
    suspected = assets.suspected_clusters(events)
    assert suspected == {"test"}
    assert audit_tasks.cluster_names(None, None, suspected) == ["test"]
    assert audit_tasks.cluster_names(None, None, assets.suspected_clusters({})) == ["prod", "test"]
    with pytest.raises(UsageError, match="has none of the suspected clusters gone"):
        audit_tasks.cluster_names(None, None, {"gone"})


def test_the_trigger_is_made_again_from_what_it_serializes():
    trigger = ClusterSuspectTrigger(cluster="prod")
    path, kwargs = trigger.serialize()
    assert path == "kafka_audit.airflow.schedule.suspect_trigger.ClusterSuspectTrigger"
    again = ClusterSuspectTrigger(**kwargs)
    assert again.shared_stream_key() == trigger.shared_stream_key() == ("kafka_audit", "prod")
    assert BaseEventTrigger.hash(path, kwargs) == BaseEventTrigger.hash(*again.serialize())
    assert ClusterSuspectTrigger(cluster="test").shared_stream_key() != trigger.shared_stream_key()


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A cluster whose broker 2 has an empty view, in the cluster file."""
    monkeypatch.setattr(environment, "watch_every", lambda: 2.0)
    monkeypatch.setenv("KAFKA_AUDIT_WATCH_GRACE_SECONDS", "2")
    with honest_brokers() as made:
        made[2].brokers, made[2].controller_id = {}, -1
        describe(tmp_path, prod=made[0].address)
        yield made


@pytest.fixture
def events_of(monkeypatch):
    """Return a function that returns the events of so many readings, however long these take."""

    def events(stream, count):
        async def collect():
            ended, found = asyncio.Event(), []

            async def first(*arguments):
                async with aclosing(steps(*arguments)) as readings:
                    for _ in range(count):
                        yield await anext(readings)
                    ended.set()
                    await asyncio.Event().wait()

            async def take():
                async for event in stream():
                    found.append(event.payload)  # noqa: PERF401 -- what came before the end counts

            monkeypatch.setattr(audit_requests, "steps", first)
            taking = asyncio.create_task(take())
            await asyncio.wait([taking, asyncio.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
            taking.cancel()
            with suppress(asyncio.CancelledError):
                await taking
            return found

        return asyncio.run(collect())

    return events


def test_run_yields_one_event_for_a_fault_and_resumes_without_another(broken, events_of, tmp_path):
    (event,) = events_of(lambda: ClusterSuspectTrigger(cluster="prod").run(), 4)
    assert event["cluster"] == "prod"
    assert [(suspicion["what"], suspicion["broker"]) for suspicion in event["suspicions"]] == [("view_empty", 2)]
    assert WatchFiles(tmp_path / "store").read("prod") is not None
    assert events_of(lambda: ClusterSuspectTrigger(cluster="prod").run(), 4) == []
    assert all(broker.connections < 12 for broker in broken)


def test_two_triggers_of_a_cluster_share_one_loop(broken):
    """Airflow's own manager: both get the event, and each broker is read once."""

    async def both():
        manager = SharedStreamManager()
        found = []

        async def consume(number):
            trigger = ClusterSuspectTrigger(cluster="prod")
            key = trigger.shared_stream_key()
            stream = manager.subscribe(trigger_id=number, trigger=trigger, key=key)
            async for event in trigger.filter_shared_stream(stream):
                found.append((number, event.payload["suspicions"][0]["what"]))
                break
            await manager.unsubscribe(number, key)

        await asyncio.gather(consume(1), consume(2))
        await manager.stop_all()
        return found

    assert sorted(asyncio.run(both())) == [(1, "view_empty"), (2, "view_empty")]
    assert all(broker.connections < 6 for broker in broken[1:])
