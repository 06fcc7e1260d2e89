"""What tools of a boatyard give back, in several forms, and what is said about it."""

import json

FORMS = 8


def boats(number: int, size: int) -> list[str]:
    """Names of boats; numbers near each other share some."""
    return [f"BT-{(number * 5 + row * 3) % 41:03d}" for row in range(size)]


def content(number: int, size: int) -> object:
    """A result; equal numbers and sizes give equal ones."""
    names = boats(number, size)
    match number % FORMS:
        case 0:
            return "\n".join(["boat,metres,berth", *(f"{name},{row % 9},B{row}" for row, name in enumerate(names))])
        case 1:
            return json.dumps([{"boat": name, "metres": row, "afloat": True} for row, name in enumerate(names)])
        case 2:
            return "\n".join(f"2026-01-0{1 + row % 9} {name} hauled out at {row} h" for row, name in enumerate(names))
        case 3:
            return json.dumps({"boat": names[0], "owner": {"email": f"owner{number}@yard.example"}, "rows": names})
        case 4:
            return "The tide is going out. " * size
        case 5:
            return b"\xff\x00\x01" + b"hull" * size
        case 6:
            return [{"type": "text", "text": f"{name} waits"} for name in names[:3]]
        case _:
            return ""


def question(number: int, size: int) -> str:
    """What a person asks."""
    return f"Where does BT-{number * 3 % 41:03d} lie? " + "Please look. " * min(size, 9)
