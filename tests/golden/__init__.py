"""Golden images of the chart: a table of scenes, a process per scale that paints them, and a way to review and approve.

`make golden-review` paints all scenes and writes a page with expected, actual and difference side by side;
`make golden-approve` takes over what that page shows.
"""
