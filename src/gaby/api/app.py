"""The application factory."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

import gaby
from gaby.agent import routes as agent_routes
from gaby.api import health
from gaby.api.dependencies import ApiDependencies
from gaby.api.openapi import PROBLEMS, DocumentedApp
from gaby.audit import routes as audit_routes
from gaby.identity import pages
from gaby.identity import routes as identity_routes
from gaby.kernel.http import NO_FASTAPI_TELEMETRY, guard_http
from gaby.kernel.http.access import RequestDependencies
from gaby.knowledge import routes as knowledge_routes
from gaby.llm import routes as llm_routes
from gaby.runbooks import routes as runbooks_routes
from gaby.tickets import routes as tickets_routes
from gaby.tools import routes as tools_routes
from gaby.usage import routes as usage_routes


def create_app(parts: ApiDependencies) -> FastAPI:
    app = DocumentedApp(
        title="Gaby",
        version=gaby.__version__,
        summary="A self-hosted AI support engineer.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # The usual pages load scripts from elsewhere, which our headers forbid.
        redoc_url=None,
        redirect_slashes=False,  # The way to the other spelling would be built from whatever Host the client sent.
        lifespan=parts.lifespan,
        responses=PROBLEMS,
        telemetry=NO_FASTAPI_TELEMETRY,
    )
    app.state.parts = parts
    app.state.doorway = RequestDependencies(parts.database, parts.identity.authenticate)
    app.state.identity = parts.identity
    app.state.audit = parts.audit
    app.state.tools = parts.tools
    app.state.models = parts.models
    app.state.knowledge = parts.knowledge
    app.state.usage = parts.usage
    app.state.tickets = parts.tickets
    app.state.agent = parts.agent
    app.include_router(health.router)
    tools, models = tools_routes.routers, (llm_routes.router, *usage_routes.routers)
    work = (*tickets_routes.routers, *agent_routes.routers, runbooks_routes.router)
    for router in (*identity_routes.routers, audit_routes.router, *tools, *models, *knowledge_routes.routers, *work):
        app.include_router(router)
    app.mount("/assets", StaticFiles(directory=Path(pages.__file__).parent / "assets"), name="assets")
    guard_http(app, metrics=parts.metrics, max_body_bytes=parts.max_body_bytes, https=parts.secure, clock=parts.clock)
    return app
