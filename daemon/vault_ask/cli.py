"""The command line: reads arguments, calls the core, prints. Decides nothing.

Exit codes a script can rely on: 0 done; 1 something failed that is not below, notes could not be read, or the run was
stopped early; 2 the command or the configuration does not fit; 3 the vault cannot be read; 4 the vault is silent or
nothing was found; 5 a model failed; 6 another process owns the data folder.
"""

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from vault_ask import __version__
from vault_ask.audit import AuditLog, Door, Wanted
from vault_ask.console.answers import print_answer, print_hits
from vault_ask.console.evaluation import print_evaluation
from vault_ask.console.files import print_bytes, print_files, print_left_out
from vault_ask.console.indexing import indexing_display, print_plan, print_report
from vault_ask.console.records import print_audit
from vault_ask.console.status import print_status
from vault_ask.errors import BadRequest, ConfigError, IndexBusy, ModelError, SourceError, VaultAskError
from vault_ask.logs import set_up_logs
from vault_ask.scope import Question, Sensitivity, decide
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings

if TYPE_CHECKING:  # for annotations alone: it pulls in the index, which `--help` should not pay for
    from vault_ask.composition.library import Library

R = TypeVar("R")


class _Folder(click.ParamType[Path]):
    """A path that was really given: an empty word, as of an unset variable, would mean the current folder."""

    name = "path"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Take the path as written."""
        if not str(value).strip():
            self.fail("the path is empty.", param, ctx)
        return Path(value)


class _Words(click.ParamType[str]):
    """Words of the user. Python decodes them by the locale; they are UTF-8 whatever the locale says."""

    name = "words"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Decode again; what is no UTF-8 becomes replacement signs."""
        return os.fsencode(value).decode("utf-8", "replace")


class _Asked(_Words):
    """A question or what is searched for; one without a word asks nothing, as of an unset variable."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Decode as any words, and refuse blanks."""
        words = super().convert(value, param, ctx)
        if not words.strip():
            self.fail(f"the {self.name} is empty.", param, ctx)
        return words


class _Language(click.ParamType[str]):
    """A language, as a request over HTTP names it."""

    name = "tag"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take a tag of BCP 47."""
        from vault_ask.wire import AskRequest  # noqa: PLC0415 - late, as below

        try:
            return AskRequest(question="?", language=value).language or value
        except ValueError:
            self.fail("this is no language tag, such as sv, pt-BR or zh-Hant.", param, ctx)


class _Moment(click.DateTime):
    """A date, or a date with a time, of the clock on the wall."""

    name = "date"

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:  # noqa: ANN401 - as click has it
        """Give the moment with the local time zone."""
        try:
            return super().convert(value, param, ctx).astimezone()
        except (ValueError, OverflowError):
            self.fail("the date is too far away.", param, ctx)


_FOLDER = _Folder()
_WORDS = _Words()
_QUESTION = _Asked("question")
_QUERY = _Asked("query")
_MOMENT = _Moment()
_LANGUAGE = _Language()

EXIT_FAILED, EXIT_USAGE, EXIT_VAULT, EXIT_SILENT, EXIT_MODEL, EXIT_BUSY = 1, 2, 3, 4, 5, 6


def exit_code(error: VaultAskError) -> int:
    """Map an error to the code that scripts see."""
    match error:
        case IndexBusy():
            return EXIT_BUSY
        case ConfigError() | BadRequest():
            return EXIT_USAGE
        case SourceError():
            return EXIT_VAULT
        case ModelError():
            return EXIT_MODEL
        case _:
            return EXIT_FAILED


def configured(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that every command has, and its settings built from them."""

    @click.option("--vault", type=_FOLDER, help="The vault's folder, instead of the configured one.")
    @click.option("--data", type=_FOLDER, help="Folder of the index; never inside the vault.")
    @click.option("--config", type=_FOLDER, help="A config.yaml other than ./config.yaml.")
    @wraps(command)
    def run(vault: Path | None, data: Path | None, config: Path | None, **arguments: Any) -> R:  # noqa: ANN401
        with _failures_as_sentences():
            settings = load_settings(config=config, overrides=_overrides(vault, data))
            set_up_logs(settings.log)
            return command(settings=settings, **arguments)

    return run


def _overrides(vault: Path | None, data: Path | None) -> dict[str, Any]:
    places: dict[str, Any] = {"vault": {"path": vault, "source": "folder"} if vault else None, "data": data}
    return {name: place for name, place in places.items() if place is not None}


@contextmanager
def _failures_as_sentences() -> Iterator[None]:
    """End the process with one sentence and an exit code, whatever went wrong; a traceback may hold text of notes."""
    _let_any_letter_out()
    try:
        yield
    except VaultAskError as error:
        click.echo(f"vault-ask: {error}", err=True)
        sys.exit(exit_code(error))
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - the outermost handler
        where = traceback.extract_tb(error.__traceback__)[-1]
        click.echo(
            f"vault-ask: something failed that should not have ({type(error).__name__} at {Path(where.filename).name}:"
            f"{where.lineno}), so the command ended here. Please report it with this line; it holds nothing of notes.",
            err=True,
        )
        sys.exit(EXIT_FAILED)


