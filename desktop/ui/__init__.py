"""Widgets and helpers that know no market: theme, translation, formatting, icons, inputs, plots, accessibility."""
