"""How jars get into the cache; Maven is a shell script here, the real ones are run whenever the cache is empty."""

import pytest

from testbed import BedError, kafka_jars
from testbed.jars import tier_jars

FAKE_MAVEN = """#!/bin/sh
echo call >> "{calls}"
for word; do case "$word" in -DoutputDirectory=*) out="${{word#*=}}" ;; esac; done
mkdir -p "$out" && touch "$out/kafka_2.13-3.9.1.jar" "$out/zookeeper-3.8.4.jar"
"""
SULKING_MAVEN = """#!/bin/sh
echo "[ERROR] Could not resolve dependencies"; exit 1
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kafka-audit"


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """Install a script as the first mvn on PATH; returns the file that it notes its calls in."""

    def install(text):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "mvn").write_text(text.format(calls=tmp_path / "calls"))
        (folder / "mvn").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return tmp_path / "calls"

    return install


def test_a_release_is_resolved_once(cache, maven):
    calls = maven(FAKE_MAVEN)
    folder = kafka_jars("3.9.1")
    assert folder == cache / "kafka-3.9.1"
    assert sorted(jar.name for jar in folder.glob("*.jar")) == ["kafka_2.13-3.9.1.jar", "zookeeper-3.8.4.jar"]
    assert kafka_jars("3.9.1") == folder
    assert calls.read_text() == "call\n"
    assert [entry.name for entry in cache.iterdir()] == ["kafka-3.9.1"]


def test_a_folder_that_lost_a_jar_is_resolved_again(cache, maven):
    maven(FAKE_MAVEN)
    (kafka_jars("3.9.1") / "zookeeper-3.8.4.jar").unlink()
    assert (kafka_jars("3.9.1") / "zookeeper-3.8.4.jar").is_file()
    assert (cache / "kafka-3.9.1" / "COMPLETE").is_file()


def test_a_maven_that_fails_publishes_nothing_and_is_quoted(cache, maven):
    maven(SULKING_MAVEN)
    with pytest.raises(BedError, match=r"Maven could not resolve org.apache.kafka:kafka_2.13:3.9.1(.|\n)*Could not resolve dep"):
        kafka_jars("3.9.1")
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("cache")
def test_the_jar_of_kafkas_tests_comes_alone(maven):
    calls = maven("#!/bin/sh\ncp pom.xml {calls}\nmkdir jars; touch jars/kafka-storage-4.3.0-test.jar\n")
    assert [jar.name for jar in tier_jars("4.3.0").glob("*.jar")] == ["kafka-storage-4.3.0-test.jar"]
    asked = calls.read_text()
    assert "<artifactId>kafka-storage</artifactId><version>4.3.0</version><classifier>test</classifier>" in asked
    assert "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>" in asked


@pytest.mark.usefixtures("cache")
def test_without_maven_the_jar_of_kafkas_tests_is_not_to_be_had(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BedError, match=r"no mvn on PATH, which org.apache.kafka:kafka-storage:4.3.0:test needs"):
        tier_jars("4.3.0")


def test_without_maven_and_java_the_message_says_what_to_install(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BedError, match="no java on PATH nor in JAVA_HOME: install a Java 17 runtime"):
        kafka_jars("3.9.1")
    assert list(cache.iterdir()) == []


def test_an_unknown_version_names_those_known():
    with pytest.raises(BedError, match=r"no Kafka 0\.1; it knows 1\.0\.2, 1\.1\.1, .*, 3\.9\.1, .*, 4\.4\.0"):
        kafka_jars("0.1")
