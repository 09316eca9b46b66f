"""`ghostcandle bench chart`: how fast the chart is, measured on the real widget. Nothing else imports this room."""
