"""A scenario file is read exactly or refused in one line: file, line, key, remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.errors import ScenarioError
from radixbench.scenario.load import dump, load
from radixbench.scenario.model import (
    EngineSpec,
    GridSpec,
    LoadSpec,
    ModelSpec,
    Scenario,
    TargetSpec,
    TelemetrySpec,
    WorkloadSpec,
)

FULL = """\
name: full
why: because
expect: something
model: {name: smollm2-135m, device: cpu, dtype: float32, trust_remote_code: true}
engine: {threads: 2, max_total_tokens: 65_536, chunked_prefill_size: 512, page_size: 16, schedule_policy: lpm}
workload:
  kind: multi-turn
  shared: [0, 128]
  turns: [1, 4]
  groups: 2
  prompts_per_group: 3
  question_len: 10
  output_len: 5
load: {max_concurrency: 2}
telemetry: {interval_ms: 100}
cache_state: cold
modes: ["off"]
seeds: 5
"""


KINDS = """\
name: kinds
workload: {%s}
load: {arrival: gamma, max_concurrency: 64, burstiness: 0.5, num_prompts: 99, duration_s: 60, stall_timeout_s: 30.5}
grid: {request_rate: [1, 2.5], page_size: [16]}
target: {%s}
off_mode: salt
cache_state: warm
"""


def refusal(folder: Path, text: str | bytes) -> str:
    """What ``load`` says of a file with this text, the folder left out."""
    path = folder / "s.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 2
    return message.replace(f"{folder}/", "")


def test_every_key_arrives(tmp_path: Path) -> None:
    """Each key of a file ends up in its field, lists as tuples."""
    path = tmp_path / "full.yaml"
    path.write_text(FULL)
    assert load(path) == Scenario(
        name="full",
        why="because",
        expect="something",
        model=ModelSpec("smollm2-135m", "cpu", "float32", trust_remote_code=True),
        engine=EngineSpec(2, 65_536, 512, 16, "lpm"),
        workload=WorkloadSpec("multi-turn", (0, 128), (1, 4), 2, 3, 10, 5),
        load=LoadSpec(max_concurrency=2),
        telemetry=TelemetrySpec(100),
        cache_state="cold",
        modes=("off",),
        seeds=5,
    )


@pytest.mark.parametrize(
    ("workload", "spec"),
    [
        (
            "kind: multi-turn, turns: [2], distribution: zipf, zipf_exponent: 1.5, history: recorded, think_time_s: 2",
            WorkloadSpec(
                "multi-turn",
                turns=(2,),
                distribution="zipf",
                zipf_exponent=1.5,
                history="recorded",
                think_time_s=2.0,
            ),
        ),
        (
            "kind: rag, documents: 9, documents_per_prompt: 3, document_len: 7, document_order: scrambled, tools_len: 0",
            WorkloadSpec(
                "rag",
                documents=9,
                documents_per_prompt=3,
                document_len=7,
                document_order="scrambled",
                tools_len=0,
            ),
        ),
        (
            "kind: agent, tools_len: 5, tool_result_len: 6, temperature: 1",
            WorkloadSpec("agent", tools_len=5, tool_result_len=6, temperature=1.0),
        ),
        ("kind: few-shot, examples: 3, example_len: 4", WorkloadSpec("few-shot", examples=3, example_len=4)),
        ("kind: tree, depth: 3, fanout: 4", WorkloadSpec("tree", depth=3, fanout=4)),
        (
            "kind: conversations, dataset: a/b, split: train, format: sharegpt, limit: 5",
            WorkloadSpec("conversations", dataset="a/b", split="train", format="sharegpt", limit=5),
        ),
        (
            "kind: trace, file: t.jsonl, format: mooncake, block_size: 512",
            WorkloadSpec("trace", file="t.jsonl", format="mooncake", block_size=512),
        ),
    ],
)
def test_every_key_of_every_kind_arrives(tmp_path: Path, workload: str, spec: WorkloadSpec) -> None:
    """What only some workloads read ends up in its field, and so do load, grid and target; whole numbers may
    stand for decimal ones."""
    path = tmp_path / "kinds.yaml"
    path.write_text(KINDS % (workload, "tokenizer: tiny"))
    loaded = load(path)
    assert loaded.workload == spec
    assert loaded.load == LoadSpec("gamma", 64, None, 0.5, 1.0, 99, 60.0, 30.5)
    assert loaded.grid == GridSpec(request_rate=(1.0, 2.5), page_size=(16,))
    assert loaded.target == TargetSpec(tokenizer="tiny")
    assert (loaded.off_mode, loaded.cache_state) == ("salt", "warm")


def test_keys_left_out_have_their_defaults(tmp_path: Path) -> None:
    """A name is all a scenario needs; null says that a key is left open."""
    path = tmp_path / "least.yaml"
    path.write_text("name: least\nengine:\n  threads:\n")
    assert load(path) == Scenario(name="least")


@given(
    shared=st.lists(st.integers(0, 10_000), min_size=1, max_size=4, unique=True),
    why=st.text(max_size=20),
    threads=st.none() | st.integers(1, 64),
)
def test_dump_is_a_scenario_file(
    tmp_path_factory: pytest.TempPathFactory, shared: list[int], why: str, threads: int | None
) -> None:
    """What a capture keeps of a scenario reads back as that scenario (JSON is YAML)."""
    base = Scenario(name="x", why=why, engine=EngineSpec(threads=threads))
    scenario = replace(base, workload=replace(base.workload, shared=tuple(shared)))
    path = tmp_path_factory.mktemp("dump") / "x.yaml"
    path.write_text(json.dumps(dump(scenario)), encoding="utf-8")
    assert load(path) == scenario


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload:\n  grups: 3\nname: x", "s.yaml:2: workload.grups: unknown key; did you mean groups?"),
        ("name: x\nprompts-per-group: 3", "did you mean workload.prompts_per_group?"),
        ("name: x\ngroups: 3", "did you mean workload.groups?"),
        ("name: x\ntarget: {baseurl: a}", "target.baseurl: unknown key; did you mean base_url?"),
        ("name: x\nrequest_rate: 3", "did you mean load.request_rate?"),
        ("name: x\nshared: [0]", "s.yaml:2: shared: unknown key; did you mean workload.shared?"),
        ("name: x\nzzz: 1", "s.yaml:2: zzz: unknown key; known here: name, why"),
        ("grups: 3", "s.yaml:1: grups: unknown key"),
        ("name: x\non: 3", "s.yaml:2: on: unknown key"),
        ("name: x\n<<: {seeds: 3}", "s.yaml:2: <<: unknown key"),
        ("seeds: 3", "s.yaml:1: name: this key is missing; every scenario has a name"),
    ],
)
def test_unknown_and_missing_keys(tmp_path: Path, text: str, message: str) -> None:
    """An unknown key is named with its line and the nearest valid key, wherever that one belongs."""
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nmodes: [on, off]", 's.yaml:2: modes[0]: `on` is a boolean in YAML; quote it: "on"'),
        (
            'name: x\nmodes:\n  - "on"\n  - off',
            's.yaml:4: modes[1]: `off` is a boolean in YAML; quote it: "off"',
        ),
        ("name: Yes", 's.yaml:1: name: `Yes` is a boolean in YAML; quote it: "Yes"'),
        ("name: x\ncache_state: off", 's.yaml:2: cache_state: `off` is a boolean in YAML; quote it: "off"'),
        ("name: x\nseeds: yes", "seeds: a whole number is expected, not `yes` (a boolean in YAML)"),
        (
            "name: x\nworkload: {shared: no}",
            "workload.shared: a list is expected, not `no` (a boolean in YAML)",
        ),
    ],
)
def test_silent_booleans(tmp_path: Path, text: str, message: str) -> None:
    """YAML's booleans are no words: the message shows what was written and says to quote it."""
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nseeds: '3'", "s.yaml:2: seeds: a whole number is expected, not the text '3'; write 3"),
        ("name: x\nseeds: 4,096", "not the text '4,096'; write 4096"),
        ("name: x\nseeds: 010", "not the text '010'; write 10"),
        ("name: x\nseeds: 1:30", "not the text '1:30'; write a whole number"),
        ("name: x\nseeds: 1.5", "not the number 1.5"),
        ("name: x\nseeds: true", "not `true` (a boolean in YAML)"),
        ("name: x\nseeds:", "seeds: a whole number is expected, not nothing"),
        ("name: x\nseeds: [3]", "seeds: a whole number is expected, not a list"),
        ("name: 3", 's.yaml:1: name: text is expected, not the number 3; quote it: "3"'),
        ("name: x\nmodel: tiny", "s.yaml:2: model: a mapping of keys is expected, not the text 'tiny'"),
        ("name: x\nmodel: {trust_remote_code: 1}", "true or false is expected, not the number 1"),
        ("name: x\nmodel: {device: tpu}", "must be 'auto', 'cpu' or 'cuda', not the text 'tpu'"),
        ("name: x\nworkload: {kind: shared_prefix}", "did you mean shared-prefix?"),
        ("name: x\nworkload: {shared: 1024}", "a list is expected, not the number 1024; write [1024]"),
        ("name: x\nload: {burstiness: '2'}", "a number is expected, not the text '2'; write 2.0"),
        ("name: x\nload: {request_rate: 1e3}", "a number is expected, not the text '1e3'; write 1000.0"),
        ("name: x\nload: {speed: .inf}", "a number is expected, not the text '.inf'; write a number"),
        ("name: x\nload: {speed: fast}", "a number is expected, not the text 'fast'; write a number"),
        ("name: x\nload: {duration_s: yes}", "a number is expected, not `yes` (a boolean in YAML)"),
        (
            "name: x\ngrid: {page_size: 16}",
            "grid.page_size: a list is expected, not the number 16; write [16]",
        ),
        ("name: x\ngrid: {schedule_policy: [fcfs, lru]}", "grid.schedule_policy[1]: must be 'fcfs' or 'lpm'"),
        (
            "name: x\ntarget: http://a",
            "a mapping of keys is expected, not the text 'http://a'; its keys: engine",
        ),
        ("name: x\noff_mode: off", 'off_mode: `off` is a boolean in YAML; quote it: "off"'),
        (
            "name: x\nworkload:\n  shared:\n    - 0\n    - many",
            "s.yaml:5: workload.shared[1]: a whole number",
        ),
    ],
)
def test_wrong_types(tmp_path: Path, text: str, message: str) -> None:
    """No value is turned into another type: the message says what is expected, what stands there, what to write."""
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nworkload: {shared: [0, -4]}", "s.yaml:2: workload.shared[1]: must be at least 0, not -4"),
        ("name: x\nworkload: {shared: []}", "workload.shared: the list is empty; give at least one value"),
        ("name: x\nworkload: {shared: [8, 8]}", "workload.shared[1]: 8 stands there twice"),
        ("name: x\nseeds: 0", "s.yaml:2: seeds: must be at least 1, not 0"),
        ("name: x\nworkload: {turns: [4]}", "workload.turns: the shared-prefix workload has no turns"),
        ("name: x\nmodes: []", "modes: the list is empty"),
        (
            'name: x\nmodes: ["off", "off", "off"]',
            "s.yaml:2: modes[2]: 3 arms are more than a sweep compares; name one, or two",
        ),
        (
            "name: x\nworkload:\n  examples: 3",
            "s.yaml:3: workload.examples: the shared-prefix workload has no",
        ),
        ("name: x\nload:\n  speed: 0", "s.yaml:3: load.speed: must be more than 0, not 0.0"),
        ("name: x\ngrid:\n  groups: [2, 2]", "s.yaml:3: grid.groups[1]: 2 stands there twice; give each"),
        (
            "name: x\nload: {max_concurrency: 4}\ngrid: {max_concurrency: [1, 8]}",
            "s.yaml:3: grid.max_concurrency: load.max_concurrency has a value too; leave one of the two out",
        ),
        (
            f"name: x\ngrid: {{groups: {list(range(1, 200))}, page_size: {list(range(1, 99))}}}",
            "grid: its axes make 58,506 cells; 10,000 are the most",
        ),
        ("name: x\ngrid: {request_rate: [1]}", "grid.request_rate: closed arrivals have no request rate"),
        ("name: a/b", "name: 'a/b' can't be part of a file name"),
        ("name: x\nmodel: {name: ''}", "model.name: is empty"),
    ],
)
def test_unsound_values(tmp_path: Path, text: str, message: str) -> None:
    """Values of the right type that make no experiment are refused at their line."""
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s.yaml: the file is empty"),
        ("# nothing\n", "s.yaml: the file is empty"),
        ("- a\n- b", "a scenario is a mapping of keys, not a list"),
        ("just words", "a scenario is a mapping of keys, not the text 'just words'"),
        ("name: x\n\tseeds: 3", "s.yaml:2: is not YAML: "),
        ("name: {", "s.yaml:1: is not YAML: "),
        ("name: x\n---\nname: y", "s.yaml:2: is not YAML: expected a single document"),
        ("name: x\nseeds: 3\nseeds: 4", "s.yaml:3: seeds: stands there twice (first on line 2); keep one"),
        ("name: x\n? [a]\n: 3", "s.yaml:2: a key must be one word"),
        ("why: &w text\nname: *w", "s.yaml:2: *w: aliases aren't read; write the value out"),
        ("name: !!python/object:os.system x", "tags aren't read"),
        ("[" * 40, "is nested too deeply"),
        (b"name: \xff\xfe", "s.yaml: is not UTF-8 text (byte 6)"),
        (b"name: x\x00", "s.yaml: is not YAML: "),
        ('name: "\\ud800"', "half a character"),
        ('name: x\nmodel: {name: "a\\0b"}', "s.yaml:2: model.name: holds a NUL character"),
        (
            'name: x\nworkload: {kind: trace, file: "a\\0b"}',
            "s.yaml:2: workload.file: holds a NUL character; write the name plainly",
        ),
        ("#" * (1 << 20) + "\nname: x", "too large to be a scenario"),
    ],
)
def test_not_a_scenario_file(tmp_path: Path, text: str | bytes, message: str) -> None:
    """What isn't plain, single-document, tree-shaped YAML is refused before anything is made of it."""
    assert message in refusal(tmp_path, text)


