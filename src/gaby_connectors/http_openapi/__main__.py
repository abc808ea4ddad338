"""`python -m gaby_connectors.http_openapi`."""

from gaby_connectors.http_openapi.config import OpenApiConfig
from gaby_connectors.http_openapi.tools import build
from gaby_connectors.sdk.serve import run

run(OpenApiConfig, build)
