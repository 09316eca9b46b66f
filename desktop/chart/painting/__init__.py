"""Shapes, fonts and text in device pixels."""
