"""vault-ask answers questions from an Obsidian vault and cites the notes."""

__version__ = "0.1.0"
