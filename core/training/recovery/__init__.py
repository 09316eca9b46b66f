"""What is done when a step goes wrong: the ladder from a dropped batch to a pause."""
