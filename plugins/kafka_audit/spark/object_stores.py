"""How Spark reaches a store that is a URL: the same place, with the name that Hadoop's file system has for it."""

from collections.abc import Mapping

_S3 = frozenset({"s3", "s3a", "s3n"})
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ANY_REGION = "us-east-1"  # servers other than Amazon's have none, and the client asks for it


def url(root: str) -> str:
    """Return a store's root as Spark's file systems know it: `s3://` is `s3a://` there, a local path a `file://` URL."""
    if is_s3(root):
        return f"s3a://{root.partition('://')[2]}"
    # Not Path.as_uri: Hadoop does not take percent signs for escapes.
    return root if "://" in root else f"file://{root}"


def is_s3(root: str) -> bool:
    """Return whether a store is in a bucket of S3, or of a server that speaks its protocol."""
    protocol, separator, _ = root.partition("://")
    return bool(separator) and protocol in _S3


def s3a_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return Spark configuration by which its S3 client finds the server that Amazon's variables name; it reads none of them.

    Credentials are not part of it: Spark shows its configuration. Its client reads AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY of the driver, which hands them to executors.
    """
    found = {}
    endpoint = _first(environment, _ENDPOINTS)
    region = _first(environment, _REGIONS)
    if endpoint:
        # A bucket is a name below the host only where somebody has made it one in the DNS.
        found = {"spark.hadoop.fs.s3a.endpoint": endpoint, "spark.hadoop.fs.s3a.path.style.access": "true"}
        region = region or _ANY_REGION
    if region:
        found["spark.hadoop.fs.s3a.endpoint.region"] = region
    return found


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((environment[name] for name in names if environment.get(name)), None)
