"""Mouse and keys."""
