"""What can go wrong between a text and its vector."""

from gaby.kernel.errors import GabyError, Invalid, TooManyRequests


class LocalModelMissing(GabyError):
    """A local embedding model is not installed. Run `gaby model download`, or say where it lies with
    `GABY_MODELS_FOLDER`."""

    status = 503
    exit_code = 3


class LocalModelDamaged(GabyError):
    """A file of a local embedding model is damaged. Run `gaby model download`."""

    status = 503
    exit_code = 3


class EmbedderUnknown(Invalid):
    """There is no such local embedding model. There are `local/wordllama`, `local/minilm` and `local/both`."""


class RemoteNotConnected(GabyError):
    """This embedding model is served by a provider, and none is connected. Connect it, or choose a local model."""

    status = 409
    exit_code = 5


class EmbeddingsBusy(TooManyRequests):
    """Too many texts wait to be embedded. Try again shortly."""
