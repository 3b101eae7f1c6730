"""Turns hits into a cited, streamed answer and checks it against its sources."""
