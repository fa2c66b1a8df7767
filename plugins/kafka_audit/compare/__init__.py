"""Whether two statements about one thing differ, and how: hosts, addresses, lists of brokers, listener names. Pure.

Kafka keeps what a configuration says as it is written; two parties may write one host in two ways. Every comparison of hosts is
here, so that sampling, checks, the matrix and watch agree. No other module lower-cases a host.
"""
