"""`ghostcandle bench chart` and `bench browser`: how fast the real widgets are. Nothing else imports this package."""
