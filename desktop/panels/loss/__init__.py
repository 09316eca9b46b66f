"""The Loss dock: training loss, its anchor, the learning rate, and drifts."""
