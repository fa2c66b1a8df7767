"""The help texts of the commands."""

EXIT_CODES = """\
exit codes:
  0    clean
  1    internal error, or the engine did not run
  2    wrong usage or configuration, damaged snapshot, or unwritable store
  3    unmuted failures at or above --fail-on
  4    no such failure, but the share of answered reads is below --min-coverage
  130  interrupted
"""
MAIN = (
    """\
Audit Kafka clusters. An audit collects the views of ZooKeeper, every broker and the network, and compares them.
It only reads: nothing is created or written in an audited cluster.

first steps:
  kafka-audit demo                               break a real cluster on this host and audit it
  kafka-audit run --bootstrap b1:9092            audit a cluster by the address of a broker
  cp clusters.example.yaml clusters.yaml         describe your clusters
  kafka-audit run prod                           audit a cluster
  kafka-audit watch prod                         show who answers, every 20 seconds
  kafka-audit what-if prod --without broker:2    show what stops if a broker is stopped
  kafka-audit lint server.properties             check a configuration before a broker starts
  kafka-audit explain KA101                      describe a check and its remediation
  kafka-audit explain "Leader: none"             find what an error message means

"""
    + EXIT_CODES
)
RUN = (
    """\
Take a snapshot of a cluster, compare its views with each other and with the previous snapshot, and report failures.
The report is printed to stdout and written to DIR/findings.json. Snapshots are stored in DIR/snapshots/; `keep` in
the cluster file or KAFKA_AUDIT_RETENTION (such as 365d,9000) limits their age and number.

examples:
  kafka-audit run --bootstrap b1:9092            without a cluster file
  kafka-audit run prod                           ./clusters.yaml, store in ./kafka-audit-store
  kafka-audit run prod --fail-on critical        exit 3 only for failures with an immediate effect
  kafka-audit run prod --baseline none           do not compare with a previous snapshot
  kafka-audit run prod --format json | jq '.incidents[].headline'
  kafka-audit run prod --format html,md          also write DIR/findings.html and DIR/findings.md
  kafka-audit run prod --engine spark            compare with Spark, as the DAG does (Java, and the extra `spark`)
  kafka-audit run prod --quiet > page.txt || mail -s "kafka prod" me@example.com < page.txt

"""
    + EXIT_CODES
)
SNAPSHOT = """\
Take a snapshot of a cluster and store it, without running checks. The snapshot id is printed to stdout.

example:
  before=$(kafka-audit snapshot prod); ./rolling-restart.sh; after=$(kafka-audit snapshot prod)
  kafka-audit diff "$before" "$after"
"""
DIFF = """\
Check a snapshot and compare it with an earlier one: changes, and new, ongoing and resolved failures.
The current reports in the store do not change.

With --reports nothing is checked again: it compares the two reports in the store, and adds up the changes in the reports
between them, as the timeline of the page does.

examples:
  kafka-audit diff 20260131T080000Z-prod-1a2b 20260131T090000Z-prod-3c4d
  kafka-audit diff 20250131T080000Z-prod-77aa 20260131T090000Z-prod-3c4d --reports
"""
WATCH = """\
Read little from a cluster every few seconds, and show who answers what: ApiVersions and Metadata of each broker (the brokers
that it lists, the controller that it reports), the quorum's leader in KRaft mode, and ids, controller and epoch in ZooKeeper.
What looks wrong in two readings in a row, and for ten seconds, is suspected. A broker that left and does not answer is
suspected after --grace: a normal restart is shorter.

On a terminal, the picture is redrawn after each reading; elsewhere each change is a line, or a JSON object with --format
json. A suspicion is no finding: `kafka-audit run` finds the cause.

examples:
  kafka-audit watch prod                         until Ctrl-C
  kafka-audit watch prod --every 5 --for 600 | tee restart.log       during a rolling restart
  kafka-audit watch prod --for 60 || kafka-audit run prod             audit when something is suspected
  kafka-audit watch prod --format json | jq -c .suspicions

exit codes:
  0    nothing is suspected at the end
  1    internal error
  2    wrong usage or configuration
  3    something is suspected at the end
  130  interrupted
"""
REPORT = """\
Render the report of a stored snapshot, or of a bundle that `kafka-audit bundle` wrote. No cluster is read, and a bundle needs
no store and no cluster file. HTML, Markdown, SARIF and OpenMetrics are written to files next to the snapshot or the bundle,
and their paths are printed to stdout.

examples:
  kafka-audit report 20260131T080000Z-prod-1a2b
  kafka-audit report 20260131T080000Z-prod-1a2b --format html,md
  kafka-audit report prod.zip                    on any machine
"""
BUNDLE = """\
Write one file for support: the snapshot (with the settings and the quoted log lines that it holds), its report, and the entry
of the cluster file without secrets. `kafka-audit report FILE.zip` shows the report on any machine. No cluster is read.

examples:
  kafka-audit bundle prod --out prod.zip         the newest snapshot of prod that has a report
  kafka-audit bundle 20260131T080000Z-prod-1a2b --out prod.zip
"""
IMPORT = """\
Put the snapshot and the report of a bundle into a store, so that `report` and the pages show them. The bundle is checked as
`report FILE.zip` checks it. The next audit of a cluster of this name and id compares with it, so use a store of its own for
bundles of others.

example:
  kafka-audit import prod.zip --store support
"""
LINT = """\
Check configurations before brokers start: whether Kafka accepts each file, with its error message, what fails after the
start, and where the brokers of a cluster differ. Files are server.properties, Kubernetes manifests, Strimzi's Kafka with
its KafkaNodePools in one file, values of Bitnami's and Confluent's charts, compose files or env files. Folders and
patterns select the files in them. Files with the same ZooKeeper address or controller quorum belong to one cluster. No
cluster is read.

examples:
  kafka-audit lint server.properties
  kafka-audit lint conf/broker-*.properties --kafka-version 3.9.1
  kafka-audit lint k8s/ --format sarif > lint.sarif
  kafka-audit lint compose.yaml --fail-on medium --all
  kafka-audit lint new/ --against prod           compare with the newest snapshot of the cluster

To accept a finding, add the comment `# kafka-audit: ignore KA308 reason` to the file, or use the mute list of the cluster
file.

exit codes:
  0    clean
  1    internal error
  2    wrong usage, or a file that cannot be read or contains no broker
  3    unmuted failures at or above --fail-on
  130  interrupted
"""
MCP = """\
Serve the reports of a store to an agent or a chat bot, by the Model Context Protocol on stdin and stdout: which clusters are
broken, why, what each party says, who reaches whom, what is not known, what would decide, and lint of a text. It reads the store
only: no tool connects to a cluster or writes. It requires the extra `mcp`.

example, in the configuration of a client:
  {"mcpServers": {"kafka-audit": {"command": "kafka-audit", "args": ["mcp", "--store", "/var/lib/kafka-audit"]}}}

exit codes:
  0    the client closed the connection
  2    wrong usage, or the extra is not installed
"""
WHAT_IF = """\
Show what stops if brokers, racks, controllers, disks or ZooKeeper servers go: partitions without leader, partitions that refuse
acks=all, groups and transactions whose coordinator moves or is gone, the quorum, entry points of clients, and whom the next
controller would not reach. A cluster is read now, as `snapshot` reads it; a stored snapshot is not read again. Replicas that are
out of sync, and brokers that are down already, count. Nothing is stopped.

examples:
  kafka-audit what-if prod --without broker:2 && ssh kafka-2 sudo systemctl restart kafka
  kafka-audit what-if prod --without broker:2 --margin 2          one copy more than needed must be left
  kafka-audit what-if prod --without rack:a --without broker:7    both at once
  kafka-audit what-if prod --each broker
  kafka-audit what-if 20260131T080000Z-prod-1a2b --each rack --format json | jq '.losses[] | select(.safe | not)'

exit codes:
  0    safe: nothing stops
  1    internal error
  2    wrong usage or configuration, or the cluster has no such party
  3    not safe
  4    not decided: safe as far as is known, but something that decides is unknown
"""
BEFORE = """\
Decide whether a change can begin: take a snapshot, run the checks that the change requires, check proposed files against
the cluster, and probe proposed addresses. If the result is go, the snapshot is kept as baseline.

kinds: zookeeper-to-kraft, rolling-upgrade, listeners-or-security, new-network, moving-hosts; of the metadata quorum:
dynamic-quorum, quorum-voters, controller-hosts, controller-certificates. For these and for rolling upgrades, the report has
the steps in order, with commands, and what breaks between two of them.

examples:
  kafka-audit before-migration prod --kind zookeeper-to-kraft --node-ids 3000,3001,3002
  kafka-audit before-migration prod --kind listeners-or-security --proposed new/ --vantage clients
  kafka-audit before-migration prod --kind new-network --vantage clients \\
    --advertised 'CLIENT://kafka-{broker_id}.example.com:9092'     or '0: CLIENT://kafka-0.example.com:9092' for each broker
  kafka-audit before-migration prod --kind rolling-upgrade --kafka-version 4.3.0 --proposed new/ --oldest-client 2.1
  kafka-audit before-migration prod --kind dynamic-quorum
  kafka-audit before-migration prod --kind quorum-voters --node-ids 3000,3001,3003     all voters after the change
  kafka-audit before-migration prod --kind controller-hosts --advertised '3000: CONTROLLER://kafka-c0.example.com:9093'

exit codes:
  0    go
  1    internal error, or the engine did not run
  2    wrong usage or configuration
  3    no-go: there are blockers
  4    not decided: a deciding check is unknown
"""
AFTER = """\
Compare a cluster with its baseline after a change: take a snapshot, and list expected and unexpected changes.

example:
  kafka-audit after-migration prod

exit codes:
  0    as expected
  1    internal error, or the engine did not run
  2    wrong usage or configuration, or no baseline
  3    not as expected: an unexpected change, a new failure, or a planned change that is missing
  4    not decided: too few reads were answered, or an earlier failure is unknown now
"""
ALERT_TEST = """\
Send a test message through every alert channel with an Airflow connection: `kafka_audit_smtp` sends mail,
`kafka_audit_slack` sends to Slack. Run it on an Airflow worker, with its environment. The alerting state of the clusters
does not change.

example:
  kafka-audit alert-test

exit codes:
  0    every channel with a connection accepted the message
  1    internal error
  2    no connection exists, or a setting is missing
  3    a channel rejected the message
"""
CLASS_ARCHIVE = """\
Create the class archive for the installed Java and Spark, and print its path. The archive contains the classes that Spark's JVM
loads at each start, parsed and verified (about 180 MB). Spark starts faster with it. Use this command for images, for
Airflow workers, and where `--engine spark` runs often: the DAG and the commands use an archive but do not create one.

The folder is $KAFKA_AUDIT_CACHE, else $XDG_CACHE_HOME/kafka-audit, else ~/.cache/kafka-audit. KAFKA_AUDIT_CACHE=none disables
class archives. An archive that users other than this one and root can write is ignored.

example:
  kafka-audit class-archive

exit codes:
  0    the archive exists
  1    the archive could not be created; stderr gives the reason
  2    wrong usage
"""
CLUSTERS = """\
List the clusters of the cluster file, or of a folder of cluster files, with address and labels. No cluster is read. Each file is
checked completely, so the command also verifies a change of the files. With several labels, a cluster must have all of them.

examples:
  kafka-audit clusters
  kafka-audit clusters --config clusters.d --label env=prod --label team=payments
  for name in $(kafka-audit clusters --label env=prod | cut -d' ' -f1); do kafka-audit snapshot "$name"; done

exit codes:
  0    the clusters are listed
  2    wrong usage or configuration, or no cluster has the labels
"""
DAGS = """\
Write the DAG files of the installed package into Airflow's folder of DAGs. Each file imports a DAG from the package, so an
upgrade of the package upgrades the DAGs. A file that exists with other content is not overwritten; then no file is written.

examples:
  kafka-audit dags install
  kafka-audit dags install --to /opt/airflow/dags/kafka-audit

exit codes:
  0    the files exist
  2    wrong usage, Airflow is not installed, or a file has other content
"""
EXPLAIN = """\
Describe a check by code or name: its meaning, its importance and the remediation. Or find the page of an error message by words
of it: what it means, whether it is normal, and which check finds the cause. Without an argument, list all checks.

examples:
  kafka-audit explain KA101
  kafka-audit explain stale_leader
  kafka-audit explain "Leader: none"
"""