def _let_any_letter_out() -> None:
    """Show `?` for a letter that the terminal's encoding does not have, instead of failing at it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vault-ask")
def main() -> None:
    """Ask your Obsidian vault; get answers that cite your notes."""


@main.command()
@click.option("--rebuild", is_flag=True, help="Build a new index; the old one serves until the new one is whole.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and write nothing.")
@click.option("--no-embed", is_flag=True, help="Index words and links only; vectors wait for the next run.")
@configured
def index(settings: Settings, *, rebuild: bool, dry_run: bool, no_embed: bool) -> None:
    """Bring the index up to date with the vault."""
    # Late imports, here and below: each command pays only for what it uses, and start-up stays quick.
    from vault_ask import indexing  # noqa: PLC0415

    if dry_run:
        print_plan(indexing.dry_run(settings, rebuild=rebuild))
        return
    with indexing_display() as display:
        report = indexing.run(settings, rebuild=rebuild, embed=not no_embed, display=display)
    print_report(report)
    if report.failed or report.interrupted:
        sys.exit(EXIT_FAILED)
    if report.embedder_trouble:
        sys.exit(EXIT_MODEL)


@main.command()
@click.argument("question", type=_QUESTION)
@click.option("--personal", is_flag=True, help="Let personal notes take part; the web stays out.")
@click.option(
    "--web/--no-web",
    default=None,
    help="Whether the web may be asked where notes say little, once web.enabled is true.  [default: unless --personal]",
)
@click.option("--note", type=_WORDS, help="Path in the vault of the note the question is about; it comes first.")
@click.option("--k", type=click.IntRange(1, 50), help="The most passages to answer from.  [default: retrieval.top_k]")
@click.option("--language", type=_LANGUAGE, help="Language of the answer, such as sv or pt-BR; quotes keep theirs.")
@click.option("--dry-run", is_flag=True, help="Show what the answer would be made from; word nothing, and ask no web.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@configured
def ask(
    settings: Settings,
    *,
    question: str,
    personal: bool,
    web: bool | None,
    dry_run: bool,
    as_json: bool,
    **wishes: Any,  # noqa: ANN401 - as Wishes has them
) -> None:
    """Answer QUESTION from the vault, with citations."""
    from vault_ask.answering.asked import Wishes  # noqa: PLC0415
    from vault_ask.composition.library import Library  # noqa: PLC0415
    from vault_ask.composition.parts import make_embedder  # noqa: PLC0415

    if personal and web:
        raise BadRequest(
            "--personal and --web were both given: personal notes never share an answer with the web. Leave one out."
        )
    allow_web = not personal if web is None else web
    scope = decide(include_personal=personal, allow_web=allow_web and not dry_run, ceiling=Sensitivity.PERSONAL)
    library = Library(settings, make_embedder(settings, tell=_tell))
    would = _would_ask_web(library, personal=personal, allow_web=allow_web) if dry_run else None
    with closing(library.audit):
        events = library.answer(Question(question), scope=scope, wishes=Wishes(**wishes), door="cli")
        answered = asyncio.run(print_answer(events, as_json=as_json, sources_only=dry_run))
    if would:
        click.echo(would, err=as_json)
    if not answered:
        sys.exit(EXIT_SILENT)


def _would_ask_web(library: "Library", *, personal: bool, allow_web: bool) -> str:
    """Tell whether the question could go to the web. Raises KeyNotSet, as asking would."""
    if not allow_web:
        return f"The web would not be asked: {'--personal' if personal else '--no-web'} keeps it out."
    if library.models.web is None:
        return "The web would not be asked: web.enabled is false."
    return f"The web would be asked where the notes say little: {library.models.web.name}."


@main.command()
@click.argument("query", type=_QUERY)
@click.option("--k", default=8, show_default=True, type=click.IntRange(1, 100), help="How many passages.")
@click.option("--personal", is_flag=True, help="Search personal notes as well.")
@click.option("--arm", default="hybrid", type=click.Choice(["hybrid", "vector", "text"]), help="Which index to use.")
@click.option("--explain", is_flag=True, help="Show what each score is the sum of.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@configured
def search(settings: Settings, *, query: str, k: int, personal: bool, arm: str, explain: bool, as_json: bool) -> None:
    """Find the passages nearest to QUERY."""
    from vault_ask.composition.library import Library  # noqa: PLC0415
    from vault_ask.composition.parts import make_embedder  # noqa: PLC0415

    scope = decide(include_personal=personal, allow_web=False, ceiling=Sensitivity.PERSONAL)
    embedder = make_embedder(settings, tell=_tell) if arm != "text" else None
    library = Library(settings, embedder)
    with closing(library.audit):
        found = library.search_now(query, scope=scope, k=k, arm=arm, door="cli")
    print_hits(found, explain=explain, as_json=as_json)
    if not found.hits:
        sys.exit(EXIT_SILENT)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@configured
def status(settings: Settings, *, as_json: bool) -> None:
    """Say what is indexed, what waits and what should be mended."""
    from vault_ask.composition.library import Library  # noqa: PLC0415
    from vault_ask.composition.parts import make_embedder  # noqa: PLC0415

    print_status(Library(settings, make_embedder(settings)).describe(Sensitivity.PERSONAL), as_json=as_json)


@main.command()
@click.option("--last", default=20, show_default=True, type=click.IntRange(min=1), help="How many records at most.")
@click.option("--since", type=_MOMENT, help="Records of this day or moment and later, local time.")
@click.option("--door", type=click.Choice(get_args(Door)), help="Records of one door.")
@click.option("--web", is_flag=True, help="Records of questions that the web was asked.")
@click.option("--question", type=_WORDS, help="Records of this question, whatever its case and spacing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, in UTF-8.")
@configured
def audit(settings: Settings, *, last: int, as_json: bool, **wanted: Any) -> None:  # noqa: ANN401 - the rest as Wanted has it
    """Show what was asked, which notes were read for it and whether the web was asked, the newest last."""
    log = AuditLog(settings.data / "audit", settings.audit)
    print_audit(log.read(Wanted(**wanted), last=last), as_json=as_json)


@main.command()
@click.option("--host", help="Address to listen on; any but loopback needs VAULTASK_API_TOKEN.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.")
@click.option("--rebuild", is_flag=True, help="Build a new index while the old one serves.")
@configured
def serve(settings: Settings, *, host: str | None, port: int | None, rebuild: bool) -> None:
    """Follow the vault and answer over HTTP until stopped."""
    from vault_ask import serving  # noqa: PLC0415

    given = {"host": host, "port": port}
    server = settings.server.model_copy(update={key: value for key, value in given.items() if value is not None})
    serving.leave(serving.serve(settings.model_copy(update={"server": server}), rebuild=rebuild, tell=_tell))


@main.command(name="eval")
@click.argument("questions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Where results go, a JSON object a line.")
@click.option("--arm", default="hybrid", type=click.Choice(["hybrid", "vector", "text"]), help="Which index to use.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare with another configuration (.yaml), or with results that --out wrote.",
)
@click.option("--ask", "answers", is_flag=True, help="Measure answers instead of rankings; always by both arms.")
@click.option("--verbose", is_flag=True, help="With --against: list the questions that came out otherwise, by id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@configured
def evaluate(
    settings: Settings,
    *,
    questions: Path,
    out: Path | None,
    arm: str,
    against: Path | None,
    answers: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Measure how well the vault is searched, by a file of QUESTIONS that names the notes that answer them.

    All notes take part. A question is a line `- When does the train leave? [[Oslo]]`, or a JSON object.
    """
    from vault_ask.composition.parts import make_embedder  # noqa: PLC0415
    from vault_ask.evaluation.command import Surroundings, Wanted  # noqa: PLC0415
    from vault_ask.evaluation.command import evaluate as measure  # noqa: PLC0415

    if answers and (against or arm != "hybrid"):
        chosen = "--against compares" if against else "--arm chooses"
        raise click.UsageError(f"{chosen} how notes are ranked, so it does not go with --ask.")
    embedder = make_embedder(settings, tell=_tell) if arm != "text" else None
    wanted = Wanted(questions, arm=arm, out=out, against=against, answers=answers)
    found = measure(settings, embedder, wanted, Surroundings(load=_same_places, tell=_tell))
    print_evaluation(found, as_json=as_json, verbose=verbose)


