"""Alerts on ghosts: when one is due, and its way to chats, mail and webhooks. No Qt."""
