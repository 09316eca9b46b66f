"""The online session: one candle in; scores, a training step, a forecast and perhaps a checkpoint out."""
