/** Commands that load, export and replay records. */
import { Argument } from 'commander';
import type { Io } from './io.js';
import { identifier, positiveNumber, type ReachlineCommand, STREAM_NAMES, wholeNumber } from './options.js';

const STREAMS_HELP = `
Streams: ${STREAM_NAMES.slice(0, 6).join(', ')},
${STREAM_NAMES.slice(6).join(', ')}. Records are those of POST /api/ingest/{stream}; loading them again changes nothing.
`;

const MAPPING_HELP = `
CSV: the first row names the columns, which have the names of the stream's fields unless a mapping says otherwise; lists
are split at semicolons, and an empty cell gives no value.

Mapping: --map takes a file that says where the value of each field comes from (docs/reference/mapping.md), of CSV and JSON:

  { "timezone": "Europe/Berlin",
    "fields": { "contact_id": ["CRM ID", "Lead ID"],
                "work_emails": "E-Mail",
                "created_at": { "path": "Created", "format": "DD.MM.YYYY HH:mm" } },
    "ignore": ["Notes"] }

--preset takes the name of a mapping that comes with Reachline (reachline presets), or of a source, such as hubspot; auto
recognizes the export of any of them. What a table lacks is read from the other tables of the same export, beside the file
or named with --with.
`;

export function addIngest(program: ReachlineCommand, io: Io, exit: (code: number) => void): void {
  program
    .add('ingest', 'load records from files, folders or standard input')
    .argument('<stream>', 'stream the records belong to')
    .argument(
      '<files...>',
      'NDJSON, CSV, XLSX (first sheet) or JSON arrays, also compressed (.gz, .zst); folders, or - for standard input',
    )
    .choice('--format <format>', 'format, where the file name does not show it', [
      'ndjson',
      'csv',
      'json',
      'xlsx',
    ])
    .option('--organization <id>', 'organization of records without one', identifier)
    .option('--map <file>', 'mapping file: how source records become records of the stream; see below')
    .option('--preset <name>', 'mapping of a known source instead of a file; auto recognizes it')
    .option('--with <file...>', 'other tables of the same export, which the mapping joins')
    .choice(
      '--date-order <order>',
      'day or month first in dates of digits, where the file does not show it',
      ['dmy', 'mdy'],
    )
    .choice('--decimal <mark>', 'decimal mark of numbers, where the file does not show it', ['.', ','])
    .option('--charset <name>', 'charset of a file that is not UTF-8, such as windows-1252')
    .option(
      '--header-row <number>',
      'line or row of the column names; those before it are left out',
      positiveNumber,
    )
    .choice(
      '--on-duplicate <way>',
      'what becomes of a contact with a new id whose work email or profile one other contact has: it is created beside the other (create, the default), changes the other, or is rejected',
      ['create', 'update', 'reject'],
    )
    .option(
      '--dry-run',
      'write nothing: show what the first records become, and everything that would be rejected',
    )
    .option(
      '--rejects <file>',
      'write rejected records to this file, byte for byte; with several files, a folder with one for each',
    )
    .option('--url <base>', 'send through this gateway instead of into the data folder (or REACHLINE_URL)')
    .option(
      '--api-key <key>',
      'key for --url, with the scope ingest:write (better REACHLINE_API_KEY, hidden from ps)',
    )
    .notes(STREAMS_HELP + MAPPING_HELP)
    .examples(
      'reachline ingest contacts contacts.ndjson',
      'reachline ingest website-visits exports/ archive/2026-*.ndjson.zst --organization org_acme',
      'reachline ingest contacts crm.csv --organization org_acme --map crm.json --dry-run',
      'reachline ingest network-a-deliveries linkedin_ad_analytics_by_creative.csv \\\n    --organization org_acme --preset auto',
      'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
      'zcat visits.ndjson.gz | reachline ingest website-visits -',
    )
    .action(async (stream, files, options) =>
      exit(await (await import('./commands/ingest.js')).ingest(io, { stream, files, ...options })),
    );
}

export function addMapping(program: ReachlineCommand, io: Io): void {
  const mapping = program.add('mapping', 'mapping files of exports that no preset loads');
  mapping
    .add('draft', 'write a mapping with guesses, and say what to look at')
    .argument('<file>', 'NDJSON, CSV, XLSX or JSON; - for standard input')
    .requiredOption('--stream <stream>', 'stream the records belong to')
    .choice('--format <format>', 'format, where the file name does not show it', [
      'ndjson',
      'csv',
      'json',
      'xlsx',
    ])
    .option('--charset <name>', 'charset of a file that is not UTF-8, such as windows-1252')
    .option(
      '--header-row <number>',
      'line or row of the column names; those before it are left out',
      positiveNumber,
    )
    .examples('reachline mapping draft leads.csv --stream contacts > leads.json')
    .action(async (file, options) => (await import('./commands/mapping.js')).draft(io, file, options));
}

