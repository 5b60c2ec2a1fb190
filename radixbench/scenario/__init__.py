"""Strict YAML, or flags, become one frozen experiment."""
