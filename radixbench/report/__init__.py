"""What people see: strings and drawings, on a terminal, in Markdown, in one HTML file."""
