"""Help that teaches: what each command says of itself."""

EXIT_CODES = """\
exit codes:
  0    clean
  1    internal error, or Spark did not run
  2    wrong usage or configuration; a damaged snapshot, or a store that cannot be written
  3    unmuted failures at or above --fail-on
  4    none of those, but fewer reads were answered than --min-coverage asks for
  130  interrupted
"""
MAIN = (
    """\
Audit Kafka clusters by asking every party: ZooKeeper, each broker itself, the network.
It only reads: nothing is created or written in an audited cluster.

first steps:
  kafka-audit demo                               break a real cluster on this machine and audit it
  cp clusters.example.yaml clusters.yaml         describe your clusters
  kafka-audit run prod                           audit one of them
  kafka-audit lint server.properties             judge a configuration before a broker starts with it
  kafka-audit explain KA101                      what a finding means and what to do

"""
    + EXIT_CODES
)
RUN = (
    """\
Take a snapshot of a cluster, compare its views with each other and with the previous snapshot, report, judge.
The page goes to stdout, the report to DIR/findings.json, snapshots accumulate in DIR/snapshots/ (`keep` in the
cluster file says how many).

examples:
  kafka-audit run prod                           ./clusters.yaml, store in ./kafka-audit-store
  kafka-audit run prod --fail-on critical        exit 3 for what fails now, not for what will
  kafka-audit run prod --baseline none           judge it alone, compare with nothing
  kafka-audit run prod --format json | jq '.incidents[].headline'
  kafka-audit run prod --format html,md          DIR/findings.html and DIR/findings.md, too
  kafka-audit run prod --quiet > page.txt || mail -s "kafka prod" me@example.com < page.txt

"""
    + EXIT_CODES
)
SNAPSHOT = """\
Take a snapshot of a cluster and store it; nothing is judged. Its id goes to stdout.

example:
  before=$(kafka-audit snapshot prod); ./rolling-restart.sh; after=$(kafka-audit snapshot prod)
  kafka-audit diff "$before" "$after"
"""
DIFF = """\
Judge the later of two snapshots against the earlier one: what changed, what is new, resolved, ongoing.
The store's current reports stay as they are.

example:
  kafka-audit diff 20260131T080000Z-prod-1a2b 20260131T090000Z-prod-3c4d
"""
REPORT = """\
Render the report on a stored snapshot again. Nothing is asked of any cluster. HTML, Markdown and SARIF become files beside the
snapshot, and their paths go to stdout.

examples:
  kafka-audit report 20260131T080000Z-prod-1a2b
  kafka-audit report 20260131T080000Z-prod-1a2b --format html,md
"""
LINT = """\
Judge configurations before brokers start with them: whether Kafka accepts each, in its own words, what fails later, and where the
brokers of one cluster differ. Files are server.properties, Kubernetes manifests, compose files or env files; folders and patterns
mean the files in them. Files that share an address of ZooKeeper or of the controllers' quorum are one cluster. Nothing is asked
of any cluster.

examples:
  kafka-audit lint server.properties
  kafka-audit lint conf/broker-*.properties --kafka-version 3.9.1
  kafka-audit lint k8s/ --format sarif > lint.sarif
  kafka-audit lint compose.yaml --fail-on medium --all
  kafka-audit lint new/ --against prod           what these files would break of the cluster in the newest snapshot

A finding is accepted by a comment in the file, `# kafka-audit: ignore KA308 reason`, or by the mute list of the cluster file.

exit codes:
  0    clean
  1    internal error
  2    wrong usage, or a file that cannot be read or is no broker's configuration
  3    unmuted failures at or above --fail-on
  130  interrupted
"""
BEFORE = """\
Say whether a change of a cluster may begin: take a snapshot, judge it, run the checks that a migration needs, judge proposed
files against it, try proposed addresses. On a go the snapshot is kept as baseline.

kinds: zookeeper-to-kraft, rolling-upgrade, listeners-or-security, new-network, moving-hosts

examples:
  kafka-audit before-migration prod --kind zookeeper-to-kraft --node-ids 3000,3001,3002
  kafka-audit before-migration prod --kind listeners-or-security --proposed new/ --vantage clients
  kafka-audit before-migration prod --kind new-network --vantage clients \\
    --advertised 'CLIENT://kafka-{broker_id}.example.com:9092'     or '0: CLIENT://kafka-0.example.com:9092', once a broker

exit codes:
  0    go
  1    internal error, or Spark did not run
  2    wrong usage or configuration
  3    no-go: there are blockers
  4    not decided: a question that decides was not answered
"""
AFTER = """\
Say whether what changed since the baseline was meant to: take a snapshot, compare, sort the changes by the plan.

example:
  kafka-audit after-migration prod

exit codes:
  0    as meant
  1    internal error, or Spark did not run
  2    wrong usage or configuration, or there is no baseline
  3    not as meant: something else changed, fails now, or was not done
  4    not decided: fewer reads were answered, or an earlier failure could not be judged
"""
ALERT_TEST = """\
Send a test message through every alert channel that has an Airflow connection: `kafka_audit_smtp` mails, `kafka_audit_slack`
posts. Run it where Airflow runs, with its environment. What the channels were told of clusters stays as it is.

example:
  kafka-audit alert-test

exit codes:
  0    every channel that has a connection took the message
  1    internal error
  2    there is no connection, or one lacks something
  3    a channel did not take the message
"""
EXPLAIN = """\
Explain a check by code or name: what it means, why it matters, what to do. Without one, list them all.

examples:
  kafka-audit explain KA101
  kafka-audit explain stale_leader
"""
