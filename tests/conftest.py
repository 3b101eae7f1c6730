"""Fixtures that tests of several packages share."""

from couch_servers import couch_server, pouchdb, stand_in
from livesync_bench import followed, livesync, sealed

__all__ = ["couch_server", "followed", "livesync", "pouchdb", "sealed", "stand_in"]
