"""The SQLite index: the only package that imports the driver, and the only SQL that returns text."""
