"""Where the docks are: arrangements for a purpose, and those that a user keeps."""
