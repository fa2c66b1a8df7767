"""Lines that an audit judges by stand with the meaning that the catalogue gives them."""

from pathlib import Path

import yaml

from kafka_audit.says.reading import read_pasted
from kafka_audit.says.signs import SIGNS

SAID = yaml.load((Path(__file__).parents[1] / "collect" / "logs" / "said.yaml").read_text(), yaml.CSafeLoader)
OTHERS = {
    "a duplicate record": "the catalogue knows what stands behind `fault:`, which says more",
    "a controller whose request was denied ends": "the same",
    "a broker that does not apply the metadata": "the same",
    "a follower kept out": "its logger is abbreviated",
    "ZooKeeper's client without a route, Kafka 3.0 to 3.4 (ZooKeeper 3.6.3 has it spelt so)": "no such release was read",
}


def read_meanings(text):
    answers = read_pasted(f"[2026-11-22 01:02:03,456] {text}")
    return {found.meaning for answer in answers for found in (*answer.found, *(one for below in answer.below for one in below))}


def test_a_sign_stands_with_the_meaning_that_its_line_has():
    strange = {name for name, said in SAID.items() if SIGNS[said["is"][0]].meaning.id not in read_meanings(said["text"])}
    assert strange == set(OTHERS)
