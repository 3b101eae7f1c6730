"""Implementations of ports: embedders and generators. They decide nothing about scope."""
