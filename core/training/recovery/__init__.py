"""Recovery from failed steps: an escalation ladder from a dropped batch to a pause."""
