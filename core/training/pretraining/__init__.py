"""Training on candle files before a run: in one process, or in several started by torchrun."""
