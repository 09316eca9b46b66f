"""Places of the docks: arrangements for a purpose, and saved layouts."""
