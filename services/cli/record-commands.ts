/** Commands that load, export and replay records. */
import { Argument } from 'commander';
import type { Io } from './io.js';
import { identifier, positiveNumber, type ReachlineCommand, STREAM_NAMES, wholeNumber } from './options.js';

const STREAMS_HELP = `
Streams: ${STREAM_NAMES.slice(0, 6).join(', ')},
${STREAM_NAMES.slice(6).join(', ')}. Records have the format of POST /api/ingest/{stream}. Loading the same records again changes nothing.
`;

const MAPPING_HELP = `
CSV: the first row names the columns. Without a mapping, they must be the names of the stream's fields. Lists are split at
semicolons, and an empty cell means no value.

Mapping: --map takes a file that says where the value of each field comes from, in CSV or JSON (docs/reference/mapping.md):

  { "timezone": "Europe/Berlin",
    "fields": { "contact_id": ["CRM ID", "Lead ID"],
                "work_emails": "E-Mail",
                "created_at": { "path": "Created", "format": "DD.MM.YYYY HH:mm" } },
    "ignore": ["Notes"] }

--preset takes the name of a mapping that comes with Reachline (see reachline presets), or of a source, such as hubspot. With
auto, Reachline recognizes the source. If a table lacks values, they are read from other tables of the same export: files in
the same folder, or named with --with.
`;

export function addIngest(program: ReachlineCommand, io: Io, exit: (code: number) => void): void {
  program
    .add('ingest', 'load records from files, folders or standard input')
    .argument('<stream>', 'stream that the records belong to')
    .argument(
      '<files...>',
      'NDJSON, CSV, XLSX (first sheet) or JSON arrays, also compressed (.gz, .zst); folders, or - for standard input',
    )
    .choice('--format <format>', 'format, if the file name does not show it', [
      'ndjson',
      'csv',
      'json',
      'xlsx',
    ])
    .option('--organization <id>', 'organization of records that name none', identifier)
    .option('--map <file>', 'mapping file that turns source records into records of the stream; see below')
    .option('--preset <name>', 'built-in mapping of a known source; auto recognizes the source')
    .option('--with <file...>', 'other tables of the same export, joined by the mapping')
    .choice(
      '--date-order <order>',
      'whether numeric dates begin with the day or the month, if the file does not show it',
      ['dmy', 'mdy'],
    )
    .choice('--decimal <mark>', 'decimal mark of numbers, if the file does not show it', ['.', ','])
    .option('--charset <name>', 'charset of a file that is not UTF-8, such as windows-1252')
    .option(
      '--header-row <number>',
      'line or row with the column names; earlier rows are skipped',
      positiveNumber,
    )
    .choice(
      '--on-duplicate <way>',
      'what to do with a contact that has a new id but the work email or profile of one stored contact: create it as well (default), update the stored contact, or reject it',
      ['create', 'update', 'reject'],
    )
    .option(
      '--import <id>',
      'import that becomes the data_import_id of the contacts that the command creates; imports undo deletes them',
      identifier,
    )
    .option('--audience <id>', 'audience that all contacts of the files join', identifier)
    .option(
      '--dry-run',
      'write nothing; show the first converted records and every record that would be rejected',
    )
    .option(
      '--rejects <file>',
      'file for the rejected records, byte for byte; with several input files, a folder with one file for each',
    )
    .option(
      '--max-rejected <number>',
      'exit with 0 if at most so many records are rejected (default: 0)',
      wholeNumber,
    )
    .option('--url <base>', 'send to this gateway instead of the data folder (or REACHLINE_URL)')
    .option(
      '--api-key <key>',
      'key for --url, with the scope ingest:write (better REACHLINE_API_KEY, hidden from ps)',
    )
    .notes(STREAMS_HELP + MAPPING_HELP)
    .examples(
      'reachline ingest contacts contacts.ndjson',
      'reachline ingest website-visits exports/ archive/2026-*.ndjson.zst --organization org_acme',
      'reachline ingest contacts crm.csv --organization org_acme --map crm.json --dry-run',
      'reachline ingest contacts webinar.csv --organization org_acme --preset auto \\\n    --audience aud_webinar --import webinar-2026-11',
      'reachline ingest network-a-deliveries linkedin_ad_analytics_by_creative.csv \\\n    --organization org_acme --preset auto',
      'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
      'zcat visits.ndjson.gz | reachline ingest website-visits -',
    )
    .action(async (stream, files, options) =>
      exit(await (await import('./commands/ingest.js')).ingest(io, { stream, files, ...options })),
    );
}

