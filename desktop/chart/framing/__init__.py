"""One frame's geometry, and what builds it."""
