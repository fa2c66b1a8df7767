"""`trusted_hosts`: which hosts a pattern means, and which patterns no cluster file may hold."""

import pytest

from counted_work import counted_calls
from kafka_audit import settings
from kafka_audit.compare.addresses import is_name, normal_host
from kafka_audit.model.addresses.trusted_hosts import parse_trusted_hosts, trusted_hosts_line
from kafka_audit.model.errors import UsageError

MATCHES = {
    "b1.kafka.corp": (
        ["b1.kafka.corp", "B1.KAFKA.CORP", "b1.kafka.corp."],
        ["b2.kafka.corp", "b1.kafka.corp.evil.example", "xb1.kafka.corp"],
    ),
    "*.kafka.corp": (
        ["b1.kafka.corp", "B1.Kafka.Corp.", "a.b.kafka.corp"],
        ["kafka.corp", "evilkafka.corp", "b1.kafka.corp.evil.example", "b1.kafka.corp\0.evil.example",
         "fe80::1%x.kafka.corp", "evil.example/.kafka.corp", "evil.example:1#.kafka.corp", "b1\n.kafka.corp", "b1 .kafka.corp",
         "..kafka.corp", ".kafka.corp"],
    ),
    "b*.kafka.corp": (["b1.kafka.corp", "b.kafka.corp"], ["a1.kafka.corp", "b.c.kafka.corp", "b.evil.example.kafka.corp"]),
    "*-kafka-*.prod.example.com": (["a-kafka-1.prod.example.com"], ["a-kafka.prod.example.com", "a-kafka-1.test.example.com"]),
    "*.*.kafka.corp": (["a.b.kafka.corp", "a.b.c.kafka.corp"], ["b.kafka.corp"]),
    "*.prod.internal": (["b1.prod.internal"], ["prod.internal", "b1.internal.example"]),
    "*.kafka.svc.cluster.local": (["b-0.b.kafka.svc.cluster.local"], ["b-0.b.evil.svc.cluster.local"]),
    "*.mine.workers.dev": (["b1.mine.workers.dev"], ["mine.workers.dev", "b1.theirs.workers.dev"]),
    "*.corp.ne.jp": (["b1.corp.ne.jp"], ["b1.evil.ne.jp"]),
    "kafka-*": (["kafka-1", "KAFKA-x"], ["kafka-1.evil.example", "kafka", "xkafka-1"]),
    "*x*": (["kafkax"], ["0x7f000001", "0x", "x.evil.example"]),
    "b1.kafka.example": (["b1.kafka.example"], ["b1.\u212aafka.example", "b1.\uff4bafka.example"]),
    "*.kafka.example": (["b1.kafka.example"], ["b1.\u212aafka.example", "b\u0131.kafka.example"]),
    "*.managedkafka.mine.cloud.goog": (["broker-0.prod.europe-west1.managedkafka.mine.cloud.goog"],
                                       ["broker-0.prod.europe-west1.managedkafka.theirs.cloud.goog"]),
    "*.c1.a1b2.c2.kafka.eu-west-1.amazonaws.com": (["b-1.c1.a1b2.c2.kafka.eu-west-1.amazonaws.com"],
                                                   ["b-1.c1.ffff.c2.kafka.eu-west-1.amazonaws.com"]),
    "*.kafka-corp.westeurope.cloudapp.azure.com": (["b1.kafka-corp.westeurope.cloudapp.azure.com"],
                                                   ["b1.evil.westeurope.cloudapp.azure.com"]),
    "b1.westeurope.cloudapp.azure.com": (["b1.westeurope.cloudapp.azure.com"], ["b2.westeurope.cloudapp.azure.com"]),
    "*.corp.co.uk": (["b1.corp.co.uk"], ["b1.co.uk"]),
    "ip-10-0-0-1.eu-west-1.compute.internal": (
        ["ip-10-0-0-1.eu-west-1.compute.internal"], ["ip-10-0-0-2.eu-west-1.compute.internal"]
    ),
    "10.20.0.7": (["10.20.0.7"], ["10.20.0.70", "10.20.0.7.evil.example", "010.020.000.007", "169869319"]),
    "10.20.0.0/16": (
        ["10.20.0.0", "10.20.255.255"],
        ["10.21.0.1", "10.20.evil.example", "::ffff:10.20.0.1", "10.20.1", "10.20.0.1."],
    ),
    "fd00::/8": (["fd12::1", "FD12:0::1"], ["fe80::1", "10.0.0.1"]),
    "::1": (["::1", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1", "::1%eth0"]),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "yes", "no"), [(text, *hosts) for text, hosts in MATCHES.items()], ids=MATCHES)
def test_which_hosts_a_pattern_means(pattern, yes, no):
    for text in (pattern, pattern.upper()):
        assert [host for host in yes if not parse_trusted_hosts(text).matches(host, 9092)] == []
        assert [host for host in no if parse_trusted_hosts(text).matches(host, 9092)] == []


@pytest.mark.parametrize(
    ("pattern", "host"),
    [("b1:9093", "b1"), ("*.kafka.corp:9093", "b1.kafka.corp"), ("[::1]:9093", "::1"), ("[fd00::/8]:9093", "fd00::1")],
)  # fmt: skip
def test_a_port_narrows_a_pattern(pattern, host):
    assert parse_trusted_hosts(pattern).matches(host, 9093)
    assert not parse_trusted_hosts(pattern).matches(host, 9092)


REFUSED = {
    "*": "sends the password to foreign hosts; end it with your own domain, such as *.kafka.corp",
    "*.*": "sends the password to foreign hosts",
    "**": "sends the password to foreign hosts",
    "*:9092": "sends the password to foreign hosts",
    **dict.fromkeys(["*.com", "*.internal", "*.local", "b*.local", "*.svc"], "sends the password to foreign hosts"),
    **dict.fromkeys(
        [
            "*.amazonaws.com",
            "*.cloud.goog",
            "*.project.cloud.goog",
            "*.eu-west-1.compute.amazonaws.com",
            "ec2-*.eu-west-1.compute.amazonaws.com",
            "*.c2.kafka.eu-west-1.amazonaws.com",
            "*.cloudapp.azure.com",
            "*.westeurope.cloudapp.azure.com",
            "*.azure.com",
            "*.aivencloud.com",
            "*.windows.net",
            "*.confluent.cloud",
            "*.co.uk",
            "*.COM.au",
            "b*.co.jp",
            "*.ne.jp",
            "*.workers.dev",
            "b*.workers.dev",
            "*.kawasaki.jp",
            "*.any.kawasaki.jp",
            "*.github.io",
            "*.eu-west-1.compute.internal",
            "*.compute.internal",
            "*.ec2.internal",
            "*.internal.cloudapp.net",
            "*.service.consul",
        ],
        "sends the password to hosts of other customers below ",
    ),
    **{
        f"*.{domain}": f"sends the password to pods of every namespace; name the namespace, such as *.kafka.{way_out}"
        for domain, way_out in (
            ("svc.cluster.local", "svc.cluster.local"),
            ("pod.cluster.local", "pod.cluster.local"),
            ("cluster.local", "svc.cluster.local"),
            ("svc.k8s.corp", "svc.k8s.corp"),
        )
    },
    "*.com.": "is not a host; write a name (b1.kafka.corp)",
    "kafka.*": "sends the password to foreign hosts",
    "*example.com": "sends the password to foreign hosts",  # evilexample.com
    "b*.com": "sends the password to foreign hosts",
    "-*": "sends the password to foreign hosts",
    "10.20.*": "is not a name; write IPv4 addresses as a network, such as 10.20.0.0/16",
    "*.0.0.1": "is not a name; write IPv4 addresses as a network",
    "0.0.0.0/0": "sends the password to foreign networks; use a prefix of at least /8",
    "128.0.0.0/1": "sends the password to foreign networks",
    "::/0": "sends the password to foreign networks; use a prefix of at least /7",
    "[::/0]:9092": "sends the password to foreign networks",
    "10.20.1.1/16": "is not a network: it has bits after its prefix; write 10.20.0.0/16",
    "10.20.0.0/33": "is not a network such as 10.20.0.0/16",
    "b1:99999": "names port 99999; a port must be from 1 to 65535",
    "b1:0": "names port 0",
    "https://b1.kafka.corp": "is not a host",
    "b1,b2": "is not a host",
    "b 1": "is not a host",
    "10.20.0.300": "is not a host",
    "fe80::1%eth0": "is not a host",
    "b1..corp": "is not a host",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items(), ids=REFUSED)
def test_a_pattern_that_is_none_or_trusts_everybody_is_refused_with_its_line(tmp_path, pattern, message):
    path = tmp_path / "clusters.yaml"
    path.write_text(f"clusters:\n  prod:\n    bootstrap: [h:1]\n    trusted_hosts:\n      - b1.kafka.corp\n      - {pattern!r}\n")
    with pytest.raises(UsageError) as error:
        settings.load(path, codes=())
    assert str(error.value).startswith(f"{path}:6: clusters.prod.trusted_hosts.1: {pattern!r} {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trusted_hosts: []", '3: clusters.prod.trusted_hosts: is empty; set it to a list such as ["*.kafka.corp"]'),
        ("trusted_hosts: '*.kafka.corp'", '3: clusters.prod.trusted_hosts: must be a list such as ["*.kafka.corp"], not text'),
        ("trusted_hosts: [7]", "3: clusters.prod.trusted_hosts.0: must be a host, or a pattern of hosts, not a number"),
        ("trusted_host: [b1]", "3: clusters.prod.trusted_host: unknown key; did you mean trusted_hosts?"),
        ("trusted_hosts: ['auditor:hunter2@b1:9092']", "a value with credentials is not a host"),
    ],
)  # fmt: skip
def test_a_slip_in_the_list_is_one_line(tmp_path, text, message):
    path = tmp_path / "clusters.yaml"
    path.write_text(f"clusters:\n  prod:\n    {text}\n    bootstrap: [h:1]\n")
    with pytest.raises(UsageError) as error:
        settings.load(path, codes=())
    assert message in str(error.value)
    assert "hunter2" not in str(error.value)


def test_the_list_arrives_without_repetitions(tmp_path):
    path = tmp_path / "clusters.yaml"
    path.write_text(
        'clusters: {prod: {bootstrap: ["h:1"], trusted_hosts: ["*.kafka.corp", " b1:9092 ", "*.kafka.corp", "10.0.0.0/8"]}}'
    )
    assert settings.load(path, codes=())["prod"].trusted_hosts == ("*.kafka.corp", "b1:9092", "10.0.0.0/8")


def test_no_host_makes_a_pattern_take_long():
    pattern = parse_trusted_hosts(f"{'a*' * 30}b.kafka.corp")
    for host in (f"{'a' * 62}.kafka.corp", "a" * 100_000, "a." * 50_000):
        assert not pattern.matches(host, 9092)
        assert counted_calls(pattern.matches, host, 9092) < 300, "each part of the pattern is searched once"


def test_the_line_of_hosts_holds_each_once_and_nothing_else():
    assert trusted_hosts_line(["b1", "B1.", "x y", "::1"]) == 'trusted_hosts: ["b1", "::1"]'


def test_a_name_in_another_alphabet_is_no_name_of_the_file():
    """The small letter of the Kelvin sign is k."""
    assert normal_host("b1.\u212aafka.corp") != "b1.kafka.corp"
    assert not is_name("b1.\u212aafka.corp")
