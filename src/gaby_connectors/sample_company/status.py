"""What happens to everybody at once: incidents on the status page, and deploys."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import Limit, connector, listed, minted
from gaby_connectors.sample_company.company import CompanyBackend, Row
from gaby_connectors.sdk.manifest import Audience, ToolManifest


class Incident(BaseModel):
    id: str
    title: str
    status: str
    regions: list[str]
    components: list[str]
    started_at: str
    resolved_at: str | None


class Incidents(BaseModel):
    incidents: list[Incident]


class Update(BaseModel):
    at: str
    text: str


class IncidentDetail(BaseModel):
    incident: Incident
    updates: list[Update]


class Deploy(BaseModel):
    id: str
    service: str
    version: str
    at: str
    regions: str
    author: str
    notes: str


class Deploys(BaseModel):
    deploys: list[Deploy]


def _incident(row: Row) -> Incident:
    return Incident.model_validate(row | {"regions": listed(row["regions"]), "components": listed(row["components"])})


@connector.tool(
    ToolManifest(scope="read", path="incidents", results=minted("incidents[]", "*"), audience=Audience.PUBLIC)
)
async def list_incidents(
    company: CompanyBackend,
    *,
    only_open: Annotated[bool, Field(description="Leave out those that are resolved.")] = False,
) -> Incidents:
    """Show the incidents of the status page: what is affected, in which regions, since when."""
    rows = company.rows(
        "SELECT * FROM incidents WHERE ?1 = 0 OR resolved_at IS NULL ORDER BY started_at DESC", int(only_open)
    )
    return Incidents(incidents=[_incident(row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="incidents/{incident_id}",
        results=minted("incident", "*") | minted("updates[]", "*"),
        audience=Audience.PUBLIC,
    )
)
async def get_incident(
    company: CompanyBackend,
    incident_id: Annotated[str, Field(description="An incident's id, such as inc_31.", pattern=r"^inc_\d{2,}$")],
) -> IncidentDetail:
    """Show one incident with everything that was said about it on the status page."""
    row = company.row("incident", "SELECT * FROM incidents WHERE id = ?", incident_id)
    updates = company.rows("SELECT at, text FROM incident_updates WHERE incident_id = ? ORDER BY at", incident_id)
    return IncidentDetail(incident=_incident(row), updates=[Update(**update) for update in updates])


@connector.tool(
    ToolManifest(scope="read", path="deploys", results=minted("deploys[]", "*"), audience=Audience.CUSTOMERS)
)
async def list_deploys(
    company: CompanyBackend,
    service: Annotated[
        str | None, Field(max_length=40, description="Only this service, such as payments or reporting.")
    ] = None,
    limit: Limit = 20,
) -> Deploys:
    """Show what was deployed when, with notes, the newest first. Useful when something broke for many at once."""
    rows = company.rows(
        "SELECT * FROM deploys WHERE ?1 IS NULL OR service = ?1 ORDER BY at DESC LIMIT ?2", service, limit
    )
    return Deploys(deploys=[Deploy(**row) for row in rows])
