"""What can go wrong between Gaby and a model."""

from typing import Any, ClassVar

from gaby.kernel.errors import GabyError
from gaby.llm.messages import TokenUsage


class ModelError(GabyError):
    """The model did not answer as it should. Gaby went on without it; `gaby usage calls` shows what happened."""

    status = 502
    exit_code = 6
    transient: ClassVar[bool] = False
    """Whether trying again may help."""
    may_be_billed: ClassVar[bool] = False
    """Whether the vendor may have charged for it without telling us."""

    def __init__(
        self,
        message: str | None = None,
        *,
        usage: TokenUsage | None = None,
        retry_after: float | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.usage = usage
        """What is known to be billed, although there is no answer."""
        self.retry_after = retry_after


class ModelBusy(ModelError):
    """The provider takes no more calls at the moment. Raise the limits of your account there, or add a second one."""

    transient = True


class ModelDown(ModelError):
    """The provider cannot be reached or answers with errors of its own. Look at its status page, and at the address."""

    transient = True


class ModelTimedOut(ModelError):
    """The provider did not answer in time. It may be overloaded; `GABY_MODELS_TIMEOUT` says how long Gaby waits."""

    transient = True
    may_be_billed = True


class AnswerCutOff(ModelError):
    """The answer broke off in the middle. What had arrived was thrown away."""

    transient = True
    may_be_billed = True


class AnswerUnreadable(ModelError):
    """The provider's answer is not what its interface promises. Is the address really that of a model?"""

    may_be_billed = True


class KeyRefused(ModelError):
    """The provider does not accept the key. Set a new one with `gaby model key NAME`."""


class ModelUnknown(ModelError):
    """The provider has no such model. `gaby model route` shows which models are asked, and changes them."""


class RequestRefused(ModelError):
    """The provider does not accept this request for this model."""


class ProviderNotInstalled(ModelError):
    """This kind of provider needs a package that is not installed."""
