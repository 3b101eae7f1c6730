"""litellm, made to speak to nobody but the model: no prices, no reports, no callbacks, no prompt in any log.

Some of that is decided by variables of the environment while litellm is imported, some by them at each request, and
some by lists that other code in this process might fill; so all of it is set before each answer.
"""

import logging
import os
from types import ModuleType

_BEFORE_IMPORT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_OFFLINE_MODE": "true",
    # In its usual mode litellm reads a file `.env` in a folder above it into the environment of the whole process.
    "LITELLM_MODE": "PRODUCTION",
}
# The first prints whole prompts; the others choose a route on which the client we give is not used.
_UNWANTED = (
    "LITELLM_PRINT_STANDARD_LOGGING_PAYLOAD",
    "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER",
)
_CALLBACKS = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "service_callback",
    "audit_log_callbacks",
    "_async_input_callback",
    "_async_success_callback",
    "_async_failure_callback",
    "pre_call_rules",
    "post_call_rules",
)
# OPENAI_LOG=debug would have the OpenAI client log whole requests, LITELLM_LOG=DEBUG litellm.
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "openai._base_client", "httpx", "httpx2")


def quiet_litellm() -> ModuleType:
    """Import litellm, which takes seconds the first time, and silence it."""
    os.environ.update(_BEFORE_IMPORT)
    for name in _UNWANTED:
        os.environ.pop(name, None)
    import litellm  # noqa: PLC0415 # seconds and 190 MB, only where a model is used

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.log_raw_request_response = False
    litellm.drop_params = True
    # To price what a model was given it would ask Hugging Face about it, offline mode or not.
    vars(litellm.utils)["_get_max_position_embeddings"] = lambda model_name: None  # noqa: ARG005 # called by this name
    litellm.cache = None
    vars(litellm)["set_verbose"] = False
    for name in _CALLBACKS:
        setattr(litellm, name, [])
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
