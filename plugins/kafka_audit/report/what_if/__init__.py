"""What a loss takes, in words: that of the parties asked for, and the next failure of a single broker, rack or controller."""
