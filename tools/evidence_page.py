WINDOW = "window of 16k"
CLEARING = "old results cleared"
BOUND = "look-ahead bound"
def setting(policy: str, budget: int | None) -> str:
    return policy if budget is None else f"{policy}, {budget // 1000}k"
def write(rows: list[dict[str, object]]) -> None:
    print(len(rows))
