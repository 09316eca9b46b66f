"""The online session: takes one candle, returns scores, a training step, a forecast and sometimes a checkpoint."""
