"""What a page carries packed reads back the same, and can't leave its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.report.packed import packed, unpacked


@given(st.text())
def test_packed_text_reads_back_and_holds_no_markup(text):
    """Whatever is in it, what stands in the page is letters, digits and three signs."""
    found = packed(text)
    assert unpacked(found) == text
    assert set(found) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
    assert packed(text) == found
