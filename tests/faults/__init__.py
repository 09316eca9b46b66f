"""Faults injected for real: killed processes, cut sockets."""
