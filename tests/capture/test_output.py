"""Outputs are checked before a run: name, folder, space, and that nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from radixbench.capture.output import check_folder, check_new, check_writable, expected_bytes, replacing
from radixbench.errors import OutputError


@pytest.mark.parametrize("name", ["on.json", "on.json.gz", "on.json.zst"])
def test_a_good_path_is_prepared(tmp_path: Path, name: str) -> None:
    """The folder is made, and nothing is left in it."""
    check_writable(tmp_path / "a" / "b" / name)
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that exists, or a link to nowhere, is refused before the run."""
    (tmp_path / "on.json").write_text("evidence")
    (tmp_path / "off.json").symlink_to(tmp_path / "nowhere")
    for name in ("on.json", "off.json"):
        with pytest.raises(OutputError, match=rf"{name}: exists and is not overwritten"):
            check_writable(tmp_path / name)
        with pytest.raises(OutputError, match="exists"):
            check_new(tmp_path / name)
    assert (tmp_path / "on.json").read_text() == "evidence"


def test_names_say_the_format(tmp_path: Path) -> None:
    """Another suffix would promise another format."""
    with pytest.raises(OutputError, match=r"a capture's name ends in \.json, \.json\.gz, \.json\.zst"):
        check_writable(tmp_path / "on.csv")


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    """A path through a file is refused, as is a folder in place of a file."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"can't be written: (Not a directory|File exists)"):
        check_writable(tmp_path / "file" / "on.json")
    with pytest.raises(OutputError, match="is a folder; name a file"):
        check_folder(tmp_path)


def test_an_unwritable_folder() -> None:
    """A folder in which not even root can make files is found by trying."""
    with pytest.raises(OutputError, match=r"/proc.*: can't be written: .*; name a folder you may write to"):
        check_writable(Path("/proc/radixbench/on.json"))
    with pytest.raises(OutputError, match=r"/proc: can't be written"):
        check_folder(Path("/proc/on.json"))


def test_no_space(tmp_path: Path) -> None:
    """The message says how much is needed and how much there is."""
    with pytest.raises(
        OutputError, match=r"needs about 1,099,511,627,776 MiB and [\d,]+ MiB are free; free some"
    ):
        check_writable(tmp_path / "on.json", need_bytes=2**60)


def test_expected_size_grows_with_requests_and_answers() -> None:
    """A tiny capture asks for the least, a large one for what its tokens take."""
    assert expected_bytes(64, 16) == expected_bytes(0, 0) == 16 * 2**20
    assert expected_bytes(200_000, 64) > expected_bytes(100_000, 64) > 100_000 * 64 * 25


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    """A block that fails leaves the former file and no other; one that ends well replaces it."""
    path = tmp_path / "x.txt"
    with replacing(path) as file:
        file.write(b"first")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"second", "text"])
    assert path.read_bytes() == b"first"
    with replacing(path) as file:
        file.write(b"third")
    assert path.read_bytes() == b"third"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    """A link into another folder is how some people collect results."""
    target, link = tmp_path / "real.html", tmp_path / "link.html"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/null", "/proc/self/fd/1"])
def test_a_device_is_no_output(name: str) -> None:
    """Root could replace the machine's ``/dev/stdout`` by a file."""
    with pytest.raises(OutputError, match="is a device"):
        check_folder(Path(name))
