"""What is wrong today, by property: the subject, and why. A mend removes its line, because these tests are strict."""

_NO_REASONS = "KA302 says that rivals were ruled out and lists no reason where a view is stale or a follower is away"
_LIMIT = "without the probe that connects, a limit of connections is an address out of reach: it is no rival"
_LUCK = "the auditor's own handshake rules TLS between the brokers out, so an address out of reach is inferred"

HEADLINES: dict[str, str] = {
    "KA001-wrong_password": "the brokers that accept the login are in no finding",
    "KA202-a_controller_follows_an_old_leader": "the controller that reports the earlier leader is in no evidence",
    "reach-one_broker_refuses_the_right_password": "the brokers that accept the login are in no finding",
}
EXCLUSIONS: dict[str, str] = dict.fromkeys(
    (
        "KA101-one_of_three_is_stale",
        "KA101-broker_of_an_old_version_reports_no_epochs",
        "KA101-more_than_ten_partitions",
        "KA101-no_leader_in_zookeeper",
        "KA105-address_that_turns_out_to_be_broker_2",
        "KA302-inferred_from_a_stale_view",
        "KA302-inferred_from_the_isr",
        "KA302-kraft_leader_without_followers",
        "KA302-kraft_leader_without_followers_at_a_listener_that_only_settings_name",
    ),
    _NO_REASONS,
)
_BLIND = ("logs and files", "logs, files and vantages")
_LESS_DATA = {
    "KA302-measured_by_the_controllers_log": (("right to DescribeConfigs",), "KA401 inferred becomes KA302 measured by a log"),
    "KA412-no_rule_names_the_certificate": (("file of 2", "every file", *_BLIND), "KA412 inferred becomes KA302 inferred"),
    "KA401-logs_in_and_is_no_super_user_at_one": (("right to DescribeConfigs",), "two more brokers are said to refuse"),
    "KA401-its_log_shows_failed_connections": (("log of 0", *_BLIND), "KA302 measured becomes KA401 inferred at all brokers"),
    "KA408-set_to_true": (("file of 2", *_BLIND), "KA401 is inferred at a broker that lets everyone in"),
    "zookeeper_connection_limit": (("vantage brokers", "vantage brokers at broker 0", _BLIND[1]), _LIMIT),
    "zookeeper_rotated_authority": ((_BLIND[1],), _LUCK),
    "zookeeper_tls_versions": ((_BLIND[1],), _LUCK),
}
LESS_DATA = {f"{name} without {what}": why for name, (inputs, why) in _LESS_DATA.items() for what in inputs}
OPEN_PROBES: dict[str, str] = {}
OTHER_NAMES: dict[str, str] = {}
OTHER_ORDER: dict[str, str] = {
    "KA001-one_listener_of_two": "the headline names the first of the reads that failed",
    "reach-a_second_headline_for_what_answered_in_part": "the headline names the first of the reads that failed",
}
CAUSES: dict[str, str] = {
    "zookeeper_connection_limit": "no cause knows max.connections.per.ip: no known cause fits",
    "zookeeper_process_stalls": "reads of four seconds beside reads of none are no finding",
}
