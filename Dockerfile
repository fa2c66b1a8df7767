# Airflow and Spark with the versions of requirements.txt, which are the tested ones.
# docs/releases.md describes how to update the digest.
FROM python:3.11-slim-bookworm@sha256:0bee7276f83efd4a1ee05bbbf4281d95ed28e079220a9457f25a93e3f1e3c31b

# Spark 4 needs Java 17 and its scripts need ps; ssh is the usual vantage on the brokers' own hosts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless openssh-client procps tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 50000 --gid 0 airflow

WORKDIR /opt/kafka-audit
COPY requirements.txt ./
COPY requirements requirements
# Every package has a hash, and so has the setuptools that builds source packages.
RUN pip install --no-cache-dir --require-hashes --only-binary :all: --requirement requirements/build.txt \
    && pip install --no-cache-dir --require-hashes --no-build-isolation --requirement requirements.txt --requirement requirements/image.txt \
    && pip uninstall --yes uv

COPY pyproject.toml setup.py README.md LICENSE ./
COPY plugins plugins
COPY dags dags
COPY spark_jobs spark_jobs
# pip does not compile an editable package, and a read-only container cannot keep compiled files.
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable . \
    && python -m compileall -q plugins \
    && mkdir -p /var/lib/airflow /var/lib/kafka-audit \
    && chown -R airflow:root /var/lib/airflow /var/lib/kafka-audit

ENV AIRFLOW_HOME=/var/lib/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/kafka-audit/dags \
    AIRFLOW__CORE__PLUGINS_FOLDER=/opt/kafka-audit/plugins \
    AIRFLOW__CORE__LOAD_EXAMPLES=False \
    AIRFLOW__CORE__PARALLELISM=4 \
    AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION=False \
    KAFKA_AUDIT_CLUSTERS=/etc/kafka-audit/clusters.yaml \
    KAFKA_AUDIT_STORE=/var/lib/kafka-audit \
    PYTHONDONTWRITEBYTECODE=1

USER airflow
EXPOSE 8080
# -g: a signal to `airflow standalone` alone would leave scheduler and server behind.
ENTRYPOINT ["tini", "-g", "--"]
# A complete Airflow with SQLite in one container, for a first test; docker-compose.yaml runs each component separately.
CMD ["airflow", "standalone"]