export function addMapping(program: ReachlineCommand, io: Io): void {
  const mapping = program.add('mapping', 'draft mapping files for exports without a preset');
  mapping
    .add('draft', 'print a mapping with guesses, and list what to check')
    .argument('<file>', 'NDJSON, CSV, XLSX or JSON; - for standard input')
    .requiredOption('--stream <stream>', 'stream that the records belong to')
    .choice('--format <format>', 'format, if the file name does not show it', [
      'ndjson',
      'csv',
      'json',
      'xlsx',
    ])
    .option('--charset <name>', 'charset of a file that is not UTF-8, such as windows-1252')
    .option(
      '--header-row <number>',
      'line or row with the column names; earlier rows are skipped',
      positiveNumber,
    )
    .examples('reachline mapping draft leads.csv --stream contacts > leads.json')
    .action(async (file, options) => (await import('./commands/mapping.js')).draft(io, file, options));
}

export function addExport(program: ReachlineCommand, io: Io): void {
  program
    .add('export', 'write all matches of a search or list to a file or standard output')
    .addArgument(
      new Argument('<what>', 'stream to export, or audience for its contacts').choices([
        ...STREAM_NAMES,
        'audience',
      ]),
    )
    .argument('[id]', 'id of the audience', identifier)
    .choice('--as <list>', 'write contacts as a list that network_a takes as an upload', [
      'network-a-contacts',
      'network-a-companies',
    ])
    .choice('--format <format>', 'format (default: from the name of --out, otherwise ndjson)', [
      'csv',
      'ndjson',
    ])
    .option(
      '--filter <field=value...>',
      'fields of the request; separate several values of a list with commas',
    )
    .option('--out <file>', 'file to write, which appears once it is complete (default: standard output)')
    .option('--organization <id>', 'organization', identifier)
    .option('--url <base>', 'read from this gateway instead of the data folder (or REACHLINE_URL)')
    .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)')
    .notes(`
Filters are the fields of the request in the API reference, such as query, country or sort_by. The filter audience_id exports the
contacts of one audience. Without filters, campaigns, creatives and companies of network_a are exported as records; with start_date
and end_date, with their metrics of these days. Deliveries and currency rates take no filters. The API key determines the
organization; without --url, --organization names it. If a server uses the data folder, the export goes through the server.

To load an export again: reachline ingest <what> <file>. NDJSON is exact. CSV joins the values of a list with semicolons, leaves
time series out, and puts ' before a cell that a spreadsheet would run as a formula.

--as network-a-contacts writes a row for each email, as its SHA-256 hash. Names, job titles and companies in the row are readable.
Contacts without an email need both names.
--as network-a-companies writes a row for each company. Upload the file in Campaign Manager under Audiences; a list there has 300
to 300 000 rows.
`)
    .examples(
      'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
      'reachline export contacts --out contacts.csv',
      'reachline export contacts --filter query="marketing lead" country=US --out leads.ndjson',
      'reachline export network-a-campaigns --filter start_date=2026-10-01 end_date=2026-10-31 --format csv',
      'reachline export network-a-deliveries --out deliveries.ndjson',
      'reachline export audiences --organization org_acme | wc -l',
      'reachline export audience aud_customers --as network-a-contacts --out upload.csv',
    )
    .action(async (what, id, options) =>
      (await import('./commands/export.js')).exportCommand(io, { what, id, ...options }),
    );
}

