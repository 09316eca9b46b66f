"""History in and out: candle files, trades made into candles, what is missing, and fetching it. No Qt."""
