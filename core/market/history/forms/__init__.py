"""Known forms of candle and trade files: one declarative row each, and how a file's form is recognised."""
