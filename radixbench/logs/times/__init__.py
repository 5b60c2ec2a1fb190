"""Printed times, read without a calendar library: they are many."""
