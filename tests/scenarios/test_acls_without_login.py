"""ACLs and quotas of a user who is gone (KA416, KA417), with ZooKeeper and in KRaft, until user or entry is dealt with."""

import pytest

from scenarios import beds
from scenarios.audits import Audits, finding_of
from testbed import presets
from testbed.acls import Acl, auditor_grants
from testbed.corpus.tools import Tools
from testbed.security import ADMIN, AUDITOR, BROKER, Listener, Security

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
READS = [Acl(principal=f"User:{user}", operation="Read", resource="Topic", name="orders") for user in ("alive", "ghost")]
TOPICS = {"orders": {0: [0, 1, 2]}}
OPEN = Listener()
BETWEEN = Listener(protocol="SASL_PLAINTEXT", port=OPEN.port + 1, mechanisms=("SCRAM-SHA-512",))


def found_by(audits):
    report = audits.by_command("far", "--all").report
    acls, quotas = (finding_of(report, code, "cluster") for code in ("KA416", "KA417"))
    assert quotas["severity"] == "INFO"
    return acls["status"], acls["severity"], acls["evidence"].get("users"), quotas["status"], quotas["evidence"].get("users")


def limit(tools, change, *users):
    for user in users:
        entity = f"--alter --entity-type users --entity-name {user} --{change}"
        tools.demand_as_admin(f"kafka-configs.sh --bootstrap-server {tools.bootstrap} {entity}")


def test_with_zookeeper(bed, tmp_path):
    cluster = bed.cluster("3.9.1", **presets.scram())
    cluster.create_topics(TOPICS)
    audits, tools = Audits(bed, cluster, tmp_path / "audits"), Tools(bed, cluster)
    cluster.put_acls([*auditor_grants(f"User:{AUDITOR}"), *READS])
    for user in ("alive", "ghost"):
        cluster.put_scram_user(user, "secret")
    limit(tools, "add-config producer_byte_rate=1000000", "alive", "ghost")
    assert found_by(audits) == ("PASS", "INFO", "", "PASS", "")
    cluster.drop_scram_user("ghost")
    limit(tools, "add-config producer_byte_rate=1000000", "ghost")  # the bed empties the whole znode
    assert found_by(audits) == ("FAIL", "INFO", "User:ghost", "FAIL", "ghost")
    cluster.drop_acls(READS[1:])
    limit(tools, "delete-config producer_byte_rate", "ghost")
    assert found_by(audits) == ("PASS", "INFO", "", "PASS", "")


def test_without_zookeeper(bed, tmp_path):
    users = tuple(f"User:{user}" for user in (ADMIN, BROKER, AUDITOR))
    security = Security(listeners=(OPEN, BETWEEN), inter_broker=BETWEEN.label, authorizer=True, super_users=users)
    cluster = bed.kraft("4.3.0", brokers=3, controllers=1, security=security)
    cluster.create_topic("orders", {0: [0, 1, 2]})
    tools = Tools(bed, cluster)
    for user in ("alive", "ghost"):
        acl = f"--add --allow-principal User:{user} --operation Read --topic orders"
        tools.demand_as_admin(f"kafka-acls.sh --bootstrap-server {tools.bootstrap} {acl}")
    limit(tools, "add-config producer_byte_rate=1000000", "alive", "ghost")
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert found_by(audits) == ("FAIL", "INFO", "User:alive and User:ghost", "FAIL", "alive and ghost")
    limit(tools, "delete-config producer_byte_rate", "alive")
    for user, status in (("alive", "FAIL"), ("ghost", "PASS")):
        entity = f"--alter --entity-type users --entity-name {user} --add-config SCRAM-SHA-512=[password=secret]"
        tools.demand_as_admin(f"kafka-configs.sh --bootstrap-server {tools.bootstrap} {entity}")
        found = found_by(audits)
        assert (found[0], found[3]) == (status, status)
