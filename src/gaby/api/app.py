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


def create_app(dependencies: ApiDependencies) -> FastAPI:
    app = DocumentedApp(
        title="Gaby",
        version=gaby.__version__,
        summary="A self-hosted AI support engineer.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # The usual pages load scripts from elsewhere, which our headers forbid.
        redoc_url=None,
        redirect_slashes=False,  # The way to the other spelling would be built from whatever Host the client sent.
        lifespan=dependencies.lifespan,
        responses=PROBLEMS,
        telemetry=NO_FASTAPI_TELEMETRY,
    )
    app.state.dependencies = dependencies
    app.state.request_dependencies = RequestDependencies(dependencies.database, dependencies.identity.authenticate)
    app.state.identity = dependencies.identity
    app.state.audit = dependencies.audit
    app.state.tools = dependencies.tools
    app.state.models = dependencies.models
    app.state.knowledge = dependencies.knowledge
    app.state.usage = dependencies.usage
    app.state.tickets = dependencies.tickets
    app.state.agent = dependencies.agent
    app.include_router(health.router)
    tools, models = tools_routes.routers, (llm_routes.router, *usage_routes.routers)
    work_routers = (*tickets_routes.routers, *agent_routes.routers, runbooks_routes.router)
    for router in (
        *identity_routes.routers,
        audit_routes.router,
        *tools,
        *models,
        *knowledge_routes.routers,
        *work_routers,
    ):
        app.include_router(router)
    app.mount("/assets", StaticFiles(directory=Path(pages.__file__).parent / "assets"), name="assets")
    guard_http(
        app,
        metrics=dependencies.metrics,
        max_body_bytes=dependencies.max_body_bytes,
        https=dependencies.secure,
        clock=dependencies.clock,
    )
    return app
