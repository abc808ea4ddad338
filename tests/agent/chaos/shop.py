"""A parcel shop as a connector: a change of every kind, each a line in a file, so that nobody can do one unnoticed.

`print_label` is the dangerous one for whoever recovers from a crash: doing it twice prints two labels.
"""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import ToolError
from gaby_connectors.sdk.manifest import ErrorKind, ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall

ParcelId = Annotated[str, Field(pattern=r"^par_\d{3}$", description="A parcel's id, from find_parcels.")]
_PARCELS = {
    "par_001": ("anna@papercrane.example", "unlabelled", "print_label", "labelled"),
    "par_002": ("ben@papercrane.example", "held", "release_parcel", "released"),
    "par_003": ("cleo@papercrane.example", "lost", "refund_parcel", "refunded"),
}


class ShopConfig(ConnectorConfig):
    prefix: ClassVar[str] = "SHOP_"
    folder: str = Field(description="Where changes are written down.")


class Shop(Backend):
    config: ShopConfig

    async def check(self) -> str:
        return "The shop is open."

    @property
    def folder(self) -> Path:
        return Path(self.config.folder)

    def effects(self) -> list[str]:
        file = self.folder / "effects"
        return file.read_text().splitlines() if file.exists() else []

    def note(self, what: str, call: WriteCall, *, once: bool) -> None:
        line = f"{what} {call.idempotency_key}"
        if call.dry_run or (once and line in self.effects()):
            return
        with (self.folder / "effects").open("a") as file:
            file.write(f"{line}\n")

    def status(self, parcel_id: str) -> str:
        _, before, tool, after = _PARCELS[parcel_id]
        return after if any(line.startswith(f"{tool} {parcel_id} ") for line in self.effects()) else before


class Parcel(BaseModel):
    id: str
    email: str
    status: str


class Parcels(BaseModel):
    parcels: list[Parcel]


class Changed(BaseModel):
    parcel_id: str
    done: str


connector = Connector(
    "shop", version="1.0.0", instructions="Parcels. Begin with find_parcels.", config=ShopConfig, backend=Shop
)


@connector.tool(
    ToolManifest(
        scope="read",
        path="parcels",
        lookups=("query",),
        results={
            "parcels[].id": ResultLabel.SYSTEM,
            "parcels[].status": ResultLabel.SYSTEM,
            "parcels[].email": ResultLabel.EXTERNAL,
        },
        owner={"parcels[]": "email"},
    )
)
async def find_parcels(
    shop: Shop, query: Annotated[str, Field(min_length=2, max_length=200, description="A customer's e-mail address.")]
) -> Parcels:
    """Find the parcels of a customer by e-mail address, with their status."""
    found = [(key, parcel[0]) for key, parcel in _PARCELS.items() if query in parcel[0]]
    return Parcels(parcels=[Parcel(id=key, email=email, status=shop.status(key)) for key, email in found])


@connector.tool(
    ToolManifest(scope="write", path="parcels/{parcel_id}/label", steering=("parcel_id",), owner_argument="parcel_id")
)
async def print_label(shop: Shop, parcel_id: ParcelId, call: WriteCall) -> Changed:
    """Print the label of a parcel. Every call prints one."""
    jam = shop.folder / "jam"
    if jam.exists() and not call.dry_run:
        jam.unlink()
        raise ToolError(ErrorKind.PERMANENT, "The printer is jammed. Nothing was printed.")
    shop.note(f"print_label {parcel_id}", call, once=False)
    return Changed(parcel_id=parcel_id, done="printed")


@connector.tool(
    ToolManifest(
        scope="write",
        path="parcels/{parcel_id}/release",
        steering=("parcel_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="parcel_id",
    ),
    repeatable=True,
)
async def release_parcel(shop: Shop, parcel_id: ParcelId, call: WriteCall) -> Changed:
    """Release a parcel that is held. The same call twice releases it once."""
    shop.note(f"release_parcel {parcel_id}", call, once=True)
    return Changed(parcel_id=parcel_id, done="released")


@connector.tool(
    ToolManifest(
        scope="write",
        path="parcels/{parcel_id}/refund",
        dangerous=True,
        steering=("parcel_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="parcel_id",
    ),
    repeatable=True,
)
async def refund_parcel(shop: Shop, parcel_id: ParcelId, call: WriteCall) -> Changed:
    """Pay back what a lost parcel was worth."""
    shop.note(f"refund_parcel {parcel_id}", call, once=True)
    return Changed(parcel_id=parcel_id, done="refunded")


if __name__ == "__main__":
    main(connector)
