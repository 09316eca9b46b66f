"""Many markets at once: a wall of charts."""
