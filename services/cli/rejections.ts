/** Records that HTTP ingest rejected. The records store keeps their place and reason; only senders have the records. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IngestOptions, ingestRecords } from '../../ingest/pipeline.js';
import { parseJson } from '../../ingest/records/parse-json.js';
import { findStream } from '../../ingest/streams/index.js';
import type { Rejection } from '../rejections/rejection-store.js';
import type { SortKey } from '../search/query.js';
import { loadConfig } from '../shared/config.js';
import { fromJson } from '../shared/json.js';
import { SEARCH_FILE } from '../stores/data-folder/layout.js';
import type { Stores } from '../stores/open-stores.js';
import { withAdminStore } from './admin-stores.js';
import { CommandError } from './errors.js';
import { type GatewayTarget, withFolder } from './gateway.js';
import { sendRecords } from './ingest/gateway-sink.js';
import { type Io, printErr } from './io.js';
import { requireStream } from './streams.js';

const REJECTIONS_PER_PAGE = 1000;

/** Passes rejections of one organization, or of all, to `take`, newest first and a page at a time, until `take` returns false. */
export async function eachStoredRejection(
  io: Io,
  organizationId: string | undefined,
  take: (rejections: Rejection[]) => boolean,
): Promise<void> {
  const { elasticsearch, dataDir } = loadConfig(io.env);
  // Opening the store would create a data folder on a machine that only uses Kafka.
  if (elasticsearch === null && !existsSync(join(dataDir, SEARCH_FILE))) return;
  await withAdminStore(io, async (store) => {
    for (let after: SortKey | undefined; ; ) {
      const page = await store.listRejections({ organizationId, limit: REJECTIONS_PER_PAGE, after });
      if (!take(page.items.map(fromJson)) || page.next === null) return;
      after = page.next;
    }
  });
}

interface Correction extends Rejection {
  /** The record. */
  value: object;
}

/** Reads lines of `dead-letters list --json` to which the corrected record was added as `value`. Throws CommandError. */
export function readCorrections(path: string): Correction[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const parsed = parseJson(Buffer.from(line));
      if ('value' in parsed && isCorrection(parsed.value)) return [parsed.value];
      throw new CommandError(
        `Line ${index + 1} of ${path} is not a line of reachline dead-letters list --json with the corrected record as "value".`,
      );
    });
}

function isCorrection(line: unknown): line is Correction {
  const { id, organization_id, stream, rejected_at, sequence, value } = (line ?? {}) as Partial<Correction>;
  return (
    [id, organization_id, stream, rejected_at].every((text) => typeof text === 'string') &&
    findStream(stream as string) !== undefined &&
    Number.isSafeInteger(sequence) &&
    typeof value === 'object' &&
    value !== null
  );
}

/**
 * Sends the corrected records in the order of their first acceptance, or as new records if they go through a server. Accepted records leave
 * the list. Records that are rejected again are printed. Resolves with the number of records rejected again.
 */
export async function replayCorrections(io: Io, corrections: readonly Correction[]): Promise<number> {
  let rejected = 0;
  for (const organization of new Set(corrections.map(({ organization_id }) => organization_id))) {
    const accepted: string[] = [];
    await withFolder(io, { organization, scope: ['ingest:write'] }, async (opened) => {
      for (const correction of corrections) {
        if (correction.organization_id !== organization) continue;
        const { rejected: count } = await send(opened, correction, ({ code, detail }) =>
          printErr(io, `${correction.id}: ${code}: ${detail}`),
        );
        if (count === 0) accepted.push(correction.id);
        rejected += count;
      }
    });
    await withAdminStore(io, (store) => store.deleteRejections(accepted));
  }
  return rejected;
}

function send(
  opened: Stores | GatewayTarget,
  { organization_id: organizationId, stream, line, rejected_at, sequence, value }: Correction,
  onRejected: IngestOptions['onRejected'],
) {
  const source = (async function* () {
    yield [{ line, bytes: Buffer.from(JSON.stringify(value)) }];
  })();
  const options = { stream: requireStream(stream), source, onRejected };
  if (!('records' in opened)) return sendRecords({ ...options, target: opened, findEveryRejected: true });
  const acceptance = { at: () => ({ acceptedAt: Date.parse(rejected_at), sequence }) };
  return ingestRecords({ ...options, stores: opened, organizationId, acceptance });
}
