"""The window and the command line. Importing this package imports neither Qt nor torch."""
