"""KA3xx: listeners, names, proxies, reachability."""
