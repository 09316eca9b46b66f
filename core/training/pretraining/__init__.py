"""Learning from candle files before a run: in one process, or in several that torchrun started."""
