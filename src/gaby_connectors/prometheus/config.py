"""Settings of the Prometheus connector."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.web import web_address


class PrometheusConfig(ConnectorConfig):
    prefix: ClassVar[str] = "PROMETHEUS_"

    url: Annotated[
        str,
        AfterValidator(web_address),
        Field(description="Where Prometheus is, such as https://metrics.acme.example."),
    ]
    token: Annotated[SecretStr | None, Field(description="A bearer token, if it needs one.")] = None
    seconds: Annotated[float, Field(gt=0, le=120, description="How long a query may take.")] = 15.0