def _same_places(config: Path) -> Settings:
    """Load another configuration; --vault and --data of the command line count for it as well."""
    given = click.get_current_context().params
    return load_settings(config=config, overrides=_overrides(given["vault"], given["data"]))


@main.group()
def source() -> None:
    """Look at the vault as vault-ask sees it just now; needs no index."""


@source.command(name="ls")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line, in UTF-8.")
@click.option("--hash", "hashed", is_flag=True, help="Read every file and print the SHA-256 of its bytes.")
@click.option("--deleted", is_flag=True, help="List deleted files as well, where the vault remembers them.")
@configured
def list_files(settings: Settings, *, as_json: bool, hashed: bool, deleted: bool) -> None:
    """List every file the vault holds, attachments too, with its size in bytes."""
    from vault_ask.inspecting import Inspection  # noqa: PLC0415

    inspection = Inspection(settings)
    print_files(inspection.files(hashed=hashed, deleted=deleted), as_json=as_json, at_once=hashed)
    print_left_out(inspection.left_out())


@source.command(name="cat")
@click.argument("path", type=_WORDS)
@configured
def print_file(settings: Settings, *, path: str) -> None:
    """Write the file at PATH, as `source ls` lists it, to standard output unchanged."""
    from vault_ask.inspecting import Inspection  # noqa: PLC0415

    print_bytes(Inspection(settings).content(path))


def _tell(sentence: str) -> None:
    """Say something to the person at the terminal without mixing it into the output."""
    click.echo(sentence, err=True)
