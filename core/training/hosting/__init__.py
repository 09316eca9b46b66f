"""Runs a session: the driver, its hosts (a child process or a thread), checkpoints, and restarts."""
