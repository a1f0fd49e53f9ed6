/** Ingests a file of test/data/foreign; returns the outcome of each record. */
import { createReadStream } from 'node:fs';
import { decoder } from '../../ingest/decode.js';
import { compileMapping } from '../../ingest/mapping/compile.js';
import { draftMapping, takesPeople } from '../../ingest/mapping/draft.js';
import type { Mapping } from '../../ingest/mapping/mapping.js';
import { PRESETS } from '../../ingest/presets/index.js';
import { UnreadableInputError } from '../../ingest/records/raw-record.js';
import { ColumnsError } from '../../ingest/sources/csv.js';
import { peekRecords, recognizeText } from '../../ingest/sources/recognize-text.js';
import { mapText, openText, type TextFormat } from '../../ingest/sources/text.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';

export const FOREIGN_FILES = 'test/data/foreign';
const HEADERS = Object.values(PRESETS).map(({ recognize }) => recognize);
const FORMATS: Record<string, TextFormat> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  xlsx: 'xlsx',
};
const ACCEPTED_AT = Date.parse('2026-11-27T12:00:00Z');

export interface Load {
  stream: StreamName;
  /** A preset, `auto`, or `draft` for the drafted mapping; absent if the columns have the names of fields. */
  map?: string;
  /** The charset that the request declares. */
  charset?: string;
  headerRow?: number;
}

/** Resolves with records as they are stored, `skipped`, or the code and sentence of a rejection. */
export async function loadForeign(
  file: string,
  { stream: name, map, charset, headerRow }: Load,
): Promise<unknown[]> {
  const stream = STREAMS[name] as Stream;
  const format = FORMATS[file.split('.').at(-1) as string] as TextFormat;
  const isDrafted = map === 'draft';
  const text = await openText(createReadStream(`${FOREIGN_FILES}/${file}`), format, {
    headers: isDrafted ? 'any' : HEADERS,
    ...(charset !== undefined && { charset }),
    ...(headerRow !== undefined && { headerRow }),
  });
  try {
    let mapping: Mapping | undefined;
    if (isDrafted) {
      const columns = text.header?.columns;
      const { mapping: drafted } = draftMapping(stream, await peekRecords(text), { columns });
      if (!takesPeople(drafted)) return [{ refused: 'No column is a name or an address of a person.' }];
      mapping = compileMapping(drafted, stream);
    } else if (map !== undefined) {
      const found = await recognizeText(text, map, name);
      if ('reason' in found) return [{ refused: found.reason }];
      mapping = compileMapping(found.preset, stream);
    }
    const decode = decoder(stream, { others: 'allow', organizationId: 'org_a' });
    const outcomes: unknown[] = [];
    for await (const raws of await mapText(text, stream, mapping)) {
      for (const raw of raws) {
        const outcome = raw.rejection ?? decode(raw, ACCEPTED_AT, 1);
        if (raw.isSkipped) outcomes.push('skipped');
        else if (outcome.kind === 'ok')
          outcomes.push(withoutOrganization(outcome.record as Record<string, unknown>));
        else outcomes.push({ code: outcome.code, detail: outcome.detail });
      }
    }
    return outcomes;
  } catch (error) {
    if (error instanceof ColumnsError || error instanceof UnreadableInputError)
      return [{ refused: error.message }];
    throw error;
  } finally {
    text.close();
  }
}

const withoutOrganization = ({
  organization_id: _,
  organizationId: __,
  ...record
}: Record<string, unknown>) => record;
