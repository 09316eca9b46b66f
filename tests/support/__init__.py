"""What tests share: the loopback exchange, sample candles, waiting for a condition."""
