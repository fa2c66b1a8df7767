"""Which remedies the record has as executed, and that each other one has a reason."""

import pytest

from testbed.corpus import record
from testbed.corpus.catalogue import fault
from testbed.corpus.remedies import check_of, remedies

EVERY = remedies([run for run in record.newest(record.read()).values() if run["kind"] == "fault"])


def result(name, **more):
    return {"id": name, "version": "3.9.1 KRaft", "healed": True, "passing": [], "commands": [], "followed": []} | more


@pytest.mark.parametrize("code", EVERY)
def test_a_remedy_was_executed_or_has_a_reason_why_not(code):
    remedy = EVERY[code]
    assert remedy.executed or remedy.scenario or remedy.why, (
        f"{code}: run its fault, or add `exceptions: remedy:` to its case file"
    )
    assert not ((remedy.executed or remedy.scenario) and remedy.why), f"{code}: it was executed; remove the reason"


def test_commands_count_for_the_check_that_prints_them():
    plan = "kafka-reassign-partitions.sh --bootstrap-server b:9092 --reassignment-json-file plan.json"
    found = remedies(
        [result("single_replica", commands=[f"{plan} --execute --throttle 1", f"{plan} --verify"], passing=["KA606"])]
    )
    assert found["KA606"].commands == {"3.9.1 KRaft": 2}
    assert not found["KA609"].executed


def test_words_count_for_the_check_that_the_fault_names():
    found = remedies([result("stale_leader", followed=["repair the cause first"], passing=["KA101", "KA108"])])
    assert found["KA101"].words == ("3.9.1 KRaft",)
    assert not found["KA302"].executed


def test_a_repair_that_did_not_heal_executes_nothing():
    assert not remedies([result("stale_leader", healed=False, followed=["repair the cause first"])])["KA101"].executed


def test_a_command_of_no_step_is_an_error():
    heal = [{"do": "printed", "code": "KA711", "command": "--delete-config"}]
    broken = fault("f", {"title": "t", "cause": "KA711", "heal": heal, "demands": {"cause": "unclean", "resource": "cluster"}})
    assert check_of(broken, "kafka-configs.sh --delete-config x") == "KA711"
    with pytest.raises(LookupError, match=r"no step of the repair prints kafka-acls\.sh"):
        check_of(broken, "kafka-acls.sh --list")
