"""Tests of the packaged program."""
