import {
  emptyResult,
  type IngestOptions,
  type IngestResult,
  type RejectedRecord,
} from '../../../ingest/pipeline.js';
import type { RawRecord, RecordSource } from '../../../ingest/records/raw-record.js';
import { LINE_TOO_LONG } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { createClient } from '../../client/client.js';
import type { StreamName } from '../../client/ingest.js';
import { type GatewayTarget, gatewayError, requireReachable } from '../gateway.js';

const MAX_ATTEMPTS = 8;

interface SinkOptions extends Pick<IngestOptions, 'onRejected' | 'onOverlong' | 'onProgress'> {
  stream: Stream;
  /** Name of a mapping that the gateway maps the records with. */
  map?: string;
  target: GatewayTarget;
  source: RecordSource;
  /** For records without one. */
  organizationId?: string;
  /** Whether to find every rejected record, also beyond those that an answer lists. */
  findEveryRejected: boolean;
  /** Called before each wait. */
  onWait?(reason: string, milliseconds: number): void;
}

/**
 * Sends records through a gateway, a batch at a time and in order. Throws `CommandError` when the gateway does not take them: within
 * seconds when nothing answers at the start, as with a wrong port, and after retries when it fails later.
 */
export async function sendRecords(options: SinkOptions): Promise<IngestResult> {
  const { stream, map, target, source, findEveryRejected } = options;
  const result = emptyResult();
  await requireReachable(target.url);
  const client = createClient({
    ...target,
    maxAttempts: MAX_ATTEMPTS,
    onRetry({ error, waitMs }) {
      const reason =
        'status' in error ? `The gateway answers ${error.status}` : 'The gateway cannot be reached';
      options.onWait?.(reason, waitMs);
    },
  });
  /** Those without an answer yet; the first was record `answered` + 1 of those sent. */
  let pending: RawRecord[] = [];
  let answered = 0;
  let rejectedHere = 0;
  let skippedHere = 0;
  const reject = (rejected: RejectedRecord, raw: RawRecord) =>
    options.onRejected?.({ ...rejected, line: raw.line }, raw.untouched ?? raw.bytes, raw);

  async function* texts() {
    for await (const chunk of source) {
      for (const raw of chunk) {
        if (raw.overlong === 'piece') options.onOverlong?.(raw.bytes);
        else if (raw.isSkipped) result.skipped = ++skippedHere;
        else if (raw.overlong || raw.rejection) {
          rejectedHere++;
          result.rejected++;
          const { code, pointer, detail } = raw.rejection ?? LINE_TOO_LONG;
          reject({ line: raw.line, code, pointer, detail }, raw);
        } else {
          pending.push(raw);
          yield textOf(raw, options);
        }
      }
    }
  }
  try {
    await client.ingest(stream.name as StreamName, texts(), {
      // The sender of the file sees each of them.
      query: { on_reject: 'drop', ...(map === undefined ? {} : { map }) },
      findEveryRejected,
      onRejected({ line, code, pointer, detail }) {
        const sent = pending[line - answered - 1];
        if (sent) reject({ line, code, pointer, detail }, sent);
      },
      onProgress({ accepted, rejected, skipped, rounded, suppressed }) {
        pending = pending.slice(accepted + rejected + skipped - answered);
        answered = accepted + rejected + skipped;
        result.accepted = accepted;
        result.rejected = rejected + rejectedHere;
        result.skipped = skipped + skippedHere;
        result.rounded = rounded;
        result.suppressed = suppressed;
        options.onProgress?.(result.accepted, result.rejected);
      },
    });
  } catch (error) {
    throw gatewayError(error, target.url);
  }
  return result;
}

function textOf(raw: RawRecord, { stream, organizationId }: SinkOptions): Buffer {
  const field = stream.organizationField;
  if (raw.mapped !== undefined) {
    const record = raw.mapped as Record<string, unknown>;
    if (organizationId !== undefined) record[field] ??= organizationId;
    return Buffer.from(JSON.stringify(record));
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
