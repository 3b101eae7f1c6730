"""Brings the index in line with the source: plan, embed, replace. Answers no questions."""
