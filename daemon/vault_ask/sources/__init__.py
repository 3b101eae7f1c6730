"""Where notes come from: a folder on disk, or whatever else keeps a vault. Knows nothing of Markdown."""
