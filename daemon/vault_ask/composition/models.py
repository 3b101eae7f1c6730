"""Whom questions and passages may be given to: the models, the reranker and the web, and how they stand."""

from contextlib import suppress
from functools import cached_property

from vault_ask.answering.ask import Generators
from vault_ask.answering.coverage import Thresholds, thresholds_for
from vault_ask.answering.ports import Generator, WebSearch
from vault_ask.composition.parts import make_reranking
from vault_ask.errors import ConfigError, ModelError
from vault_ask.index.embedding import Embedder
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.providers.web import make_web
from vault_ask.settings import Settings
from vault_ask.wire import RerankerStatus, WebStatus


class Models:
    """Those that the settings name."""

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        self._settings = settings
        self._embedder = embedder
        self.reranking = make_reranking(settings)

    @cached_property
    def generators(self) -> Generators:
        """Who words the answers."""
        models = self._settings.models
        extractive = ExtractiveGenerator(embedder=self._embedder, answer_chars=models.answer_chars)
        return Generators(
            configured=self._generator(models.generation, extractive),
            personal=self._generator(models.personal_generation, extractive) if models.personal_generation else None,
            extractive=extractive,
        )

    @cached_property
    def web(self) -> WebSearch | None:
        """The web search; None while the web is off. Raises KeyNotSet when the chosen provider's key is missing."""
        return make_web(self._settings)

    def check_web(self) -> None:
        """Raise KeyNotSet when the chosen provider's key is missing."""
        _ = self.web

    def thresholds(self) -> Thresholds:
        """Tell when a vault says little, as measured for the model that really embeds: for another none of it holds."""
        return thresholds_for(self._embedding_model(), self._settings.web.thin_below)

    def ready_reranker(self) -> None:
        """Load what the reranker needs, which has no time for that once it is asked. May take seconds."""
        if self.reranking is not None:
            self.reranking.reranker.warm()

    def warm(self) -> None:
        """Load what the first question would have to wait for."""
        for generator in (self.generators.configured, self.generators.personal):
            if isinstance(generator, LitellmGenerator):
                generator.warm()
        self.ready_reranker()

    def offered(self) -> tuple[str, ...]:
        """Name the chat models of an Ollama that runs where embedding.ollama_url says; it may take a second to ask."""
        # Late: Ollama's client costs a quarter of a second, which only its users should pay.
        from vault_ask.providers.ollama import running_chat_models  # noqa: PLC0415

        return tuple(f"ollama_chat/{name}" for name in running_chat_models(self._settings.embedding.ollama_url))

    def web_status(self) -> tuple[WebStatus, tuple[str, ...]]:
        """Tell how the web stands, and what keeps it from working."""
        off = WebStatus(enabled=False, provider=None, keeps_question_home=False)
        try:
            web = self.web
        except ConfigError as error:
            return off, (str(error),)
        if web is None:
            return off, ()
        return WebStatus(enabled=True, provider=web.name, keeps_question_home=web.keeps_question_home), ()

    def reranker_status(self) -> RerankerStatus | None:
        """Tell who looks at the best passages again."""
        if self.reranking is None:
            return None
        reranker = self.reranking.reranker
        return RerankerStatus(name=reranker.name, local=reranker.is_local)

    def _embedding_model(self) -> str:
        with suppress(ModelError):
            if self._embedder is not None:
                return self._embedder.space.model
        return self._settings.embedding.model

    def _generator(self, name: str, extractive: ExtractiveGenerator) -> Generator:
        return extractive if name == "extractive" else LitellmGenerator(self._settings.models, name)
