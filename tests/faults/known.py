"""What is wrong today, by property: the subject, and why. A mend removes its line, because these tests are strict."""

HEADLINES: dict[str, str] = {}
EXCLUSIONS: dict[str, str] = {}
LESS_DATA: dict[str, str] = {
    "cut_off-a_sidecar_closes_connections": "it is rare: without the probe that shows it, an address out of reach is inferred",
    **{
        f"KA401-{case} without {read}": "the log alone shows what ACLs refused that allow it now: else an address is inferred"
        for case in ("allowed_again_and_not_restarted", "two_are_allowed_again_and_one_serves_nothing")
        for read in ("log of 0", "logs, files and vantages")
    },
    "KA302-kraft_no_host_reaches_it_and_it_leads_nothing without right to DescribeConfigs": (
        "settings alone name the listener between brokers in KRaft: without them the refused address is only one of clients"
    ),
    "reach-a_wrong_address_before_anything_is_missing without vantage worker": (
        "the same address, named as that of brokers where no client was asked"
    ),
}
OPEN_PROBES: dict[str, str] = {}
OTHER_NAMES: dict[str, str] = {}
OTHER_ORDER: dict[str, str] = {}
NOT_NAMED: dict[str, str] = {
    "zookeeper_foreign_issuer": "its view is not read, for the same reason, and no other view shows that anything is missing",
    "zookeeper_web_server": "without DescribeConfigs no answer says which broker it is of whose view is empty",
    "zookeeper_dead_disk": "its replicas are listed as offline, and ListOffsets, which tells why, is refused",
    "kraft_dead_disk": "its replicas are listed as offline, and ListOffsets, which tells why, is refused",
}
"""Recordings of which Metadata alone does not show the true cause."""
ALARMS: dict[str, str] = {}
"""Recordings of healthy clusters that have an incident."""
