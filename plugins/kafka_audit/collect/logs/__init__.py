"""What brokers wrote: a bounded tail of their logs, of which only the lines that say why something fails become rows."""
