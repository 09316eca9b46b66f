"""The candle chart: series in, pixels out."""
