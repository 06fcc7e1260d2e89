"""Reading the desk's policies, in force or older."""

from typing import Annotated

from msgspec import Meta

from examples.support_desk.shop.shop import Shop
from examples.support_desk.tools.errors import NotFound
from examples.support_desk.tools.toolbox import tool


@tool
def read_policy(
    shop: Shop,
    *,
    code: Annotated[str, Meta(pattern=r"^[A-Z0-9]{3}-\d{2}$", description="Policy code, such as RET-01")],
    version: Annotated[int, Meta(ge=1, description="An exact version; without it the one in force")] | None = None,
) -> str:
    """Read a policy as Markdown. Older versions stay readable, since they go on applying to older orders."""
    today = shop.now().date().isoformat()
    found = shop.db.execute(
        "SELECT body FROM policies WHERE code = ? AND CASE WHEN ? IS NULL THEN effective <= ? ELSE version = ? END"
        " ORDER BY version DESC LIMIT 1",
        (code, version, today, version),
    ).fetchone()
    if found is None:
        known = shop.db.execute("SELECT code, version FROM policies ORDER BY code, version")
        names = ", ".join(f"{row['code']} v{row['version']}" for row in known)
        raise NotFound(f"there is no policy {code}{'' if version is None else f' v{version}'}; there are {names}")
    return str(found["body"])
