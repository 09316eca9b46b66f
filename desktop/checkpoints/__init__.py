"""The checkpoint browser: a dock with all stored checkpoints, and the actions on them."""
