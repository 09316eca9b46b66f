"""The feed in words and in numbers."""
