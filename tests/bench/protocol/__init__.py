"""Tests of the cache protocol."""
