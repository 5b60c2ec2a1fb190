"""What is asked, by whom and in which order, as exact token ids: pure and seeded."""
