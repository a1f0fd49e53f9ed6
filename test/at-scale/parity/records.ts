import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STREAM_NAMES, type StreamName } from '../../../ingest/streams/index.js';
import { demoRecords } from '../../../services/demo/load.js';
import { packageRoot } from '../../../services/shared/package-root.js';
import { fuzzRecords } from '../../gateway/fuzz-records.js';

export type Json = Record<string, unknown>;
export type Records = Record<StreamName, Json[]>;

export interface DataSet {
  title: string;
  /** Of the organization that asks; null where there are none. */
  records: Records | null;
}

const REAL = join(packageRoot, '../shared/data');

/** The real records and the sample of a day, each beside what random requests look for. */
export function dataSets(day: string): DataSet[] {
  const sample = emptyRecords();
  for (const [stream, records] of demoRecords(day)) sample[stream].push(...(records as Json[]));
  return [
    {
      title: 'the real records of ../shared/data',
      records: existsSync(REAL) ? withKnown(realRecords()) : null,
    },
    { title: 'the sample data', records: withKnown(sample) },
  ];
}

const emptyRecords = () => Object.fromEntries(STREAM_NAMES.map((name) => [name, [] as Json[]])) as Records;

function realRecords(): Records {
  const all = emptyRecords();
  for (const stream of STREAM_NAMES) {
    const file = join(REAL, `${stream}.ndjson`);
    if (!existsSync(file)) continue;
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    all[stream] = lines.map((line) => JSON.parse(line) as Json);
  }
  return all;
}

/** The intake takes records without an organization as those of the key. */
function withKnown(records: Records): Records {
  const all = emptyRecords();
  for (const stream of STREAM_NAMES) {
    all[stream] = [...records[stream], ...((fuzzRecords[stream] ?? []) as Json[])].map(
      ({ organization_id: _, organizationId: __, ...record }) => record,
    );
  }
  return all;
}
