import {
  emptyResult,
  type IngestOptions,
  type IngestResult,
  type RejectedRecord,
} from '../../../ingest/pipeline.js';
import type { RawRecord, RecordSource } from '../../../ingest/records/raw-record.js';
import type { OnDuplicate } from '../../../ingest/resolve-people.js';
import { LINE_TOO_LONG } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import type { ImportOptions } from '../../../ingest/streams/with-import.js';
import { createClient } from '../../client/client.js';
import type { StreamName } from '../../client/ingest.js';
import { CommandError } from '../errors.js';
import { type GatewayTarget, gatewayError, requireReachable } from '../gateway.js';

const MAX_ATTEMPTS = 8;

interface SinkOptions extends Pick<IngestOptions, 'onRejected' | 'onOverlong'> {
  stream: Stream;
  target: GatewayTarget;
  source: RecordSource;
  /** The organization of the key, if the caller knows it. */
  organizationId?: string;
  /** Whether to find every rejected record, including records that the response does not list. */
  findEveryRejected: boolean;
  onDuplicate?: OnDuplicate | undefined;
  imported?: ImportOptions;
  /** Called after each response. */
  onProgress?(accepted: number, rejected: number): void;
  /** Called before each wait. */
  onWait?(reason: string, milliseconds: number): void;
}

/**
 * Sends records through a gateway, a batch at a time and in order. Throws `CommandError` if the gateway does not accept them: within
 * seconds if nothing responds at the start, such as with a wrong port, and after retries if it fails later.
 */
export async function sendRecords(options: SinkOptions): Promise<IngestResult> {
  const { stream, target, source, organizationId, findEveryRejected, onDuplicate, imported } = options;
  const result = emptyResult();
  await requireReachable(target.url);
  const client = createClient({
    ...target,
    maxAttempts: MAX_ATTEMPTS,
    onRetry({ error, waitMs }) {
      const reason =
        'status' in error ? `The gateway responded with ${error.status}` : 'The gateway cannot be reached';
      options.onWait?.(reason, waitMs);
    },
  });
  /** Records without a response yet. The first of them is record `answered` + 1 of all records sent. */
  let pending: RawRecord[] = [];
  let answered = 0;
  let rejectedHere = 0;
  const reject = (rejected: RejectedRecord, raw: RawRecord) =>
    options.onRejected?.({ ...rejected, line: raw.line }, raw.untouched ?? raw.bytes, raw);

  async function* texts() {
    for await (const chunk of source) {
      for (const raw of chunk) {
        if (raw.overlong === 'piece') options.onOverlong?.(raw.bytes);
        else if (raw.isSkipped) result.skipped++;
        else if (raw.overlong || raw.rejection) {
          rejectedHere++;
          result.rejected++;
          const { code, pointer, detail } = raw.rejection ?? LINE_TOO_LONG;
          reject({ line: raw.line, code, pointer, detail }, raw);
        } else {
          pending.push(raw);
          if (raw.leftOut !== undefined) result.invalid_values++;
          yield raw.mapped === undefined ? raw.bytes : Buffer.from(JSON.stringify(raw.mapped));
        }
      }
    }
  }
  try {
    if (organizationId !== undefined) {
      const { organization_id } = await client.describeKey();
      if (organization_id !== organizationId)
        throw new CommandError(`The key belongs to ${organization_id}, not to ${organizationId}.`);
    }
    await client.ingest(stream.name as StreamName, texts(), {
      // The user of the command sees every rejected record, so the gateway need not store them.
      query: {
        on_reject: 'drop',
        ...(onDuplicate && { on_duplicate: onDuplicate }),
        ...(imported?.importId && { import_id: imported.importId }),
        ...(imported?.audienceId && { audience_id: imported.audienceId }),
      },
      findEveryRejected,
      onRejected({ line, code, pointer, detail }) {
        const sent = pending[line - answered - 1];
        if (sent) reject({ line, code, pointer, detail }, sent);
      },
      // This process counts what the mapping leaves out and keeps the first errors, so the gateway's own counts are dropped.
      onProgress({ errors: _errors, skipped: _skipped, invalid_values: _values, ...counts }) {
        pending = pending.slice(counts.accepted + counts.rejected - answered);
        answered = counts.accepted + counts.rejected;
        Object.assign(result, { ...counts, rejected: counts.rejected + rejectedHere });
        options.onProgress?.(result.accepted, result.rejected);
      },
    });
  } catch (error) {
    throw gatewayError(error, target.url);
  }
  return result;
}
