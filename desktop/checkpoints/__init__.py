"""The checkpoint browser: a dock over all kept checkpoints, and what can be done with them."""
