/** Records that HTTP ingest rejected: the search store keeps where and why, callers the records. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IngestOptions, ingestRecords } from '../../ingest/pipeline.js';
import { findStream } from '../../ingest/streams/index.js';
import type { Rejection } from '../rejections/rejection-store.js';
import { loadConfig } from '../shared/config.js';
import { SEARCH_FILE } from '../stores/data-folder/layout.js';
import { withAdminStore } from './admin-stores.js';
import { CommandError } from './errors.js';
import { withFolder } from './gateway.js';
import { sendRecords } from './ingest/gateway-sink.js';
import { type Io, printErr } from './io.js';

/** Newest first, of one organization or of all. */
export async function storedRejections(io: Io, organization?: string): Promise<Rejection[]> {
  const { elasticsearch, dataDir } = loadConfig(io.env);
  // Opening the store would create the data folder of a machine that only uses Kafka.
  if (elasticsearch === null && !existsSync(join(dataDir, SEARCH_FILE))) return [];
  return withAdminStore(io, (store) => store.listRejections(organization));
}

interface Correction extends Rejection {
  /** The record. */
  value: object;
}

/** Lines of `dead-letters list --json` with the corrected record as `value`. Throws CommandError. */
export function readCorrections(path: string): Correction[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const correction = parseLine(line);
      const { id, organization_id, stream, rejected_at, sequence, value } = correction;
      const texts = [id, organization_id, stream, rejected_at];
      const isComplete = texts.every((text) => typeof text === 'string') && Number.isSafeInteger(sequence);
      if (isComplete && findStream(stream as string) && typeof value === 'object' && value !== null) {
        return [correction as Correction];
      }
      throw new CommandError(
        `Line ${index + 1} of ${path} is not a line of reachline dead-letters list --json with the corrected record as "value".`,
      );
    });
}

function parseLine(line: string): Partial<Correction> {
  try {
    return JSON.parse(line) as Partial<Correction>;
  } catch {
    return {};
  }
}

/**
 * Sends the corrected records in the order of their first acceptance, or, through a server, as new ones. Those that are accepted are
 * no longer listed; what is rejected again is printed. Resolves with their number.
 */
export async function replayCorrections(io: Io, corrections: readonly Correction[]): Promise<number> {
  let rejected = 0;
  for (const organization of new Set(corrections.map(({ organization_id }) => organization_id))) {
    const accepted: string[] = [];
    await withFolder(io, { organization, scope: ['ingest:write'] }, async (destination) => {
      for (const correction of corrections) {
        if (correction.organization_id !== organization) continue;
        const { rejected: count } = await send(destination, correction, ({ code, detail }) =>
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
  destination: Parameters<Parameters<typeof withFolder>[2]>[0],
  { organization_id: organizationId, stream: name, line, rejected_at, sequence, value }: Correction,
  onRejected: IngestOptions['onRejected'],
) {
  const stream = findStream(name);
  if (!stream) throw new CommandError(`There is no stream ${name}.`);
  const source = (async function* () {
    yield [{ line, bytes: Buffer.from(JSON.stringify(value)) }];
  })();
  if (!('search' in destination)) {
    return sendRecords({ target: destination, stream, source, onRejected, findEveryRejected: true });
  }
  const acceptance = { now: () => Date.parse(rejected_at), sequence: sequence - line };
  return ingestRecords({ stores: destination, stream, organizationId, source, acceptance, onRejected });
}
