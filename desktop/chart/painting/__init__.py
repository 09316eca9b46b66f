"""Shapes, fonts and text as a painter draws them, in device pixels."""
