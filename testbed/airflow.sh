#!/usr/bin/env bash
# Check the wheel of this checkout with a release of Airflow: `testbed/airflow.sh 3.3.2 3.12`, the versions of Airflow and Python.
# The environment is made as a user makes it: Airflow as it was released, then the wheel. It ends with the first check that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD airflow=$1 python=$2

# Airflow's constraints are in no registry: each dependency has the newest version of the day after the release.
case $airflow in
  3.1.8) day=2026-03-12 ;;
  3.2.2) day=2026-05-30 ;;
  3.3.2) day=2026-09-18 ;;
  *) echo "$0: add the day after the release of Airflow $airflow" >&2; exit 2 ;;
esac

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
# Nothing of another Airflow may reach this one.
for name in $(compgen -e | grep -E '^(_?AIRFLOW|KAFKA_AUDIT_|PYTHONPATH$|VIRTUAL_ENV$)' || true); do unset "$name"; done
export AIRFLOW_HOME=$folder/home AIRFLOW__CORE__LOAD_EXAMPLES=False KAFKA_AUDIT_STORE=$folder/store
uv=$root/.venv/bin/uv venv=$folder/venv

say() { printf '[%4d s] Airflow %s on Python %s: %s\n' "$SECONDS" "$airflow" "$python" "$*"; }
plugins() { "$@" airflow plugins --output json | grep -o '"name": "kafka_audit"' | wc -l; }
mounted() { AIRFLOW__CORE__DAGS_FOLDER=$root/dags AIRFLOW__CORE__PLUGINS_FOLDER=$root/plugins "$@"; }

mkdir "$folder/checkout" # a build leaves files behind, which the next one would take
cp -r pyproject.toml setup.py README.md LICENSE plugins dags spark_jobs "$folder/checkout"
.venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$folder" "$folder/checkout"
"$uv" venv --quiet --python "$python" "$venv"
"$uv" pip install --quiet --python "$venv" --exclude-newer "$day" "apache-airflow==$airflow"
"$uv" pip install --quiet --python "$venv" "apache-airflow==$airflow" "$(echo "$folder"/kafka_audit-*.whl)[airflow]"
export PATH=$venv/bin:$PATH
cd "$folder"

say "the package imports, and Airflow lists provider and plugin"
python -c 'import importlib, pkgutil, kafka_audit.airflow as package
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)'
airflow db migrate >"$folder/migrate.log" 2>&1 || { tail -n 20 "$folder/migrate.log"; exit 1; }
airflow providers list --output plain | grep kafka-audit
test "$(plugins env)" = 1

say "the DAG audits a cluster, and so do operator and sensor in another DAG"
kafka-audit dags install
cat >"$AIRFLOW_HOME/dags/deployment.py" <<'DAG'
from airflow.sdk import dag
from kafka_audit.airflow import KafkaAuditOperator, KafkaCleanSensor


@dag
def deployment():
    audit = KafkaAuditOperator(task_id="audit", cluster="bed")
    audit >> KafkaCleanSensor(task_id="clean", cluster="bed")


deployment()
DAG
(cd "$root" && .venv/bin/python -m testbed -- bash -c "cd $folder && export KAFKA_AUDIT_CLUSTERS=\$KAFKA_AUDIT_BED/clusters.yaml &&
  airflow dags test kafka_audit && airflow dags test deployment") >"$folder/dags.log" 2>&1 ||
  { tail -n 40 "$folder/dags.log"; exit 1; }
python -c 'import json, sys; report = json.load(open(sys.argv[1])); assert report["cluster"] == "bed", report
assert report["incidents"] == [], report["incidents"]' "$KAFKA_AUDIT_STORE/findings.json"

say "the page opens for a viewer, and not without a login"
user='{"username": "viewer", "password": "viewer"}'
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS=viewer:viewer
export AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE=$folder/passwords.json
echo '{"viewer": "viewer"}' >"$folder/passwords.json"
port=$(python -c 'import socket; door = socket.create_server(("127.0.0.1", 0)); print(door.getsockname()[1])')
airflow api-server --host 127.0.0.1 --port "$port" --workers 1 >"$folder/server.log" 2>&1 &
url=http://127.0.0.1:$port
curl --silent --fail --retry 300 --retry-delay 2 --retry-all-errors --output /dev/null "$url/api/v2/version"
test "$(curl --silent --output /dev/null --write-out '%{http_code}' "$url/kafka-audit/clusters/bed")" = 401
token=$(curl --silent --fail --header 'Content-Type: application/json' --data "$user" "$url/auth/token" |
  python -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl --silent --fail --output /dev/null --header "Authorization: Bearer $token" "$url/kafka-audit/clusters/bed"

say "mounted folders register the plugin once, beside the wheel and without it"
test "$(plugins mounted)" = 1
"$uv" pip uninstall --quiet --python "$venv" kafka-audit
test "$(plugins mounted)" = 1
for dag in "$root"/dags/*.py; do PYTHONPATH=$root/plugins python -P "$dag"; done
say "passed"