export function addChanges(program: ReachlineCommand, io: Io, exit: (code: number) => void): void {
  program
    .add('changes', 'post what changes about contacts to another system, or print it')
    .requiredOption('--organization <id>', 'organization', identifier)
    .option('--filter <file>', 'JSON file with the filters of a contact search (default: all contacts)')
    .requiredOption('--state <file>', 'file that keeps how far the receiver is; one per receiver')
    .choice('--out <file>', 'print one message per line to standard output', ['-'])
    .option('--post <url>', 'post one message per request to this https address, as Standard Webhooks')
    .option('--secret-file <file>', 'file with the secret that signs messages, or two on two lines')
    .option('--allow-private', 'permit a receiver with a private or loopback address, and http to it')
    .option('--every <seconds>', 'seconds between two looks for new changes', positiveNumber, 5)
    .option('--once', 'end when the receiver has everything')
    .option('--url <base>', 'gateway to read from (default: REACHLINE_URL, otherwise http://127.0.0.1:8080)')
    .option('--api-key <key>', 'key with the scope contacts:read (better REACHLINE_API_KEY, hidden from ps)')
    .notes(`
Messages are contact.present, contact.absent and changes.complete. Each is delivered at least once and in order, also after a crash.
Whatever is not answered with 2xx is sent again after 1 second to 5 minutes, until it is. Redirects are not followed.
docs/guides/keep-in-step.md has a receiver and a systemd unit.
`)
    .examples(
      'export REACHLINE_API_KEY="$KEY"',
      'reachline changes --organization org_acme --state changes.json --out - --once',
      'reachline changes --organization org_acme --state crm.json --secret-file crm.secret \\\n    --filter customers.json --post https://crm.example.com/hook',
    )
    .action(async (options) => exit(await (await import('./commands/changes.js')).changes(io, options)));
}

export function addDeadLetters(program: ReachlineCommand, io: Io): void {
  const deadLetters = program.add(
    'dead-letters',
    'list rejected records of HTTP ingest and Kafka, and replay them',
  );
  deadLetters
    .add(
      'list',
      'list dead letters that were not replayed yet: those of HTTP ingest, newest first, then those of Kafka, oldest first',
    )
    .option('--stream <streams>', 'only these streams, separated by commas (default: all)')
    .option('--organization <id>', 'only dead letters of HTTP ingest of this organization', identifier)
    .option('--code <code>', 'only dead letters with this code')
    .option('--limit <number>', 'maximum number to list', positiveNumber, 100)
    .option('--all', 'also list dead letters that were already replayed')
    .option('--json', 'print one JSON object per line; dead letters of Kafka have the whole record')
    .notes(`
PLACE is the partition/offset in the topic of the stream, or the line of an HTTP request. TIMES is how often the record was
rejected. Dead letters are kept for 30 days. For HTTP ingest, the newest 10 000 per organization are kept, without values.
`)
    .examples(
      'reachline dead-letters list --stream contacts --code invalid_json',
      'reachline dead-letters list --json > dead-letters.ndjson',
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).listDeadLetters(io, options));
  deadLetters
    .add('replay', 'send dead letters of Kafka again, once each, or corrected records of HTTP ingest')
    .option('--stream <streams>', 'only these streams, separated by commas (default: all)')
    .option(
      '--from <file>',
      'file with corrected records of HTTP ingest: lines of list --json with the record added as value',
    )
    .option('--dry-run', 'print how many records would be sent, and send nothing')
    .option('--rate <number>', 'records of Kafka to send per second (default: unlimited)', positiveNumber)
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
    .option('--dry-run', 'print how many records would be skipped, and skip nothing')
    .notes(`
Use this for a blocked partition: its lag grows, and the log of the worker repeats the partition and offset that it waits for. First
check whether a store is unavailable: a worker waits until the store is back. Otherwise:

  1. Stop all workers of the stream (the others may run).
  2. reachline dead-letters skip --stream <stream> --partition <number> --offset <number>
  3. Start the workers.

Uncommitted records before the offset are moved too. All these records become dead letters with the code skipped, so nothing is
lost. Fix the cause, then run reachline dead-letters replay --stream <stream>.
`)
    .examples('reachline dead-letters skip --stream contacts --partition 3 --offset 120451 --dry-run')
    .action(async (options) => (await import('./commands/dead-letters.js')).skip(io, options));
}
