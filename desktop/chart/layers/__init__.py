"""What is painted, from what changes least to what changes with the mouse."""
