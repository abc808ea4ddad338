"""Models and skills over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, status

from gaby.kernel.http.access import CanManageModels, CanReadModels, ReadSession, WriteSession
from gaby.kernel.ids import ModelAccountId
from gaby.llm.prices import Price
from gaby.llm.schemas import (
    AccountIn,
    AccountKeyIn,
    AccountOut,
    ModelOut,
    PriceIn,
    ProbeIn,
    ProbeOut,
    RouteIn,
    RouteOut,
    SkillOut,
)
from gaby.llm.service import Models
from gaby.llm.setups import parse_ref

router = APIRouter(prefix="/api", tags=["Models"])


async def _models(request: Request) -> Models:
    return request.app.state.models


ModelService = Annotated[Models, Depends(_models)]


@router.get("/models")
async def list_models(actor: CanReadModels, service: ModelService) -> list[ModelOut]:
    """Every model that this workspace may ask, what for, and how it is."""
    return [ModelOut.from_domain(state) for state in await service.states(actor.workspace_id)]


@router.post("/models/test")
async def test_models(actor: CanManageModels, body: ProbeIn, service: ModelService) -> list[ProbeOut]:
    """Ask each model one word. It costs a few tokens."""
    refs = [parse_ref(text) for text in body.models]
    return [ProbeOut.from_domain(probed) for probed in await service.probe(actor, refs)]


@router.get("/models/accounts")
async def list_accounts(actor: CanReadModels, service: ModelService, session: ReadSession) -> list[AccountOut]:
    """The workspace's own accounts. Keys are never shown."""
    return [AccountOut.from_domain(row) for row in await service.accounts.list(session)]


@router.post("/models/accounts", status_code=status.HTTP_201_CREATED)
async def add_account(
    actor: CanManageModels, body: AccountIn, service: ModelService, session: WriteSession
) -> AccountOut:
    return AccountOut.from_domain(await service.accounts.add(session, actor, body.new()))


@router.put("/models/accounts/{account_id}/key")
async def set_key(
    actor: CanManageModels, account_id: ModelAccountId, body: AccountKeyIn, service: ModelService, session: WriteSession
) -> AccountOut:
    row = await service.accounts.by_id(session, account_id)
    return AccountOut.from_domain(await service.accounts.set_key(session, actor, row, body.key.get_secret_value()))


@router.delete("/models/accounts/{account_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_account(
    actor: CanManageModels, account_id: ModelAccountId, service: ModelService, session: WriteSession
) -> None:
    """The key is forgotten for good."""
    await service.accounts.remove(session, actor, await service.accounts.by_id(session, account_id))


@router.get("/models/routes")
async def list_routes(actor: CanReadModels, service: ModelService) -> list[RouteOut]:
    """Which models are asked for what: the workspace's own routes over the installation's."""
    setup = await service.setups.for_workspace(actor.workspace_id)
    return [RouteOut.from_domain(name, chain) for name, chain in sorted(setup.chains.items())]


@router.put("/models/routes", status_code=status.HTTP_204_NO_CONTENT)
async def set_route(actor: CanManageModels, body: RouteIn, service: ModelService, session: WriteSession) -> None:
    """Another model for embeddings begins a new index in the background."""
    chain = None if body.chain is None else tuple(parse_ref(text) for text in body.chain)
    await service.route(session, actor, body.name, chain)


@router.put("/models/prices")
async def agree_price(actor: CanManageModels, body: PriceIn, service: ModelService, session: WriteSession) -> PriceIn:
    """What was agreed with the vendor, where it differs from the list."""
    price = Price(body.input, body.output, body.cache_read, body.cache_write)
    await service.accounts.agree_price(session, actor, parse_ref(body.model), price)
    return body


@router.get("/skills")
async def list_skills(actor: CanReadModels, service: ModelService) -> list[SkillOut]:
    return [SkillOut.from_domain(skill) for skill in service.skills]
