import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestOptions, IngestResult, RejectedRecord } from '../../../ingest/pipeline.js';
import type { RawRecord, RecordSource } from '../../../ingest/records/raw-record.js';
import { MAX_LINE_BYTES } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { CommandError, UsageError } from '../errors.js';
import { type HttpAnswer, request } from '../http.js';

/** Size of one request: well below the 16 MiB a gateway accepts, and answered in seconds. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const CHUNK_RECORDS = 5000;
const ATTEMPTS = 8;
const MAX_WAIT_MS = 60_000;
const ANSWER_TIMEOUT_MS = 120_000;
const REACH_TIMEOUT_MS = 2000;
const BUSY = new Set([429, 502, 503, 504]);
const NEWLINE = Buffer.from('\n');

export interface GatewayTarget {
  url: string;
  apiKey: string;
}

interface SinkOptions extends Pick<IngestOptions, 'onRejected' | 'onOverlong' | 'onProgress'> {
  stream: Stream;
  target: GatewayTarget;
  source: RecordSource;
  /** For records without one. */
  organizationId?: string;
  /** Whether to find every rejected record, also beyond those that an answer lists. */
  findEveryRejected: boolean;
  /** Ends a wait for the gateway; the records of `source` are to end too. */
  signal?: AbortSignal;
  /** Called before each wait. */
  onWait?(reason: string, milliseconds: number): void;
}

interface Answer {
  accepted: number;
  rejected: number;
  errors: RejectedRecord[];
}

