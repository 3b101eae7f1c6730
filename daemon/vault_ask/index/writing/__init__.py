"""How the rows of the index are made and read by the one writer: each call is part of one of its transactions."""
