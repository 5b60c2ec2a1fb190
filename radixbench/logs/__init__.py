"""Server logs, line by line: text to records and, for our own lines, records to text. Pure."""
