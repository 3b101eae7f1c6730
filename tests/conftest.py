"""Fixtures that tests of several packages share."""

from couch_servers import couch_server, pouchdb, stand_in

__all__ = ["couch_server", "pouchdb", "stand_in"]
