"""History in and out: candle files, trades aggregated to candles, missing candles, and back-filling. No Qt."""
