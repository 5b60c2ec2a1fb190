"""The declared state of a server's cache: brought about, proved by probes, judged by what was measured."""
