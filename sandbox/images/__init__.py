"""Durable images of sessions: what a worker writes of its state, and how another takes it up."""
