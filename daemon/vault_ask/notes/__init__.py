"""Text in, values out: parsing, sensitivity, links and chunks. No I/O and no clock."""
