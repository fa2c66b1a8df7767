"""Faults, controls and presets are what the runner can run, and every check has a fault or a reason why not."""

import inspect
from pathlib import Path

import pytest

from kafka_audit.checks import catalogue
from testbed import BedError
from testbed.corpus import record
from testbed.corpus.actions import ACTIONS
from testbed.corpus.catalogue import VERSIONS, by_scenario, controls, fault, faults, presets, unbreakable, unexecuted

ROOT = Path(__file__).parents[3]
every_fault = pytest.mark.parametrize("fault", faults().values(), ids=faults())


def recorded_faults():
    return {run["id"] for run in record.read() if run["kind"] == "fault"}


def codes_of(entry):
    return {*entry.cause, *entry.also, *entry.never, *entry.lasting, *entry.follows, *(want.code for want in entry.report)}


@every_fault
def test_a_fault_names_checks_and_a_preset(fault):
    assert codes_of(fault) <= catalogue().keys()
    assert {fault.preset, fault.healed_as or fault.preset} <= set(presets())
    assert fault.cause
    assert fault.heal or fault.healed_as
    assert set(fault.versions) <= set(VERSIONS)
    assert not set(fault.never) & {*fault.cause, *fault.also}


@pytest.mark.parametrize("entry", [*faults().values(), *controls().values()], ids=[*faults(), *controls()])
def test_steps_are_actions_with_arguments_that_they_take(entry):
    steps = [*entry.steps, *(entry.heal if hasattr(entry, "heal") else entry.churn)]
    for step in steps:
        inspect.signature(ACTIONS[step.do]).bind("scene", **step.arguments)


@every_fault
def test_words_that_a_repair_follows_are_of_known_checks(fault):
    followed = [step for step in fault.heal if "says" in step.arguments]
    assert len(fault.cause) == 1 or not followed or fault.follows, "several causes: `follows` names whose words these are"
    assert followed or not fault.follows


@pytest.mark.parametrize("control", controls().values(), ids=controls())
def test_a_control_has_a_preset(control):
    assert control.preset in presets()


def test_every_check_has_a_fault_or_a_reason_why_none_breaks_it():
    reported = {want.code for fault in faults().values() for want in fault.report}
    assert reported | set(by_scenario()) | set(unbreakable()) == set(catalogue())
    never_run = {want.code for name, fault in faults().items() if name not in recorded_faults() for want in fault.report}
    assert not (reported - never_run | set(by_scenario())) & set(unbreakable()), "its fault was run: remove the reason"
    assert all(unbreakable().values())


def test_reasons_for_remedies_are_of_checks_that_exist():
    assert set(unexecuted()) <= set(catalogue())
    assert all(unexecuted().values())


@pytest.mark.parametrize(("code", "file"), by_scenario().items())
def test_a_check_that_a_scenario_breaks_is_named_there(code, file):
    assert f'"{code}' in (ROOT / file).read_text()


def test_a_fault_with_an_unknown_key_or_version_is_refused():
    right = {"title": "t", "cause": "KA101", "heal": ["roll"], "versions": "zookeeper, 4.3.0 KRaft"}
    right["demands"] = {"cause": "cannot reach", "resource": "broker 2"}
    assert fault("f", right).versions == ("2.8.2 ZooKeeper", "3.9.1 ZooKeeper", "4.3.0 KRaft")
    with pytest.raises(BedError, match=r"unknown \['healing'\]"):
        fault("f", right | {"healing": []})
    with pytest.raises(BedError, match=r"demands: .*'resource'"):
        fault("f", right | {"demands": {"cause": "cannot reach"}})
    with pytest.raises(BedError, match=r"no versions \['5\.0'\]"):
        fault("f", right | {"versions": "5.0"})
