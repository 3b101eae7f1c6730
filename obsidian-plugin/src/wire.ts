// Generated from shared-schema/wire.schema.json by `npm run types`; never edited.
// Requests are as the daemon reads them, all else as it writes it.

/**
 * One of everything, so that one schema holds every message.
 */
export interface Wire {
  ask_request?: AskRequest;
  ask_response?: AskResponse;
  session_request?: SessionRequest;
  search_request?: SearchRequest;
  search_response?: SearchResponse;
  status_response?: StatusResponse;
  note_response?: NoteResponse;
  related_response?: RelatedResponse;
  health_response?: HealthResponse;
  error_response?: ErrorResponse;
  event?: SourcesEvent | DeltaEvent | WebEvent | GroundingEvent | DoneEvent | ErrorEvent;
  index_event?: IndexEvent;
  notes_event?: NotesEvent;
}
/**
 * A question. `include_personal` and `allow_web` are never both true.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "AskRequest".
 */
export interface AskRequest {
  /**
   * The user's own words.
   */
  question: string;
  /**
   * Earlier turns, oldest first.
   *
   * @maxItems 100
   */
  history?: HistoryTurn[];
  /**
   * Vault path of the note the question is about: its passages come first, then those of the notes it links with, then the rest of the vault.
   */
  note?: string | null;
  /**
   * Words of that note which the question is about. They reach a model, and never the web; where the note takes no part they are refused.
   */
  selection?: string | null;
  /**
   * The most passages the answer may rest on; by default as configured.
   */
  k?: number | null;
  /**
   * Language of the answer, as a BCP 47 tag; by default the question's own.
   */
  language?: string | null;
  /**
   * Whether personal notes take part; this closes the web.
   */
  include_personal?: boolean;
  /**
   * Whether the web may help; by default the opposite of include_personal.
   */
  allow_web?: boolean | null;
}
/**
 * An earlier turn, as the client remembers it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "HistoryTurn".
 */
export interface HistoryTurn {
  role: "user" | "assistant";
  text: string;
  /**
   * Whether personal notes took part in that turn; its words then never reach the web.
   */
  personal?: boolean;
}
/**
 * A whole answer, for callers that do not stream. `web` is null where the web was not asked.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "AskResponse".
 */
export interface AskResponse {
  answer: string;
  citations: Citation[];
  sources: Source[];
  silent: boolean;
  refused: boolean;
  personal_included: boolean;
  generator: string;
  notices: string[];
  understood: Understood | null;
  web: WebPart | null;
  seconds: number;
  finish: "stop" | "length";
}
/**
 * A place in the vault that an answer rests on. Lines are 1-based, inclusive, frontmatter counted.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "Citation".
 */
export interface Citation {
  n: number;
  path: string;
  title: string;
  heading: string | null;
  heading_path: string[];
  block: string | null;
  line_start: number;
  line_end: number;
  /**
   * Verbatim text of those lines.
   */
  quote: string;
  /**
   * An obsidian:// address that opens the note at the heading or block.
   */
  url: string;
}
/**
 * A passage the answer may cite, with why it was chosen. `quote` is the whole passage.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "Source".
 */
export interface Source {
  n: number;
  path: string;
  title: string;
  heading: string | null;
  heading_path: string[];
  block: string | null;
  line_start: number;
  line_end: number;
  /**
   * Verbatim text of those lines.
   */
  quote: string;
  /**
   * An obsidian:// address that opens the note at the heading or block.
   */
  url: string;
  score: number;
  /**
   * How it was found: by meaning, by words, by both, or by way of another note and nothing else.
   */
  provenance: "vector" | "text" | "both" | "expanded";
  /**
   * The note that led here, by a link, a tag, a topic or a rare name; null unless it was expanded.
   */
  via: string | null;
  /**
   * Other notes that say the same in the same words.
   */
  also: string[];
  personal: boolean;
}
/**
 * How a question was read beyond its words.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "Understood".
 */
export interface Understood {
  /**
   * What was searched for: the question without its filters.
   */
  text: string;
  /**
   * Each as written, such as `tag:#work`; all of them have to fit.
   */
  filters: string[];
  /**
   * Passages of these days come first.
   */
  days: NamedDays | null;
  /**
   * Which of the notes are wanted: the latest, the earliest, or how often there are any.
   */
  order: ("latest" | "earliest" | "often") | null;
}
/**
 * The time that a question names: its first and last day, such as 2026-03-09, and the words that name it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "NamedDays".
 */
export interface NamedDays {
  first: string;
  last: string;
  words: string;
}
/**
 * What the web added to an answer. `answer` is empty where no model worded it; its `[n]` count `results`.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "WebPart".
 */
export interface WebPart {
  results: WebResult[];
  provider: string;
  message: string;
  answer: string;
}
/**
 * A page found on the web; never mixed with the vault's sources. All of it is plain text.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "WebResult".
 */
export interface WebResult {
  n: number;
  title: string;
  url: string;
  snippet: string;
}
/**
 * The token, traded once for a cookie that scripts cannot read.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "SessionRequest".
 */
