"""Files that survive a power cut, and that only their owner can read."""