/** The address records of a stream are posted to. Throws UsageError when `base` is not an HTTP address. */
export function ingestUrl(base: string, stream: Stream): URL {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `--url (or REACHLINE_URL) takes the base address of a gateway, such as http://127.0.0.1:8080, not ${base}.`,
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/ingest/${stream.name}`;
  url.search = '';
  return url;
}

/**
 * Sends records through a gateway, a chunk at a time and in order. Throws `CommandError` when the gateway does not take them: within
 * seconds when nothing answers at the start, as with a wrong port, and after retries when it fails later.
 */
export async function sendRecords(options: SinkOptions): Promise<IngestResult> {
  const result: IngestResult = { accepted: 0, rejected: 0, errors: [] };
  const sender = new Sender(options);
  await sender.reach();
  let chunk = new Chunk();
  const send = async () => {
    const sent = chunk;
    chunk = new Chunk();
    const { accepted, rejected } = await sender.send(sent);
    result.accepted += accepted;
    result.rejected += rejected;
    options.onProgress?.(result.accepted, result.rejected);
  };
  const reject = (rejected: RejectedRecord, raw: RawRecord) => {
    result.rejected++;
    options.onRejected?.(rejected, raw.untouched ?? raw.bytes);
  };
  for await (const records of options.source) {
    for (const raw of records) {
      if (raw.overlong === 'piece') options.onOverlong?.(raw.bytes);
      else if (raw.overlong) reject({ line: raw.line, ...TOO_LONG }, raw);
      else if (raw.rejection) {
        const { code, pointer, detail } = raw.rejection;
        reject({ line: raw.line, code, pointer, detail }, raw);
      } else chunk.add(raw, textOf(raw, options));
      if (chunk.records.length >= CHUNK_RECORDS || chunk.bytes >= CHUNK_BYTES) await send();
    }
  }
  if (chunk.records.length > 0) await send();
  return result;
}

const TOO_LONG = {
  code: 'line_too_long',
  pointer: '',
  detail: `A record may have ${MAX_LINE_BYTES} bytes at most.`,
};

function textOf(raw: RawRecord, { stream, organizationId }: SinkOptions): Buffer {
  const field = stream.organizationField;
  if (raw.value !== undefined) {
    const value = raw.value as Record<string, unknown>;
    if (organizationId !== undefined) value[field] ??= organizationId;
    return Buffer.from(JSON.stringify(value));
  }
  return organizationId === undefined ? raw.bytes : withOrganization(raw.bytes, field, organizationId);
}

/** Written into the text, because parsing and writing it anew would round long numbers. */
function withOrganization(bytes: Buffer, field: string, organizationId: string): Buffer {
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return bytes;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || field in value) return bytes;
  const comma = Object.keys(value).length === 0 ? '' : ',';
  return Buffer.from(
    text.replace('{', () => `{${JSON.stringify(field)}:${JSON.stringify(organizationId)}${comma}`),
  );
}

class Chunk {
  readonly records: RawRecord[] = [];
  readonly texts: Buffer[] = [];
  bytes = 0;

  add(record: RawRecord, text: Buffer): void {
    this.records.push(record);
    this.texts.push(text, NEWLINE);
    this.bytes += text.length + 1;
  }

  /** The records from one on. */
  from(index: number): Chunk {
    const rest = new Chunk();
    for (let at = index; at < this.records.length; at++) {
      rest.add(this.records[at] as RawRecord, this.texts[at * 2] as Buffer);
    }
    return rest;
  }
}

class Sender {
  readonly #options: SinkOptions;
  readonly #url: URL;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#url = ingestUrl(options.target.url, options.stream);
  }

  /** Throws unless anything answers at the address. */
  async reach(): Promise<void> {
    const version = new URL(this.#url.href.replace(/api\/ingest\/[^/]+$/, 'version'));
    await request(version, {}, REACH_TIMEOUT_MS).catch((error: Error) => {
      throw failure(error, this.#url);
    });
  }

  /** An answer lists its first errors only. The rest are found by sending what lies behind the last one listed again. */
  async send(chunk: Chunk): Promise<Answer> {
    const answer = await this.#post(chunk);
    let behind = chunk;
    let { errors, rejected } = answer;
    for (;;) {
      for (const error of errors) this.#reject(error, behind.records[error.line - 1]);
      const last = errors.at(-1);
      if (last === undefined || rejected <= errors.length || !this.#options.findEveryRejected) return answer;
      behind = behind.from(last.line);
      ({ errors, rejected } = await this.#post(behind));
    }
  }

  #reject({ code, pointer, detail }: RejectedRecord, raw: RawRecord | undefined): void {
    if (raw)
      this.#options.onRejected?.({ line: raw.line, code, pointer, detail }, raw.untouched ?? raw.bytes);
  }

  async #post(chunk: Chunk): Promise<Answer> {
    const body = Buffer.concat(chunk.texts);
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(body);
      if (!(answer instanceof Error) && answer.status === 200) return JSON.parse(answer.text) as Answer;
      const busy = answer instanceof Error || BUSY.has(answer.status);
      if (!busy || attempt === ATTEMPTS) throw failure(answer, this.#url);
      const wait = waitOf(answer, attempt);
      const reason =
        answer instanceof Error ? 'The gateway cannot be reached' : `The gateway answers ${answer.status}`;
      this.#options.onWait?.(reason, wait);
      await sleep(wait, undefined, { signal: this.#options.signal });
    }
  }

  async #attempt(body: Buffer): Promise<HttpAnswer | Error> {
    const headers = { 'Content-Type': 'application/x-ndjson', 'X-Api-Key': this.#options.target.apiKey };
    try {
      return await request(
        this.#url,
        { method: 'POST', headers, body: new Uint8Array(body) },
        ANSWER_TIMEOUT_MS,
      );
    } catch (error) {
      return error as Error;
    }
  }
}

function waitOf(answer: HttpAnswer | Error, attempt: number): number {
  const header = answer instanceof Error ? null : answer.headers.get('Retry-After');
  const seconds = header === null ? Number.NaN : Number(header);
  if (Number.isFinite(seconds)) return Math.min(MAX_WAIT_MS, Math.max(0, seconds * 1000));
  return Math.min(MAX_WAIT_MS, 250 * 2 ** attempt);
}

/** Why the gateway did not take the records, in its own words where it has some. */
function failure(answer: HttpAnswer | Error, url: URL): CommandError {
  if (answer instanceof Error) {
    const reason = (answer.cause as NodeJS.ErrnoException | undefined)?.code ?? answer.message;
    return new CommandError(
      `${url.origin} cannot be reached (${reason}). Check --url or REACHLINE_URL, and that reachline serve runs there.`,
    );
  }
  const { code = '', detail = 'no reason given.' } = problemOf(answer.text);
  return new CommandError(
    `The gateway answers ${answer.status} ${code}: ${detail}${HINTS[code] ?? ''}`.replace(' :', ':'),
  );
}

function problemOf(text: string): { code?: string; detail?: string } {
  try {
    return JSON.parse(text) as { code?: string; detail?: string };
  } catch {
    return {};
  }
}

const HINTS: Record<string, string> = {
  insufficient_scope: ' Make a key with: reachline keys create --organization <id> --scopes ingest:write',
  invalid_api_key: ' Check REACHLINE_API_KEY or --api-key; reachline keys list shows the keys there are.',
};
