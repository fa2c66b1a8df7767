"""What is valid in an OAUTHBEARER login whose tokens are fetched; cluster files and Airflow connections share it. Pure."""

import re
from urllib.parse import SplitResult, urlsplit

from kafka_audit.compare.addresses import canonical_host

_EXTENSION_NAME = re.compile(r"[A-Za-z]+")  # Kafka's OAuthBearerClientInitialResponse, as the value below
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")
_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+){1,3}-[0-9]{1,2}")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,300}/\.default")  # RFC 6749, and the only form without a user
_EVENT_HUBS_HOST = re.compile(
    r"([a-z0-9][a-z0-9-]{0,80}\.servicebus\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn))(?::\d+)?", re.IGNORECASE
)
_MSK_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?\Z", re.IGNORECASE)


def token_endpoint_fault(url: str) -> str:
    """Return what is wrong with the URL of a token endpoint, "" if nothing is; it is not repeated, for it may hold a login."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return "is not a URL such as https://login.example.com/token"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and _port(parts) != 0
    except ValueError:
        valid = False
    if not valid:
        return "is not a URL such as https://login.example.com/token"
    if "@" in parts.netloc:
        return "contains a login; set the client ID and the client secret by their own keys"
    return "contains a fragment (#); remove it" if parts.fragment else ""


def _port(parts: SplitResult) -> int | None:
    return parts.port  # raises ValueError


def extension_fault(name: str, value: str) -> str:
    """Return what is wrong with a SASL extension, "" if nothing is."""
    if _EXTENSION_NAME.fullmatch(name) is None or name == "auth":
        return "is not the name of a SASL extension: letters only, and not auth"
    return "" if _EXTENSION_VALUE.fullmatch(value) else "has a value with characters that SASL extensions do not allow"


def region_fault(region: str) -> str:
    """Return what is wrong with the name of an AWS region, "" if nothing is."""
    return "" if _REGION.fullmatch(region) else "is not an AWS region such as eu-west-1"


def msk_region_of(addresses: str) -> str | None:
    """Return the AWS region of the first of some addresses that is one of Amazon MSK; None if none is."""
    found = (_MSK_HOST.search(address.strip()) for address in addresses.split(","))
    return next((match[1].lower() for match in found if match), None)


def scope_fault(scope: str) -> str:
    """Return what is wrong with the scope of a token of Microsoft Entra ID, "" if nothing is."""
    return "" if _SCOPE.fullmatch(scope) else "is not a scope such as https://NAMESPACE.servicebus.windows.net/.default"


def is_google_cloud(addresses: str) -> bool:
    """Return whether one of some addresses is one of Google Cloud Managed Service for Apache Kafka."""
    hosts = (canonical_host(address.strip().partition(":")[0]) for address in addresses.split(","))
    return any(".managedkafka." in host and host.endswith(".cloud.goog") for host in hosts)


def event_hubs_scope_of(addresses: str) -> str | None:
    """Return the scope of tokens for the first of some addresses that is a namespace of Azure Event Hubs; None if none is."""
    found = (_EVENT_HUBS_HOST.fullmatch(address.strip()) for address in addresses.split(","))
    return next((f"https://{match[1].lower()}/.default" for match in found if match), None)
