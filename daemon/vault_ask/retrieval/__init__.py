"""Finds the passages of a view that answer a question. Never writes to the index."""
