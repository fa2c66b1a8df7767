"""KA5xx: disks, and clients that stay with a failed leader."""
