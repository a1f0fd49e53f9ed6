import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TObject, TSchema } from 'typebox';
import { type ApiEndpoint, endpoints } from '../../gateway/api.js';
import { KEY_PATH } from '../../gateway/other-operations.js';
import type { ExportFormat, HandlerContext } from '../../http/endpoint.js';
import { EXPORT_TYPES, exportText, TOTAL_HEADER } from '../../http/export.js';
import { loadConfig } from '../../shared/config.js';
import { systemClock } from '../../shared/time.js';
import { compileValidator } from '../../shared/validation.js';
import { openStores } from '../../stores/open-stores.js';
import { requireId } from '../arguments.js';
import { CommandError, UsageError } from '../errors.js';
import { formatCount, type Io, printErr } from '../io.js';
import { Progress } from '../progress.js';

export interface ExportCommand {
  what: string;
  format?: ExportFormat;
  /** `name=value` each. */
  filter?: string[];
  out?: string;
  organization?: string;
  url?: string;
  apiKey?: string;
}

type Body = Record<string, unknown>;

/** By the names of the streams that take the export in again. */
const PATHS: Record<string, string> = {
  contacts: '/api/contacts/search',
  audiences: '/api/audiences/search',
  'website-visits': '/api/website-visits/search',
  'network-a-campaigns': '/api/advertising/network_a/campaigns',
  'network-a-creatives': '/api/advertising/network_a/creatives',
  'network-a-companies': '/api/advertising/network_a/companies',
};
const AUDIENCE_CONTACTS = '/api/audiences/contacts/search';

/** Writes every match, and says on standard error how many there were. */
export async function exportMatches(io: Io, command: ExportCommand): Promise<void> {
  const { what, out } = command;
  const filters = (command.filter ?? []).map(parseFilter);
  const ofAudience = what === 'contacts' && filters.some(([name]) => name === 'audience_id');
  const path = ofAudience ? AUDIENCE_CONTACTS : PATHS[what];
  const endpoint = endpoints.find((each) => each.path === path) as ApiEndpoint;
  const body = Object.fromEntries(
    filters.map(([name, text]) => [name, toValue(endpoint.request, name, text)]),
  );
  const format = command.format ?? (out?.endsWith('.csv') ? 'csv' : 'ndjson');
  const progress = await Progress.start(io);
  const counter = new MatchCounter(format);
  const startedAt = performance.now();

  const write = async (chunks: AsyncIterable<Uint8Array>, total: () => number | undefined) => {
    async function* counted() {
      for await (const chunk of chunks) {
        yield chunk;
        counter.add(chunk);
        progress.update(`${formatCount(counter.matches)} ${what}`, counter.matches, total());
      }
    }
    await writeOutput(io.stdout, out, Readable.from(counted()));
  };
  try {
    const target = targetOf(io, command);
    if (target) await exportFromGateway(target, endpoint.path, body, format, write);
    else await exportFromFolder(io, command, endpoint, body, format, write);
  } finally {
    progress.end();
  }
  const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000);
  const rate = formatCount(counter.matches / seconds);
  printErr(io, `${what}: ${formatCount(counter.matches)} exported in ${seconds.toFixed(1)} s (${rate}/s)`);
}

type Write = (chunks: AsyncIterable<Uint8Array>, total: () => number | undefined) => Promise<void>;

interface Target {
  url: string;
  apiKey: string;
}

function targetOf({ env }: Io, { url, apiKey, organization }: ExportCommand): Target | undefined {
  const base = url ?? (env.REACHLINE_URL || undefined);
  const key = apiKey ?? (env.REACHLINE_API_KEY || undefined);
  if (base === undefined) {
    if (organization === undefined) {
      throw new UsageError(
        'Name the organization with --organization <id>, or a gateway with --url and REACHLINE_API_KEY.',
      );
    }
    requireId('--organization', organization);
    return undefined;
  }
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) {
    throw new UsageError(
      `--url (or REACHLINE_URL) takes the base address of a gateway, such as http://127.0.0.1:8080, not ${base}.`,
    );
  }
  if (key === undefined)
    throw new UsageError('--url needs a key: set REACHLINE_API_KEY, or give --api-key <key>.');
  return { url: base.replace(/\/+$/, ''), apiKey: key };
}

