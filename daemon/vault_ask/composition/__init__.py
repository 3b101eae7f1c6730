"""The composition root: settings in, a working vault-ask out. The only package that picks implementations."""