export interface SessionRequest {
  token: string;
}
/**
 * A search without an answer.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "SearchRequest".
 */
export interface SearchRequest {
  query: string;
  k?: number;
  include_personal?: boolean;
  arm?: "hybrid" | "vector" | "text";
}
/**
 * The hits, best first. `notices` says when an arm, or what was asked for, could not take part.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "SearchResponse".
 */
export interface SearchResponse {
  hits: SearchHit[];
  notices: string[];
  /**
   * How the query was read; null where it is its words and nothing else.
   */
  understood: Understood | null;
  seconds: number;
}
/**
 * A hit of a search, with the parts its score is made of.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "SearchHit".
 */
export interface SearchHit {
  n: number;
  path: string;
  title: string;
  heading: string | null;
  heading_path: string[];
  block: string | null;
  line_start: number;
  line_end: number;
  /**
   * Verbatim text of those lines.
   */
  quote: string;
  /**
   * An obsidian:// address that opens the note at the heading or block.
   */
  url: string;
  score: number;
  /**
   * How it was found: by meaning, by words, by both, or by way of another note and nothing else.
   */
  provenance: "vector" | "text" | "both" | "expanded";
  /**
   * The note that led here, by a link, a tag, a topic or a rare name; null unless it was expanded.
   */
  via: string | null;
  /**
   * Other notes that say the same in the same words.
   */
  also: string[];
  personal: boolean;
  trace: {
    [k: string]: number;
  };
}
/**
 * How the daemon is doing. Counts are of what the caller may see; names need the owner's ceiling.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "StatusResponse".
 */
export interface StatusResponse {
  version: string;
  vault: VaultStatus;
  notes: number;
  chunks: number;
  last_indexed: string | null;
  progress: IndexProgress;
  embedding: EmbeddingStatus;
  generation: GenerationStatus;
  /**
   * Null where none is configured.
   */
  reranker: RerankerStatus | null;
  web: WebStatus;
  /**
   * Whether a question here may include personal notes; each door says so for itself.
   */
  personal_allowed: boolean;
  problems: NoteProblem[];
  problem_count: number;
  /**
   * How many notes each personal pattern matches.
   */
  rules: {
    [k: string]: number;
  };
  warnings: string[];
}
/**
 * The vault as the source sees it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "VaultStatus".
 */
export interface VaultStatus {
  name: string;
  kind: "folder" | "couchdb";
  mode: string;
  message: string;
  freshness: Freshness;
}
/**
 * How far the index is behind the vault. Times are UTC, such as 2026-05-01T10:00:00+00:00.
 *
 * A caller who may not see personal notes is told of the visible index alone: null, null and 0 for the rest.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "Freshness".
 */
export interface Freshness {
  /**
   * Changes the vault holds that were not taken yet; null where nobody can tell.
   */
  lag: number | null;
  /**
   * When the vault last told of a change.
   */
  last_change_seen: string | null;
  /**
   * When a note was last stored in the index.
   */
  last_change_indexed: string | null;
  /**
   * Notes whose newest version is not whole yet; the one before it is searched.
   */
  waiting: number;
}
/**
 * The work that is going on, if any.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "IndexProgress".
 */
export interface IndexProgress {
  phase: "idle" | "listing" | "indexing" | "embedding" | "waiting" | "rebuilding" | "failed";
  done: number;
  total: number;
  /**
   * Notes (or chunks, while embedding) a second.
   */
  rate: number;
  seconds_left: number | null;
}
/**
 * The embedder, and what still waits for it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "EmbeddingStatus".
 */
export interface EmbeddingStatus {
  model: string;
  dimension: number | null;
  ready: boolean;
  /**
   * Notes that are found by words alone until their vectors are made.
   */
  waiting: number;
  last_error: string | null;
  next_try_seconds: number | null;
  centred: boolean;
  /**
   * What to do when the stored vectors belong to another model.
   */
  rebuild_needed: string | null;
}
/**
 * Who words the answers, and who could.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "GenerationStatus".
 */
export interface GenerationStatus {
  generator: string;
  local: boolean;
  /**
   * Chat models found on this machine, usable once configured.
   */
  offered: string[];
}
/**
 * Who looks at the best passages again and puts them in order.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "RerankerStatus".
 */
export interface RerankerStatus {
  name: string;
  /**
   * Whether it runs on the owner's machines; if not, it is given open notes only.
   */
  local: boolean;
}
/**
 * Whether the web may help where the vault says little.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "WebStatus".
 */
export interface WebStatus {
  enabled: boolean;
  /**
   * Who is sent the question then; null while the web is off.
   */
  provider: string | null;
  /**
   * Whether that is a server of the owner's own.
   */
  keeps_question_home: boolean;
}
/**
 * Something the owner should mend in a note.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "NoteProblem".
 */
export interface NoteProblem {
  path: string;
  code: string;
  message: string;
  line: number | null;
}
/**
 * Lines of a note as the index holds it. Lines are 1-based, inclusive, frontmatter counted.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "NoteResponse".
 */
