"""Technical indicators over a candle series: what there is, how it is set, and its values kept up to date."""
