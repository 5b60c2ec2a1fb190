"""``python -m radixbench``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    from radixbench.cli.main import run

    raise SystemExit(run())


if __name__ == "__main__":
    main()
