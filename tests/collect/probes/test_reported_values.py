"""What a probe reports at a layer becomes typed columns; text of another form gives no value."""

import pytest

from kafka_audit.collect.probes.reported_values import reported_values

TEXTS = {
    ("dns", "10.0.0.1"): {"addresses": ("10.0.0.1",)},
    ("dns", "10.0.0.1,fe80::1%eth0 by nameserver 10.0.0.2,fd00::53"): {
        "addresses": ("10.0.0.1", "fe80::1%eth0"),
        "resolver": "nameserver 10.0.0.2,fd00::53",
    },
    ("dns", "by hosts file"): {"resolver": "hosts file"},
    ("dns", "by no nameserver"): {"resolver": "no nameserver"},
    ("dns", None): {},
    ("dns", "10.0.0.1 by a <b>friend</b>"): {"addresses": ("10.0.0.1",)},
    ("dns", "somewhere by nameserver 10.0.0.2"): {"resolver": "nameserver 10.0.0.2"},
    ("sasl", "PLAIN,SCRAM-SHA-512"): {"mechanisms": ("PLAIN", "SCRAM-SHA-512")},
    ("sasl", "PLAIN, <script>"): {"mechanisms": ("PLAIN",)},
    ("sasl", ""): {"mechanisms": ()},
    ("identity", "7"): {"answered_by": 7},
    ("identity", "-1"): {},
    ("identity", "٣"): {},
    ("identity", "1" * 11): {},
    ("tls", "TLSv1.3"): {},
}


@pytest.mark.parametrize(("layer", "text"), TEXTS)
def test_a_layer_s_text_becomes_values(layer, text):
    assert reported_values(layer, text) == TEXTS[layer, text]
