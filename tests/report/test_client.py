"""The client's own part in the numbers."""

from __future__ import annotations

from dataclasses import replace

from radixbench.report.client import client_brief, client_section, client_verdict
from radixbench.scenario.model import LoadSpec
from tests.report import scenes
from tests.report.evidence import CALIBRATION, CLIENT, measured, side_of


def side(calibration=CALIBRATION, client=CLIENT, load=None, late_ns=0):
    """The on arm with these readings; requests are sent ``late_ns`` after they were due."""
    on, _ = measured()
    runs = tuple(
        replace(
            run,
            client=client,
            requests=tuple(replace(one, due_ns=one.send_ns - late_ns) for one in run.requests),
        )
        for run in on.runs
    )
    scenario = replace(on.scenario, load=load or on.scenario.load)
    return side_of(replace(on, runs=runs, calibration=calibration, scenario=scenario))


def test_a_good_client_is_cleared_with_its_error():
    """Its error beside the shortest wait."""
    said = client_verdict([side()])
    assert (said.word, said.tone) == ("client: fine", "better")
    assert "saw first tokens 180 µs late (median)" in said.text


def test_a_client_that_errs_as_much_as_the_wait_is_not():
    """The plain sentence says that it could have."""
    slow = replace(CALIBRATION, ttft_error_p50_ns=50_000_000)
    said = client_verdict([side(slow)])
    assert said.text.startswith("A (cache on): against a mock")
    assert said.word == "client: suspect"


def test_runs_with_stalls_are_counted():
    """In how many runs, and one of them as an example."""
    said = client_verdict([side(client=replace(CLIENT, stalls=20, stall_max_ns=90_000_000))])
    assert said.tone == "caution"
    assert "in 12 of 12 runs, for one: A (cache on), 0 shared tokens, concurrency 1, seed 0" in said.text


def test_in_short_the_finding_is_left_to_its_caveat():
    """One sentence isn't printed twice."""
    said = client_brief([side(client=replace(CLIENT, stalls=20, stall_max_ns=90_000_000))])
    assert (said.word, said.text) == ("client: suspect", "in 12 of 12 runs, see client-lag.")
    assert client_brief([side()]) == client_verdict([side()])


def test_readings_stand_in_tables():
    """Per cell and arm, and for the calibration once for arms that share it."""
    on, off = measured()
    section = client_section([side_of(on), side_of(off, slot="b", name="B (cache off)")])
    (_, runs), (_, calibration) = section.grids
    assert runs.rows[0][2:6] == ("none: due when sent", "39.1 µs", runs.rows[0][4], "2.3 %")
    assert runs.rows[0][6] == "0 in 600 looks"
    assert [row[0] for row in calibration.rows] == ["A (cache on) and B (cache off)"]
    assert calibration.rows[0][3] == "180 µs / 900 µs"


def test_lateness_is_of_open_loops():
    """Median and 99th percentile over all seeds."""
    section = client_section([side(load=LoadSpec("poisson", request_rate=10.0), late_ns=2_000_000)])
    assert section.grids[0][1].rows[0][2] == "2.00 ms / 2.00 ms"


def test_a_late_mock_discredits_itself():
    """Not the client."""
    section = client_section([side(replace(CALIBRATION, late_p99_ns=9_000_000))])
    assert any(
        "the mock itself wrote up to 9.00 ms (p99) after its schedule" in one.text for one in section.says
    )


def test_a_missing_calibration_is_said():
    """What wasn't tried isn't known."""
    section = client_section([side(calibration=None)])
    assert [one.word for one in section.says] == ["client: not calibrated"]
    assert len(section.grids) == 1


def test_captures_from_before_it_watched_itself_have_no_section():
    """Nothing is made up."""
    assert client_section([side_of(scenes.laptop()[0])]) is None
