"""API keys of a workspace."""

from fastapi import APIRouter, status

from gaby.identity.routes.dependencies import IdentityService
from gaby.identity.schemas import ApiKeyIn, ApiKeyOut, NewApiKeyOut
from gaby.kernel.http.access import CanManageKeys, ReadSession, WriteSession
from gaby.kernel.ids import ApiKeyId

router = APIRouter(prefix="/api/keys", tags=["API keys"])


@router.get("")
async def list_keys(actor: CanManageKeys, identity: IdentityService, session: ReadSession) -> list[ApiKeyOut]:
    return [ApiKeyOut.from_domain(key) for key in await identity.keys.list(session)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_key(
    actor: CanManageKeys, body: ApiKeyIn, identity: IdentityService, session: WriteSession
) -> NewApiKeyOut:
    """Create a key. It can do no more than its scopes, and you can give no more than you may do yourself."""
    key, text = await identity.keys.create(
        session, actor, name=body.name, scopes=body.scopes, expires_at=body.expires_at
    )
    return NewApiKeyOut(key=ApiKeyOut.from_domain(key), text=str(text))


@router.delete("/{key_id}", status_code=status.HTTP_204_NO_CONTENT)
async def revoke_key(actor: CanManageKeys, key_id: ApiKeyId, identity: IdentityService, session: WriteSession) -> None:
    await identity.keys.revoke(session, actor, key_id)