def test_alias_bomb_costs_nothing(tmp_path: Path) -> None:
    """Nested aliases are refused at the first one, not expanded."""
    levels = [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert "s.yaml:2: *l0: aliases" in refusal(tmp_path, "\n".join(["l0: &l0 [lol]", *levels]))


@given(
    at=st.integers(0, len(FULL)),
    drop=st.integers(0, 20),
    put=st.text("\n\t :-[]{}'\"#&*!|>%@?,.0123456789onyes\x00\ud800é", max_size=6),
)
def test_any_slip_of_the_hand_is_a_scenario_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, at: int, drop: int, put: str
) -> None:
    """However a file is spoiled, it is read or refused in one line; nothing else is ever raised."""
    path = tmp_path_factory.mktemp("slip") / "s.yaml"
    path.write_text(FULL[:at] + put + FULL[at + drop :], encoding="utf-8", errors="surrogatepass")
    try:
        found: Scenario | str = load(path)
    except ScenarioError as error:
        found = str(error)
    assert isinstance(found, Scenario) or "\n" not in found


def test_unreadable_paths(tmp_path: Path) -> None:
    """A folder, a missing file and a mistyped shipped name each say what would be right; no device is read out."""
    with pytest.raises(ScenarioError, match="/dev/zero: too large to be a scenario"):
        load("/dev/zero")
    with pytest.raises(ScenarioError, match="an empty name: there is no such file"):
        load("")
    with pytest.raises(ScenarioError, match="can't be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(
        ScenarioError, match=r"nope\.yaml: there is no such file; shipped ones: agent, bailian, chats, "
    ):
        load(tmp_path / "nope.yaml")
    with pytest.raises(
        ScenarioError, match="there is no such scenario; did you mean the shipped scenario reference"
    ):
        load("referense")


@pytest.mark.parametrize("mode", ["on", "off"])
def test_a_mode_may_stand_there_twice(tmp_path: Path, mode: str) -> None:
    """One arm against itself is a null test."""
    path = tmp_path / "null.yaml"
    path.write_text(f'name: x\nmodes: ["{mode}", "{mode}"]\n')
    assert load(path).modes == (mode, mode)
