"""What the chart shows: candles, forecasts and outcomes, asked for by index."""
