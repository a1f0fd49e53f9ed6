import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TObject, TSchema } from 'typebox';
import type { Export, PagedPath } from '../../client/client.js';
import { type ApiEndpoint, endpoints } from '../../gateway/api.js';
import type { ExportFormat } from '../../http/endpoint.js';
import { CommandError, UsageError } from '../errors.js';
import { type GatewayOptions, withClient } from '../gateway.js';
import { formatCount, type Io, printable, printErr } from '../io.js';
import { OutputFile, requireOutsideStores } from '../output-file.js';
import { withProgress } from '../progress.js';

export interface ExportCommand extends GatewayOptions {
  what: string;
  /** Id of the audience, if `what` is `audience`. */
  id?: string;
  as?: 'network-a-contacts' | 'network-a-companies';
  format?: ExportFormat;
  /** `name=value` each. */
  filter?: string[];
  out?: string;
}

/** Path of the list to export, by the name of the stream that loads the export again. */
const PATHS: Record<string, string> = {
  contacts: '/api/contacts/search',
  audiences: '/api/audiences/search',
  'website-visits': '/api/website-visits/search',
};
const AUDIENCE_CONTACTS = '/api/audiences/contacts/search';
/** Path of the report to export if filters name a range of days. */
const REPORTS: Record<string, string> = {
  'network-a-campaigns': '/api/advertising/network_a/campaigns',
  'network-a-creatives': '/api/advertising/network_a/creatives',
  'network-a-companies': '/api/advertising/network_a/companies',
};
const RECORDS = '/api/advertising/network_a/records';

/** The list that an export reads, and the fields of its request that are not filters. */
function listOf(what: string, names: readonly string[]): { path: string; fields: object } {
  if (what === 'contacts' && names.includes('audience_id')) return { path: AUDIENCE_CONTACTS, fields: {} };
  const path = PATHS[what] ?? (names.length > 0 ? REPORTS[what] : undefined);
  return path === undefined ? { path: RECORDS, fields: { stream: what } } : { path, fields: {} };
}

/** The stream to export, and its filters. The contacts of an audience are contacts with a filter. */
function selectionOf({ what, id, as, format, filter = [] }: ExportCommand) {
  if ((what === 'audience') !== (id !== undefined)) {
    throw new UsageError('Only audience takes an id: reachline export audience <id>.');
  }
  const selection =
    id === undefined ? { what, filters: [] } : { what: 'contacts', filters: [['audience_id', id] as const] };
  if (as && selection.what !== 'contacts') throw new UsageError('Only contacts and audience can use --as.');
  if (as && format) throw new UsageError('--as is a CSV of its own; leave --format out.');
  return { ...selection, filters: [...selection.filters, ...filter.map(parseFilter)] };
}

/** Writes all matches, and prints the number of rows to standard error. */
export async function exportCommand(io: Io, command: ExportCommand): Promise<void> {
  const { out } = command;
  if (out !== undefined) requireOutsideStores(out);
  const { what, filters } = selectionOf(command);
  const { path, fields } = listOf(
    what,
    filters.map(([name]) => name),
  );
  const endpoint = endpoints.find((each) => each.path === path) as ApiEndpoint;
  const body = {
    ...Object.fromEntries(filters.map(([name, text]) => [name, toValue(endpoint.request, name, text)])),
    ...fields,
  };
  const format = command.as ?? command.format ?? (out?.endsWith('.csv') ? 'csv' : 'ndjson');
  let matches = 0;
  const seconds = await withProgress(io, async (progress) => {
    await withClient(io, command, endpoint.scope, async (client) => {
      const { total, stream, rows } = await client.export(endpoint.path as PagedPath, body, format);
      async function* counted() {
        let bytes = 0;
        for await (const chunk of unbroken(stream)) {
          yield chunk;
          bytes += chunk.length;
          progress.update(`${formatCount(bytes / 1024)} KiB of ${formatCount(total)} ${what}`, bytes);
        }
      }
      await writeOutput(io.stdout, out, Readable.from(counted()));
      matches = (await rows) ?? total;
    });
    return Math.max(0.001, progress.seconds);
  });
  const rate = formatCount(matches / seconds);
  printErr(io, `${what}: ${formatCount(matches)} exported in ${seconds.toFixed(1)} s (${rate}/s)`);
}

async function* unbroken(stream: Export['stream']): AsyncGenerator<Uint8Array> {
  try {
    yield* stream as unknown as AsyncIterable<Uint8Array>;
  } catch {
    throw new CommandError(
      'The gateway closed the connection before the end; its log says why. No file was written; try again.',
    );
  }
}

/** Writes to a file that appears once it is complete, or to standard output. */
async function writeOutput(stdout: Io['stdout'], out: string | undefined, source: Readable): Promise<void> {
  if (out === undefined) {
    await pipeline(stdout.isTTY ? Readable.from(printableText(source)) : source, stdout, { end: false });
    return;
  }
  const file = new OutputFile(out);
  try {
    await pipeline(source, file.stream());
  } catch (error) {
    file.discard();
    throw error;
  }
  file.complete();
}

async function* printableText(source: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of source) yield printable(decoder.decode(chunk as Uint8Array, { stream: true }));
}

function parseFilter(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--filter takes field=value, such as country=US, not ${text}.`);
}

/**
 * The filter value in the type that the request schema expects. Text that is neither a number nor a boolean stays text, which validation
 * rejects.
 */
function toValue(request: TSchema, name: string, text: string): unknown {
  const schema = (request as TObject).properties[name] as { type?: string | string[] } | undefined;
  const types = [schema?.type].flat();
  if (types.includes('array')) return text.split(',');
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true';
  return text;
}
