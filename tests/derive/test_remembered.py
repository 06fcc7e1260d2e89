"""What is remembered of words changes nothing but how soon an answer comes."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.derive import remembered
from callsheet.derive.remembered import Remembered


@given(st.lists(st.text(max_size=3) | st.text(min_size=31, max_size=34)))
def test_each_word_gets_what_is_worked_out_of_it(words: list[str]) -> None:
    known = Remembered(str.upper)
    assert [known[word] for word in words] == list(map(str.upper, words))


def test_what_is_remembered_is_bounded() -> None:
    known = Remembered(len)
    for number in range(remembered._MOST + 10):
        assert known[str(number)] == len(str(number))
    assert known["a" * 40] == 40
    assert "a" * 40 not in known
    assert len(known) <= remembered._MOST
