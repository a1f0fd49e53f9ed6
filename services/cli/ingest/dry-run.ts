import { decoder } from '../../../ingest/decode.js';
import { emptyResult, type RejectedRecord } from '../../../ingest/pipeline.js';
import type { DeadLetter } from '../../../ingest/records/outcome.js';
import type { RawRecord } from '../../../ingest/records/raw-record.js';
import { LINE_TOO_LONG } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { loadConfig } from '../../shared/config.js';
import { EXIT } from '../errors.js';
import { type Io, printOut } from '../io.js';
import { Progress } from '../progress.js';
import { type MappedOptions, openMapped } from './mapped-input.js';
import { Rejects, Report } from './report.js';

const SAMPLES = 3;
/** Stands for the organization of the key, where a gateway would fill it in. */
const ANY_ORGANIZATION = 'organization-of-the-key';

/**
 * Maps and checks every record and writes none: prints the first records with their mapped form, and every record that would be
 * rejected. Resolves with the exit code: 1 when any would be.
 */
export async function dryRun(
  io: Io,
  stream: Stream,
  options: MappedOptions & { rejects?: string },
): Promise<number> {
  const opened = await openMapped(io, stream, options);
  const organizationId =
    options.organization ?? (options.organizationOptional ? ANY_ORGANIZATION : undefined);
  const { unknownFields } = loadConfig(io.env);
  const decode = decoder(stream, { organizationId, others: 'allow' }, { unknownFields });
  const rejects =
    options.rejects === undefined ? undefined : new Rejects(options.rejects, opened.headerBytes);
  const report = new Report(io, opened.input.size, await Progress.start(io), {
    maxShown: Number.POSITIVE_INFINITY,
  });
  report.begin(opened.input, '');
  const result = { ...emptyResult(), ignored: 0 };
  const acceptedAt = Date.now();
  let shown = 0;
  for await (const records of opened.source) {
    for (const raw of records) {
      if (raw.overlong === 'piece') {
        rejects?.writePiece(raw.bytes);
        continue;
      }
      const isShown = shown++ < SAMPLES;
      const source = isShown ? sourceText(raw) : '';
      let becomes = 'skipped';
      if (raw.isSkipped) result.skipped++;
      else {
        const outcome = raw.overlong ? LINE_TOO_LONG : (raw.rejection ?? decode(raw, acceptedAt, raw.line));
        if (outcome.kind === 'ok') {
          result.accepted++;
          if (outcome.isRounded) result.rounded++;
          if (outcome.hadUnknownFields) result.ignored++;
          becomes = JSON.stringify(outcome.record);
        } else {
          result.rejected++;
          becomes = 'rejected';
          report.rejected(rejectedRecord(outcome, raw));
          rejects?.write(raw.untouched ?? raw.bytes);
        }
      }
      if (isShown) printOut(io, `line ${raw.line}: ${source}\n  becomes ${becomes}`);
    }
    report.progress(result.accepted, result.rejected);
  }
  report.endFile(result);
  report.end();
  rejects?.end();
  printOut(io, `${report.summary(stream.name)}; dry run: nothing was written`);
  return result.rejected > 0 ? EXIT.failed : EXIT.ok;
}

const rejectedRecord = ({ code, pointer, detail }: DeadLetter, { line }: RawRecord): RejectedRecord => ({
  line,
  code,
  pointer,
  detail,
});

const MAX_SHOWN_TEXT = 2000;

function sourceText(raw: RawRecord): string {
  const text = raw.value === undefined ? raw.bytes.toString('utf8') : JSON.stringify(raw.value);
  return text.length > MAX_SHOWN_TEXT ? `${text.slice(0, MAX_SHOWN_TEXT)}…` : text;
}
