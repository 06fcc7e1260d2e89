import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callsheet.derive.entities import EntityKind, entities, find, mentions, normal


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Parcel KLN-7F3A-00912 was glazed.", EntityKind.CODE, "KLN-7F3A-00912"),
        ("ask ruth_oake_3668 about it", EntityKind.CODE, "ruth_oake_3668"),
        ("see ticket #W8831, please", EntityKind.CODE, "W8831"),
        ("id 550e8400-e29b-41d4-a716-446655440000.", EntityKind.CODE, "550e8400-e29b-41d4-a716-446655440000"),
        ("last good commit 9c1e5d0a7b44", EntityKind.CODE, "9c1e5d0a7b44"),
        ("calls fire_the_kiln twice", EntityKind.CODE, "fire_the_kiln"),
        ("den Wert größe_des_ofens lesen", EntityKind.CODE, "größe_des_ofens"),
        ("config is /srv/kiln/conf.d/zone-4.toml, yes", EntityKind.PATH, "/srv/kiln/conf.d/zone-4.toml"),
        ("in glaze/recipes/blue.md", EntityKind.PATH, "glaze/recipes/blue.md"),
        (r"open C:\ovens\old.txt now", EntityKind.PATH, r"C:\ovens\old.txt"),
        ("read ~/kiln/log", EntityKind.PATH, "~/kiln/log"),
        ("the file firing-plan.xlsx is open", EntityKind.FILE, "firing-plan.xlsx"),
        ("at https://kiln.example/a?b=1.", EntityKind.URL, "https://kiln.example/a?b=1"),
        ("write to ruth.oake@kiln.example today", EntityKind.EMAIL, "ruth.oake@kiln.example"),
        ("costs 1,284.07 EUR", EntityKind.NUMBER, "1,284.07"),
        ("reached 1.284,5 Grad", EntityKind.NUMBER, "1.284,5"),
        ("fired on 2031-05-16T10:30:00Z", EntityKind.DATE, "2031-05-16"),
        ("gebrannt am 16.05.2031", EntityKind.DATE, "16.05.2031"),
        ('the glaze "Winter Blue" cracked', EntityKind.NAME, "Winter Blue"),
        ("die Glasur „Winterblau“ riss", EntityKind.NAME, "Winterblau"),
        ("釉薬「東京の青」を使う", EntityKind.NAME, "東京の青"),
    ],
)
def test_each_kind_is_found_in_running_text(text: str, kind: EntityKind, value: str) -> None:
    assert (kind, value) in [(entity.kind, entity.value) for entity in find(text)]


@pytest.mark.parametrize(
    "text",
    [
        "A well-known potter and/or a friend, i.e. somebody else.",
        "It took 12 hours at 3pm, 5 km/h, the 2nd time, 40px wide.",
        "</div> <br/> self.oven os.path",
        '{"batch_number": true, "lid_open": false}',
        "shelf_count: yes",
        "“It cracked again, and nobody knew why.”",
    ],
)
def test_ordinary_words_and_names_of_fields_are_none(text: str) -> None:
    assert find(text) == []


def test_the_letter_of_an_escape_in_json_is_no_part_of_the_word_after_it() -> None:
    assert [entity.value for entity in find(r'{"note": "first\nB4412 second\tB4413"}')] == ["B4412", "B4413"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,284.07", "1284.07"),
        ("1.284,07", "1284.07"),
        ("1,284", "1284"),
        ("2 000 000".replace(" ", "\u00a0"), "2000000"),
        ("45.50", "45.5"),
        ("#W8831", "w8831"),
        ("KLN-7.", "kln-7"),
        ("16.05.2031", "2031-05-16"),
        ("2031/05/16", "2031-05-16"),
        ("25/12/2031", "2031-12-25"),
        ("Ruth.Oake@Kiln.example", "ruth.oake@kiln.example"),
        ("/srv/kiln/", "/srv/kiln"),
    ],
)
def test_two_ways_of_writing_a_thing_are_linked(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(("one", "other"), [("1.284", "1284"), ("05/06/2031", "06/05/2031"), ("B4412", "B4413")])
def test_what_may_be_two_things_is_not_linked(one: str, other: str) -> None:
    assert normal(one) != normal(other)


@given(st.text())
def test_mentions_are_where_they_say_in_order_and_can_be_stored(text: str) -> None:
    end = 0
    for entity in find(text):
        assert text[entity.start : entity.end] == entity.value
        assert end <= entity.start < entity.end
        end = entity.end
        normal(entity.value).encode()
        assert "\0" not in entity.value


@example("/1./")
@given(st.text("aB7_-./:@#,\"' \\n\n12", max_size=40))
def test_normal_forms_are_stable_and_distinct(text: str) -> None:
    found = entities(text)
    assert len(set(found)) == len(found)
    for form in found:
        assert normal(form) == form


def test_no_more_than_the_limit_are_kept_the_first_ones() -> None:
    text = " ".join(f"pot_{n}" for n in range(1000))
    assert entities(text, 3) == ("pot_0", "pot_1", "pot_2")
    assert len(entities(text)) == 256


def test_a_stretch_is_searched_without_copying_and_keeps_its_positions() -> None:
    text = "pot_1 pot_2 pot_3"
    assert [(entity.start, entity.value) for entity in mentions(text, 6, 11)] == [(6, "pot_2")]


@pytest.mark.parametrize(
    "unit", ["a", "a.", "a-", "a/", "1,", "a@", '"', "111,", "\\n", "~/", "x:", "http://", "a_", "\ud800"]
)
def test_monotonous_text_is_read_in_one_go(unit: str) -> None:
    assert len(find(unit * 100_000)) <= 100_000