async function exportFromGateway(
  { url, apiKey }: Target,
  path: string,
  body: Body,
  format: ExportFormat,
  write: Write,
): Promise<void> {
  const send = async (to: string, init: RequestInit) => {
    const headers = { 'X-Api-Key': apiKey, ...init.headers };
    const response = await fetch(`${url}${to}`, { ...init, headers }).catch((error: Error) => {
      const reason = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.message;
      throw new CommandError(
        `${url} cannot be reached (${reason}). Check --url or REACHLINE_URL, and that reachline serve runs there.`,
      );
    });
    if (response.ok) return response;
    const { code = '', detail = 'no reason given.' } = (await response.json().catch(() => ({}))) as Record<
      string,
      string
    >;
    throw new CommandError(`The gateway answers ${response.status} ${code}: ${detail}`);
  };
  const { organization_id } = (await (await send(KEY_PATH, {})).json()) as { organization_id: string };
  const response = await send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: EXPORT_TYPES[format] },
    body: JSON.stringify({ organization_id, ...body }),
  });
  const total = Number(response.headers.get(TOTAL_HEADER));
  const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
  await write(chunks, () => total).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(
      'The gateway closed the connection before the end; its log says why. Nothing was kept; try again.',
    );
  });
}

async function exportFromFolder(
  io: Io,
  { organization = '' }: ExportCommand,
  endpoint: ApiEndpoint,
  body: Body,
  format: ExportFormat,
  write: Write,
): Promise<void> {
  const { request, list } = endpoint;
  if (!list) throw new Error(`${endpoint.path} is no list`);
  const sent =
    'organization_id' in (request as TObject).properties ? { organization_id: organization, ...body } : body;
  const [error] = compileValidator(request)(sent);
  if (error) throw new UsageError(error.detail);
  const config = loadConfig(io.env);
  const stores = await openStores(config);
  let total: number | undefined;
  try {
    const context: HandlerContext<unknown, unknown, Parameters<typeof list.readPage>[0]['services']> = {
      body: sent,
      query: {},
      organizationId: organization,
      services: { ...stores, clock: systemClock, provisionalDays: config.provisionalDays } as never,
      idempotency: undefined,
      signal: new AbortController().signal,
      setHeader: () => undefined,
    };
    const chunks = exportText(list, context, format, (all) => {
      total = all;
    });
    await write(chunks, () => total);
  } finally {
    await stores.close();
  }
}

/** Writes to a file that appears once it is complete, or to standard output. */
async function writeOutput(stdout: Writable, out: string | undefined, source: Readable): Promise<void> {
  if (out === undefined) {
    await pipeline(source, stdout, { end: false });
    return;
  }
  const partial = `${out}.part`;
  try {
    await pipeline(source, createWriteStream(partial));
    await rename(partial, out);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

function parseFilter(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--filter takes field=value, such as country=US, not ${text}.`);
}

/** The value as the request has it: text that is no number or boolean stays text, which validation rejects. */
function toValue(request: TSchema, name: string, text: string): unknown {
  const schema = (request as TObject).properties[name] as { type?: string | string[] } | undefined;
  const types = [schema?.type].flat();
  if (types.includes('array')) return text.split(',');
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true';
  return text;
}

const NEWLINE = 10;
const QUOTE = 34;

/** Counts lines: of CSV those outside of quotes, without the header. */
class MatchCounter {
  readonly #isCsv: boolean;
  #lines = 0;
  #isQuoted = false;

  constructor(format: ExportFormat) {
    this.#isCsv = format === 'csv';
  }

  get matches(): number {
    return this.#isCsv ? Math.max(0, this.#lines - 1) : this.#lines;
  }

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (byte === NEWLINE && !this.#isQuoted) this.#lines++;
      else if (byte === QUOTE && this.#isCsv) this.#isQuoted = !this.#isQuoted;
    }
  }
}
