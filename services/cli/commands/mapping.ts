import { basename } from 'node:path';
import { AmbiguousInputError, settleColumns } from '../../../ingest/mapping/column-forms.js';
import { compileMapping } from '../../../ingest/mapping/compile.js';
import { draftMapping, takesPeople } from '../../../ingest/mapping/draft.js';
import { peekRecords } from '../../../ingest/sources/recognize-text.js';
import { UsageError } from '../errors.js';
import type { Format } from '../ingest/input.js';
import { openFile, readingOptions } from '../ingest/mapped-input.js';
import { type Io, printErr, printOut } from '../io.js';
import { requireStream } from '../streams.js';

/** Prints a draft mapping for the export of an unknown source, and what to check in it. Throws UsageError. */
export async function draft(
  io: Io,
  file: string,
  command: { stream: string; format?: Format; charset?: string; headerRow?: number },
): Promise<void> {
  const stream = requireStream(command.stream);
  const { input, text } = await openFile(io, file, command.format, {
    headers: 'any',
    charset: command.charset,
    headerRow: command.headerRow,
  });
  try {
    const columns = Object.fromEntries(text.header?.columns.map((name) => [name, '']) ?? []);
    const rows = await peekRecords(text);
    const samples = rows.length > 0 || !text.header ? rows.map((row) => ({ ...columns, ...row })) : [columns];
    const preamble = text.header?.preamble ?? '';
    const { mapping, todos } = draftMapping(stream, samples, {
      columns: text.header?.columns,
      preambleLines: preamble.split('\n').length - 1,
    });
    if (!takesPeople(mapping)) {
      const listed = (text.header?.columns ?? Object.keys(samples[0] ?? {})).join(', ');
      throw new UsageError(
        `No column of ${basename(file)} looks like a name or an address of a person: ${listed}. Write a mapping with fields such as "last_name" or "work_emails"; reachline schema mapping prints its format.`,
      );
    }
    if (text.header !== undefined) todos.push(...(await ambiguities(mapping, stream, samples, preamble)));
    printOut(io, JSON.stringify(mapping, null, 2));
    for (const todo of todos) printErr(io, `TODO ${todo}`);
    const { format } = command;
    const reading = [...(format === undefined ? [] : [`--format ${format}`]), ...readingOptions(command)];
    const options = [...reading, '--map <file> --dry-run'].join(' ');
    printErr(io, `Save it, and check the first records: reachline ingest ${stream.name} ${file} ${options}`);
  } finally {
    input.close();
    text.close();
  }
}

/** Questions that the first rows of a table leave open. */
async function ambiguities(
  mapping: Parameters<typeof compileMapping>[0],
  stream: Parameters<typeof compileMapping>[1],
  rows: Parameters<typeof draftMapping>[1],
  preamble: string,
): Promise<string[]> {
  try {
    await settleColumns(
      compileMapping(mapping, stream).openColumns,
      { rows, preamble, isWhole: false, isOwnForm: false },
      {},
    );
    return [];
  } catch (error) {
    if (!(error instanceof AmbiguousInputError)) throw error;
    return [error.message];
  }
}
