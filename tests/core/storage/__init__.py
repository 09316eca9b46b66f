"""Tests of core.storage."""
