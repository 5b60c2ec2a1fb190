"""``radixbench doctor``: is this machine fit to measure, and if not, what to do."""

from __future__ import annotations

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.errors import EXIT_INCOMPLETE, EXIT_OK


@app.command()
def doctor(as_json: options.Json = False) -> int:
    """Check packages, memory, GPU, and the whole chain with a scripted server."""
    from dataclasses import asdict

    from radixbench.bench.doctor import examine
    from radixbench.cli import output

    checks = []
    for check in examine():
        checks.append(check)
        if not as_json:
            output.print_check(check.state, check.name, check.text, check.remedy)
    if as_json:
        output.print_json({"schema": "radixbench.doctor/1", "checks": [asdict(check) for check in checks]})
    return EXIT_INCOMPLETE if any(check.state == "fault" for check in checks) else EXIT_OK
