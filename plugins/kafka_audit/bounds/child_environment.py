"""The environment of programs that an audit starts: what they need, by name, and nothing that holds a password of a cluster.

A program's environment is read by all that it starts, and often by others of the same user. So each gets a list of names instead
of everything but some names: passwords of other clusters have names that are unknown here.
"""

import contextlib
import os
import re
from collections.abc import Collection, Iterator, Mapping

_ANY = frozenset(
    {
        "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR",
        "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy",
        "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
        "KRB5CCNAME", "KRB5_CONFIG",
    }
)  # fmt: skip
_CLOUDS = frozenset(
    {
        "AWS_ACCESS_KEY_ID", "AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_DEFAULT_REGION", "AWS_EC2_METADATA_DISABLED", "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_PROFILE", "AWS_REGION", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
        "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SHARED_CREDENTIALS_FILE", "AWS_STS_REGIONAL_ENDPOINTS",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "CLOUDSDK_ACTIVE_CONFIG_NAME", "CLOUDSDK_CONFIG", "CLOUDSDK_CORE_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT", "USE_GKE_GCLOUD_AUTH_PLUGIN",
        "AZURE_AUTHORITY_HOST", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_CONFIG_DIR",
        "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID",
    }
)  # fmt: skip
"""With which kubectl logs in to a cluster of a cloud, and Spark reads a bucket."""

_COMMANDS = frozenset(
    {
        "CONTAINER_HOST", "DOCKER_CERT_PATH", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_TLS_VERIFY",
        "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT_HTTPS",
        "SSH_AGENT_PID", "SSH_AUTH_SOCK",
    }
)  # fmt: skip
_SPARK = frozenset(
    {
        "AIRFLOW_HOME", "COVERAGE_PROCESS_START", "JAVA_HOME", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
        "KAFKA_AUDIT_TASK_PID", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
        "KUBERNETES_SERVICE_PORT_HTTPS", "VIRTUAL_ENV", "_JAVA_OPTIONS",
    }
)  # fmt: skip
_PREFIXES, _SPARK_PREFIXES = ("LC_",), ("LC_", "SPARK_", "PYSPARK_", "PYTHON", "HADOOP_", "YARN_", "MALLOC_", "OMP_")
_SECRET = re.compile(r"PASSW|SECRET|TOKEN|CREDENTIAL|PWD$|_PASS$|_KEY$", re.IGNORECASE)


def of_command(environ: Mapping[str, str], more: Collection[str] = ()) -> dict[str, str]:
    """Return the environment of a command of a vantage or of logs; `more` are names that the cluster file adds."""
    return _kept(environ, _ANY | _CLOUDS | _COMMANDS | frozenset(more), _PREFIXES)


def of_spark(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of Spark: of its JVM, of `spark-submit`, and of the Python that starts them."""
    return _kept(environ, _ANY | _CLOUDS | _SPARK, _SPARK_PREFIXES)


def _kept(environ: Mapping[str, str], names: Collection[str], prefixes: tuple[str, ...]) -> dict[str, str]:
    """Return what is named, and what begins as names do that a program takes, if it is not called like a secret."""
    return {
        name: value
        for name, value in environ.items()
        if name in names or (name.startswith(prefixes) and _SECRET.search(name) is None)
    }


@contextlib.contextmanager
def only_of_spark(more: Collection[str] = ()) -> Iterator[None]:
    """Take all else out of this process's environment, for what copies it to a program that it starts.

    Args:
        more: names that stay, because what runs in this process meanwhile reads them.
    """
    kept = {*of_spark(os.environ), *more}
    away = {name: value for name, value in os.environ.items() if name not in kept}
    try:
        for name in away:
            del os.environ[name]
        yield
    finally:
        os.environ.update(away)
