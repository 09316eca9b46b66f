"""The views that items lie in, one a pane, and the stage that puts everything in its place."""
