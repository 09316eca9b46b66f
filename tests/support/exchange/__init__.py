"""Parts of the loopback exchange: its trades, its messages, and its faults."""