export interface NoteResponse {
  path: string;
  title: string;
  personal: boolean;
  /**
   * The first line in `text`. Of the frontmatter only properties are held, so it may be a later one.
   */
  line_start: number;
  line_end: number;
  /**
   * The last line that the index holds of the note.
   */
  line_count: number;
  /**
   * Verbatim text of those lines; empty where the index holds none of them.
   */
  text: string;
  index: NoteState;
}
/**
 * How a note stands in the index. Times are UTC, such as 2026-05-01T10:00:00+00:00.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "NoteState".
 */
export interface NoteState {
  /**
   * words_only: it is found by words alone until its vectors are made. incomplete: a newer version is not whole yet, and the one before it is searched.
   */
  state: "indexed" | "words_only" | "incomplete";
  indexed_at: string;
  /**
   * When the indexed version was last changed, as the device that wrote it says.
   */
  modified_at: string;
  /**
   * The same in a sentence.
   */
  message: string;
}
/**
 * The notes near one note, nearest first; the note itself is not among them.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "RelatedResponse".
 */
export interface RelatedResponse {
  path: string;
  related: RelatedNote[];
  notices: string[];
  seconds: number;
}
/**
 * A note near another one, with its passage that comes nearest.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "RelatedNote".
 */
export interface RelatedNote {
  path: string;
  title: string;
  personal: boolean;
  score: number;
  /**
   * link: the note links to it. backlink: it links to the note. meaning: it speaks of the same.
   */
  because: ("link" | "backlink" | "meaning")[];
  heading: string | null;
  block: string | null;
  line_start: number;
  line_end: number;
  /**
   * Verbatim text of those lines, a few at most.
   */
  quote: string;
}
/**
 * Alive, and nothing more: told to anyone.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "HealthResponse".
 */
export interface HealthResponse {
  status: "ok";
}
/**
 * Why a request was refused or failed, in one sentence.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "ErrorResponse".
 */
export interface ErrorResponse {
  code: string;
  message: string;
}
/**
 * What the answer will be made from; sent first. `silent` means that the vault says nothing on this.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "SourcesEvent".
 */
export interface SourcesEvent {
  type: "sources";
  sources: Source[];
  silent: boolean;
  personal_included: boolean;
  generator: string;
  /**
   * Sentences the reader should see beside the answer.
   */
  notices: string[];
  /**
   * How the question was read; null where it is its words and nothing else.
   */
  understood: Understood | null;
}
/**
 * The next piece of the answer's text.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "DeltaEvent".
 */
export interface DeltaEvent {
  type: "delta";
  text: string;
  /**
   * What the words rest on; `[n]` counts sources in one, web results in the other.
   */
  part: "vault" | "web";
}
/**
 * What the web gave, under its own heading; it follows the vault's part, and deltas of the web's part follow it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "WebEvent".
 */
export interface WebEvent {
  type: "web";
  results: WebResult[];
  provider: string;
  /**
   * Why the web was asked, or why it gave nothing; a sentence for the reader.
   */
  message: string;
}
/**
 * The answer checked against its sources: the citations it really makes, and how many were removed.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "GroundingEvent".
 */
export interface GroundingEvent {
  type: "grounding";
  citations: Citation[];
  /**
   * Citations the model made up, taken out before they were shown.
   */
  removed: number;
  /**
   * True when the vault is silent and the answer only says so.
   */
  refused: boolean;
}
/**
 * The answer is complete.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "DoneEvent".
 */
export interface DoneEvent {
  type: "done";
  seconds: number;
  finish: "stop" | "length";
}
/**
 * The answer ends here, incomplete. `message` is a sentence for the reader.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "ErrorEvent".
 */
export interface ErrorEvent {
  type: "error";
  code: string;
  message: string;
  /**
   * Whether trying the same again later may help.
   */
  retry: boolean;
}
/**
 * The whole state of the index, sent when something about it changed. It names no note.
 *
 * A caller who may not see personal notes is told no figures of the work, since those count every note.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "IndexEvent".
 */
export interface IndexEvent {
  type: "index";
  progress: IndexProgress;
  freshness: Freshness;
  notes: number;
  chunks: number;
  /**
   * Notes that are found by words alone until their vectors are made.
   */
  waiting: number;
  last_indexed: string | null;
  /**
   * How changes reach the index: watching, polling, stand-in, waiting or stopped.
   */
  mode: string;
  /**
   * The same in a sentence; while waiting, why.
   */
  message: string;
}
/**
 * Notes whose indexed version is another one now. Paths are of the notes that the caller may see, and asked for.
 *
 * A note that stopped being visible is `gone`, whatever became of it.
 *
 * This interface was referenced by `Wire`'s JSON-Schema
 * via the `definition` "NotesEvent".
 */
export interface NotesEvent {
  type: "notes";
  changed: string[];
  gone: string[];
  /**
   * True when more changed than is listed: then anything may have.
   */
  more: boolean;
}