export function addExport(program: ReachlineCommand, io: Io): void {
  program
    .add('export', 'write every match of a search or list to a file or standard output')
    .addArgument(new Argument('<what>', 'stream to export').choices(STREAM_NAMES))
    .choice('--format <format>', 'by the name of --out, else ndjson', ['csv', 'ndjson'])
    .option(
      '--filter <field=value...>',
      'fields of the request; several values of a list separated by commas',
    )
    .option('--out <file>', 'file to write; it appears once it is complete. Standard output when absent')
    .option('--organization <id>', 'organization', identifier)
    .option('--url <base>', 'read through this gateway instead of the data folder (or REACHLINE_URL)')
    .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)')
    .notes(`
Filters are the fields of the request in the API reference, such as query, country or sort_by. Contacts with the filter audience_id
are those of one audience. Campaigns, creatives and companies of network_a are whole records without filters; with start_date and
end_date they have their figures of these days. Deliveries and currency rates take no filters. The organization is that of the key; without --url,
--organization names it. A server that holds the data folder is read through.

What was exported goes into a store again with: reachline ingest <what> <file>. NDJSON is exact; in CSV, values of a list are joined
by semicolons, time series are left out, and ' stands before a cell that a spreadsheet would run as a formula.
`)
    .examples(
      'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
      'reachline export contacts --out contacts.csv',
      'reachline export contacts --filter query="marketing lead" country=US --out leads.ndjson',
      'reachline export network-a-campaigns --filter start_date=2026-10-01 end_date=2026-10-31 --format csv',
      'reachline export network-a-deliveries --out deliveries.ndjson',
      'reachline export audiences --organization org_acme | wc -l',
    )
    .action(async (what, options) =>
      (await import('./commands/export.js')).exportCommand(io, { what, ...options }),
    );
}

export function addDeadLetters(program: ReachlineCommand, io: Io): void {
  const deadLetters = program.add(
    'dead-letters',
    'list rejected records of HTTP ingest and Kafka, and replay them',
  );
  deadLetters
    .add('list', 'list those not replayed yet, oldest first')
    .option('--stream <streams>', 'of these streams, separated by commas; all when absent')
    .option('--organization <id>', 'only those of HTTP ingest of this organization', identifier)
    .option('--code <code>', 'only those rejected with this code')
    .option('--limit <number>', 'maximum number to list', positiveNumber, 100)
    .option('--all', 'also those already replayed')
    .option('--json', 'print one JSON object per line, of Kafka with the whole record')
    .notes(`
PLACE is partition/offset in the topic of the stream, or the line of an HTTP request; TIMES how often the record was rejected.
Of HTTP ingest there are the newest 10 000 of an organization, without values, for 30 days; topics keep theirs for 30 days.
`)
    .examples(
      'reachline dead-letters list --stream contacts --code invalid_json',
      'reachline dead-letters list --json > dead-letters.ndjson',
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).listDeadLetters(io, options));
  deadLetters
    .add('replay', 'send those of Kafka again, once each, or corrected records of HTTP ingest')
    .option('--stream <streams>', 'of these streams, separated by commas; all when absent')
    .option(
      '--from <file>',
      'send corrected records of HTTP ingest: lines of list --json with the record as value',
    )
    .option('--dry-run', 'print how many there are, and send none')
    .option('--rate <number>', 'records of Kafka per second; unlimited when absent', positiveNumber)
    .examples(
      'reachline dead-letters replay --dry-run',
      'reachline dead-letters replay --stream contacts --rate 100',
      'reachline dead-letters list --organization org_acme --json > rejected.ndjson',
      'reachline dead-letters replay --from rejected.ndjson   # once each line has its record as value',
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).replay(io, options));
  deadLetters
    .add('skip', 'move a record that blocks its partition to the dead letters')
    .requiredOption('--stream <stream>', 'stream of the record')
    .requiredOption('--partition <number>', 'partition of the record', wholeNumber)
    .requiredOption('--offset <number>', 'offset of the record', wholeNumber)
    .option('--dry-run', 'print how many records would be skipped, and skip none')
    .notes(`
For a blocked partition: its lag grows, and the log of the worker repeats which partition and offset it waits for. First check
whether the store is out; a worker waits for it by itself. Then:

  1. Stop all workers of the stream (the others may run).
  2. reachline dead-letters skip --stream <stream> --partition <number> --offset <number>
  3. Start the workers.

Uncommitted records before the offset are moved too. All of them become dead letters with the code skipped, so nothing is lost:
fix the cause, then run reachline dead-letters replay --stream <stream>.
`)
    .examples('reachline dead-letters skip --stream contacts --partition 3 --offset 120451 --dry-run')
    .action(async (options) => (await import('./commands/dead-letters.js')).skip(io, options));
}
