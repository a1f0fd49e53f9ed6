/** Every command with its options and help. Commands are imported when they run, so that help is quick. */

import { styleText } from 'node:util';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { readVersion } from '../shared/version.js';
import { type Io, printErr, printOut, showsColors } from './io.js';

/** Written out, as the schemas of the streams take longer to load than help may take. */
const STREAM_NAMES = [
  'contacts',
  'audiences',
  'website-visits',
  'network-a-campaigns',
  'network-a-creatives',
  'network-a-companies',
  'network-a-deliveries',
];

const STREAMS_HELP = `
Streams: ${STREAM_NAMES.slice(0, 6).join(', ')},
${STREAM_NAMES[6]}. Records are those of POST /api/ingest/{stream}; loading them again changes nothing.
`;

const MAPPING_HELP = `
CSV: the first row names the columns, which have the names of the stream's fields unless a mapping says otherwise; lists
are split at semicolons, and an empty cell gives no value.

Mapping: --map takes a file that says where the value of each field comes from (docs/ingest-mapping.md), of CSV and JSON:

  { "timezone": "Europe/Berlin",
    "fields": { "contact_id": ["CRM ID", { "path": "E-Mail", "hash": "email_" }],
                "work_emails": "E-Mail",
                "created_at": { "path": "Created", "format": "DD.MM.YYYY HH:mm" } },
    "ignore": ["Notes"] }

--preset takes the name of a mapping that comes with Reachline (reachline presets), or of a source, such as hubspot; auto
recognizes the export of any of them. What a table lacks is read from the other tables of the same export, beside the file
or named with --with.
`;

const organizationOption = () => new Option('--organization <id>', 'organization');
const jsonOption = () => new Option('--json', 'print one JSON object per line');

/** Commands that print warnings to a log or report of their own. */
const LOGS_WARNINGS = new Set(['serve', 'worker', 'doctor']);

/** `exit` receives the exit code of the command. */
export function createProgram(io: Io, exit: (code: number) => void): Command {
  const program = new Command('reachline')
    .description('Search contacts, audiences and website visits, and see what advertising does.')
    .version(readVersion().version)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => showsColors(io, 'stdout'),
      getErrHasColors: () => showsColors(io, 'stderr'),
    })
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .exitOverride()
    .showHelpAfterError('Run with --help to see how it is used.');
  // Without a command, the help is printed as a usage error.
  program.addHelpText('after', examples('reachline serve --demo', 'reachline doctor'));

  program.hook('preAction', async (_, command) => {
    if (LOGS_WARNINGS.has(command.name())) return;
    const { findIgnoredVariables, ignoredVariablesWarning } = await import('../shared/config.js');
    const warning = ignoredVariablesWarning(findIgnoredVariables(io.env));
    if (warning !== null) printErr(io, warning);
  });
  addServe(program, io, exit);
  addWorker(program, io, exit);
  addIngest(program, io, exit);
  program
    .command('presets')
    .description('list the exports that ingest --preset knows, or print one as a mapping file')
    .argument('[name]', 'preset to print, to be changed and loaded with ingest --map')
    .addHelpText('after', examples('reachline presets', 'reachline presets hubspot/contacts > hubspot.json'))
    .action(async (name) => (await import('./commands/presets.js')).presets(io, name));
  addExport(program, io);
  addDeadLetters(program, io);
  addKeys(program, io);
  addCredits(program, io);

  addAudiences(program, io);
  addContacts(program, io);
  program
    .command('migrate')
    .description('create and upgrade the stores; serve does so by itself')
    .option(
      '--rebuild <indices>',
      'also reindex these indices of Elasticsearch, while they are in use: contacts,visits',
    )
    .option(
      '--bootstrap',
      'create the accounts of ELASTICSEARCH_USERNAME and CLICKHOUSE_USERNAME first, with no more privileges than Reachline needs',
    )
    .addHelpText(
      'after',
      `
--bootstrap uses ELASTICSEARCH_ADMIN_USERNAME, CLICKHOUSE_ADMIN_USERNAME and their _PASSWORD, which nothing else needs.
`,
    )
    .addHelpText('after', examples('reachline migrate', 'reachline migrate --rebuild contacts'))
    .action(async (options) => (await import('./commands/migrate.js')).migrate(io, options));
  addBackup(program, io);
  program
    .command('demo')
    .description('load the sample data of the organization org_demo')
    .addHelpText('after', examples('reachline demo', 'REACHLINE_DATA_DIR=/tmp/try reachline demo'))
    .action(async () => (await import('./commands/demo.js')).demo(io));
  program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, as a client of a gateway')
    .option('--url <base>', 'address of the gateway (or REACHLINE_URL); http://127.0.0.1:8080 when absent')
    .addHelpText(
      'after',
      `
Started by an assistant, not by hand: docs/mcp.md has the settings for common ones. Needs REACHLINE_API_KEY.
`,
    )
    .addHelpText(
      'after',
      examples('REACHLINE_API_KEY="$KEY" reachline mcp --url https://reachline.example.com'),
    )
    .action(async (options) => (await import('./commands/mcp.js')).mcp(io, options));
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .addHelpText('after', examples('reachline openapi > openapi.json'))
    .action(async () => (await import('./commands/openapi.js')).openapi(io));
  program
    .command('schema')
    .description('print the JSON Schema of the records of a stream, or of mapping files')
    .addArgument(new Argument('<name>', 'stream, or mapping').choices([...STREAM_NAMES, 'mapping']))
    .addHelpText(
      'after',
      examples('reachline schema contacts', 'reachline schema mapping > mapping.schema.json'),
    )
    .action(async (name) => (await import('./commands/schema.js')).schema(io, name));
  program
    .command('completion')
    .description('print a script that completes commands, options and streams in a shell')
    .addArgument(new Argument('<shell>', 'shell that is to complete').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      examples(
        'source <(reachline completion bash)   # in ~/.bashrc',
        'source <(reachline completion zsh)    # in ~/.zshrc, after compinit',
        'reachline completion fish > ~/.config/fish/completions/reachline.fish',
      ),
    )
    .action(async (shell) =>
      printOut(io, (await import('./commands/completion.js')).completionScript(program, shell, STREAM_NAMES)),
    );
  program
    .command('doctor')
    .description('check settings and stores, and say what to fix')
    .option('--deep', 'also read everything that is stored, and check its integrity')
    .addHelpText(
      'after',
      examples('reachline doctor', 'PORT=9000 reachline doctor', 'reachline doctor --deep'),
    )
    .action(async (options) => exit(await (await import('./commands/doctor.js')).doctor(io, options)));
  return program;
}

function addServe(program: Command, io: Io, exit: (code: number) => void): void {
  program
    .command('serve')
    .description('run the gateway')
    .option('--demo', 'load the sample data into empty stores first')
    .option('--port <number>', 'port to listen on; beats PORT', portNumber)
    .addHelpText(
      'after',
      examples('reachline serve --demo', 'REACHLINE_DATA_DIR=/srv/reachline reachline serve --port 80'),
    )
    .action(async (options) => exit(await (await import('./commands/serve.js')).serve(io, options)));
}

function addWorker(program: Command, io: Io, exit: (code: number) => void): void {
  program
    .command('worker')
    .description('consume records from Kafka into the stores')
    .option('--streams <streams>', 'streams separated by commas; all when absent')
    .addHelpText(
      'after',
      `
Needs KAFKA_BROKERS. Every stream has a topic of its name and a consumer group; start at most as many workers as there
are partitions. Rejected records go to <topic>.dead-letter: see reachline dead-letters. During an outage of a store the worker
waits. Health and metrics are on REACHLINE_WORKER_PORT.
`,
    )
    .addHelpText(
      'after',
      examples(
        'KAFKA_BROKERS=127.0.0.1:9092 reachline worker',
        'KAFKA_BROKERS=k1:9092,k2:9092 reachline worker --streams website-visits,network-a-deliveries',
      ),
    )
    .action(async (options) => exit(await (await import('./commands/worker.js')).worker(io, options)));
}

function addIngest(program: Command, io: Io, exit: (code: number) => void): void {
  program
    .command('ingest')
    .description('load records from files, folders or standard input')
    .argument('<stream>', 'stream the records belong to')
    .argument(
      '<files...>',
      'NDJSON, CSV or JSON arrays, also compressed (.gz, .zst); folders, patterns, or - for standard input',
    )
    .addOption(
      new Option('--format <format>', 'format, where the file name does not show it').choices([
        'ndjson',
        'csv',
        'json',
      ]),
    )
    .addOption(new Option('--organization <id>', 'organization of records without one'))
    .option('--map <file>', 'mapping file: how source records become records of the stream; see below')
    .option('--preset <name>', 'mapping of a known source instead of a file; auto recognizes it')
    .option('--with <file...>', 'other tables of the same export, which the mapping joins')
    .option(
      '--dry-run',
      'write nothing: show what the first records become, and everything that would be rejected',
    )
    .option(
      '--rejects <file>',
      'write rejected records to this file, byte for byte; with several files, a folder with one for each',
    )
    .option('--restart', 'load everything again, also what an interrupted command has loaded')
    .option('--url <base>', 'send through this gateway instead of into the data folder (or REACHLINE_URL)')
    .option(
      '--api-key <key>',
      'key for --url, with the scope ingest:write (better REACHLINE_API_KEY, hidden from ps)',
    )
    .addHelpText('after', STREAMS_HELP + MAPPING_HELP)
    .addHelpText(
      'after',
      examples(
        'reachline ingest contacts contacts.ndjson',
        "reachline ingest website-visits exports/ 'archive/2026-*.ndjson.zst' --organization org_acme",
        'reachline ingest contacts crm.csv --organization org_acme --map crm.json --dry-run',
        'reachline ingest network-a-deliveries linkedin_ad_analytics_by_creative.csv \\\n    --organization org_acme --preset auto',
        'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
        'zcat visits.ndjson.gz | reachline ingest website-visits -',
      ),
    )
    .action(async (stream, files, options) =>
      exit(await (await import('./commands/ingest.js')).ingest(io, { stream, files, ...options })),
    );
}

function addExport(program: Command, io: Io): void {
  program
    .command('export')
    .description('write every match of a search or list to a file or standard output')
    .addArgument(
      new Argument('<what>', 'what to export').choices([
        'contacts',
        'audiences',
        'website-visits',
        'network-a-campaigns',
        'network-a-creatives',
        'network-a-companies',
      ]),
    )
    .addOption(
      new Option('--format <format>', 'by the name of --out, else ndjson').choices(['csv', 'ndjson']),
    )
    .option(
      '--filter <field=value...>',
      'fields of the request; several values of a list separated by commas',
    )
    .option('--out <file>', 'file to write; it appears once it is complete. Standard output when absent')
    .addOption(organizationOption())
    .option('--url <base>', 'read through this gateway instead of the data folder (or REACHLINE_URL)')
    .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)')
    .addHelpText(
      'after',
      `
Filters are the fields of the request in the API reference, such as query, country or sort_by. Contacts with the filter audience_id
are those of one audience. The lists of network_a need start_date and end_date. The organization is that of the key; without --url,
--organization names it. A server that holds the data folder is read through.

What was exported goes into a store again with: reachline ingest <what> <file>. NDJSON is exact; in CSV, values of a list are joined
by semicolons, time series are left out, and ' stands before a cell that a spreadsheet would run as a formula.
`,
    )
    .addHelpText(
      'after',
      examples(
        'export REACHLINE_URL=http://127.0.0.1:8080 REACHLINE_API_KEY="$KEY"',
        'reachline export contacts --out contacts.csv',
        'reachline export contacts --filter query="marketing lead" country=US --out leads.ndjson',
        'reachline export network-a-campaigns --filter start_date=2026-10-01 end_date=2026-10-31 --format csv',
        'reachline export audiences --organization org_acme | wc -l',
      ),
    )
    .action(async (what, options) =>
      (await import('./commands/export.js')).exportMatches(io, { what, ...options }),
    );
}

function addBackup(program: Command, io: Io): void {
  program
    .command('backup')
    .description('copy the data folder as it is at one moment, also while a server has it')
    .argument('<folder>', 'folder that the backup becomes; new or empty')
    .addHelpText(
      'after',
      `
Everything acknowledged before the command is in the backup. The folder appears when it is complete; until then it is named
<folder>.partial. For stores that are servers, see docs/operating/backup.md.
`,
    )
    .addHelpText(
      'after',
      examples(
        'reachline backup /backups/reachline-$(date +%F)',
        'reachline restore /backups/reachline-2026-11-22 --dry-run',
      ),
    )
    .action(async (folder) => (await import('./commands/backup.js')).backup(io, folder));
  program
    .command('restore')
    .description('put a backup into an empty data folder, after comparing every file')
    .argument('<backup>', 'folder of the backup')
    .option('--data <folder>', 'data folder, new or empty; REACHLINE_DATA_DIR when absent')
    .option('--suppressions-from <folder>', 'newer data folder or backup, whose erasures are applied again')
    .option('--dry-run', 'read and compare the whole backup, and write nothing')
    .addHelpText(
      'after',
      examples(
        'reachline restore /backups/reachline-2026-11-22',
        'reachline restore /backups/reachline-2026-11-22 --data /srv/reachline',
      ),
    )
    .action(async (folder, options) =>
      (await import('./commands/backup.js')).restore(io, { backup: folder, ...options }),
    );
}

function addDeadLetters(program: Command, io: Io): void {
  const deadLetters = program
    .command('dead-letters')
    .description('list rejected records of HTTP ingest and Kafka, and replay them')
    .addHelpText('after', examples('reachline dead-letters list', 'reachline dead-letters replay --dry-run'));
  deadLetters
    .command('list')
    .description('list those not replayed yet, oldest first')
    .option('--stream <streams>', 'of these streams, separated by commas; all when absent')
    .addOption(new Option('--organization <id>', 'only those of HTTP ingest of this organization'))
    .option('--code <code>', 'only those rejected with this code')
    .option('--limit <number>', 'maximum number to list', positiveNumber, 100)
    .option('--all', 'also those already replayed')
    .option('--json', 'print one JSON object per line, with the whole record')
    .addHelpText(
      'after',
      `
PLACE is partition/offset in the topic of the stream, or the line of an HTTP request; TIMES how often the record was rejected.
HTTP ingest keeps the newest 10 000 of an organization, 16 MiB at most, for 30 days; topics keep theirs for 30 days.
`,
    )
    .addHelpText(
      'after',
      examples(
        'reachline dead-letters list --stream contacts --code invalid_json',
        'reachline dead-letters list --json > dead-letters.ndjson',
      ),
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).listDeadLetters(io, options));
  deadLetters
    .command('replay')
    .description('send them again, once each: to their topics, or through HTTP ingest')
    .option('--stream <streams>', 'of these streams, separated by commas; all when absent')
    .addOption(new Option('--organization <id>', 'only those of HTTP ingest of this organization'))
    .option('--from <file>', 'send corrected records of HTTP ingest: lines of list --json with another value')
    .option('--dry-run', 'print how many there are, and send none')
    .option('--rate <number>', 'records of Kafka per second; unlimited when absent', positiveNumber)
    .addHelpText(
      'after',
      examples(
        'reachline dead-letters replay --dry-run',
        'reachline dead-letters replay --stream contacts --rate 100',
        'reachline dead-letters list --organization org_acme --json > rejected.ndjson',
        'reachline dead-letters replay --from rejected.ndjson   # once its values are corrected',
      ),
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).replay(io, options));
  deadLetters
    .command('skip')
    .description('move a record that blocks its partition to the dead letters')
    .requiredOption('--stream <stream>', 'stream of the record')
    .requiredOption('--partition <number>', 'partition of the record', wholeNumber)
    .requiredOption('--offset <number>', 'offset of the record', wholeNumber)
    .option('--dry-run', 'print how many records would be skipped, and skip none')
    .addHelpText(
      'after',
      `
For a blocked partition: its lag grows, and the log of the worker repeats which partition and offset it waits for. First check
whether the store is out; a worker waits for it by itself. Then:

  1. Stop all workers of the stream (the others may run).
  2. reachline dead-letters skip --stream <stream> --partition <number> --offset <number>
  3. Start the workers.

Uncommitted records before the offset are moved too. All of them become dead letters with the code skipped, so nothing is lost:
fix the cause, then run reachline dead-letters replay --stream <stream>.
`,
    )
    .addHelpText(
      'after',
      examples('reachline dead-letters skip --stream contacts --partition 3 --offset 120451 --dry-run'),
    )
    .action(async (options) => (await import('./commands/dead-letters.js')).skip(io, options));
}

function addKeys(program: Command, io: Io): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  keys
    .command('create')
    .description('create a key and print it; it is shown only once')
    .addOption(organizationOption().makeOptionMandatory())
    .option('--name <text>', 'what the key is for')
    .option(
      '--scopes <scopes>',
      'scopes separated by commas, * for all; all but ingest:write and contacts:erase when absent',
    )
    .option('--expires <date-time>', 'time of expiry, such as 2027-01-31T00:00:00Z')
    .addHelpText(
      'after',
      examples(
        'KEY=$(reachline keys create --organization org_acme)',
        'reachline keys create --organization org_acme --name loader --scopes ingest:write',
      ),
    )
    .action(async (options) => (await import('./commands/keys.js')).createKey(io, options));
  keys
    .command('list')
    .description('list keys and their last use, to the hour, without their secrets')
    .addOption(new Option('--organization <id>', 'only the keys of this organization'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('reachline keys list --organization org_acme', 'reachline keys list --json | jq -r .id'),
    )
    .action(async (options) => (await import('./commands/keys.js')).listKeys(io, options));
  keys
    .command('revoke')
    .description('revoke a key within 5 seconds, in every process')
    .argument('<key id>', 'the 8 characters after rl_live_')
    .option('--yes', 'do not ask first, as is done on a terminal')
    .addHelpText('after', examples('reachline keys revoke 4fK9aQ2z', 'reachline keys revoke 4fK9aQ2z --yes'))
    .action(async (id, options) => (await import('./commands/keys.js')).revokeKey(io, id, options));
  keys.addHelpText(
    'after',
    examples('KEY=$(reachline keys create --organization org_acme)', 'reachline keys list'),
  );
}

function addAudiences(program: Command, io: Io): void {
  const audiences = program.command('audiences').description('create and list audiences');
  audiences
    .command('create')
    .description('create an audience and print its id')
    .addOption(organizationOption().makeOptionMandatory())
    .requiredOption('--name <name>', 'name of the audience')
    .option('--id <id>', 'its identifier; generated when absent')
    .option('--description <text>', 'purpose of the audience')
    .addHelpText('after', examples('reachline audiences create --organization org_acme --name "Trial users"'))
    .action(async (options) => (await import('./commands/audiences.js')).createAudience(io, options));
  audiences
    .command('list')
    .description('list audiences, newest first')
    .addOption(organizationOption().makeOptionMandatory())
    .option('--limit <number>', 'maximum number to list', positiveNumber, 100)
    .addOption(jsonOption())
    .addHelpText('after', examples('reachline audiences list --organization org_acme'))
    .action(async (options) => (await import('./commands/audiences.js')).listAudiences(io, options));
  audiences.addHelpText(
    'after',
    examples('reachline audiences create --organization org_acme --name Customers'),
  );
}

function addContacts(program: Command, io: Io): void {
  const contacts = program.command('contacts').description('delete, erase and export single persons');
  const command = (name: string, description: string) =>
    contacts
      .command(name)
      .description(description)
      .addOption(organizationOption())
      .option('--url <base>', 'go through this gateway instead of the data folder (or REACHLINE_URL)')
      .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)');
  const personCommand = (name: string, description: string) =>
    command(name, description)
      .option('--id <id>', 'the contact with this id')
      .option('--email <address>', 'every contact with this work or personal email')
      .option('--profile <url>', 'every contact with this profile address');
  personCommand('delete', 'delete contacts; a newer record brings one back')
    .option('--dry-run', 'print which contacts there are, and delete none')
    .option('--yes', 'do not ask first, as is done on a terminal')
    .addHelpText(
      'after',
      examples(
        'reachline contacts delete --organization org_acme --id con_0001',
        'reachline contacts delete --organization org_acme --email ada@example.com --dry-run',
      ),
    )
    .action(async (options) => (await import('./commands/contacts.js')).deleteContacts(io, options));
  personCommand('erase', 'remove a person from every file, and keep the person out')
    .option('--dry-run', 'print which contacts there are, and erase none')
    .option('--yes', 'do not ask first, as is done on a terminal')
    .addHelpText(
      'after',
      `
Cannot be undone. Prints what was erased and the proof, which holds no personal data; contacts erasures prints it again. Salted hashes
of id, emails and profile address stay, by which later records of the person are recognized and left out.
`,
    )
    .addHelpText(
      'after',
      examples('reachline contacts erase --organization org_acme --email ada@example.com --dry-run'),
    )
    .action(async (options) => (await import('./commands/contacts.js')).eraseContacts(io, options));
  command('erasures', 'print the proofs of erasures, one JSON object per line')
    .addHelpText('after', examples('reachline contacts erasures --organization org_acme'))
    .action(async (options) => (await import('./commands/contacts.js')).listErasures(io, options));
  personCommand('export-person', 'print everything that is kept of a person as JSON')
    .addHelpText(
      'after',
      examples('reachline contacts export-person --organization org_acme --email ada@example.com'),
    )
    .action(async (options) => (await import('./commands/contacts.js')).exportPerson(io, options));
  contacts.addHelpText(
    'after',
    examples('reachline contacts erase --organization org_acme --email ada@example.com'),
  );
}

function addCredits(program: Command, io: Io): void {
  const credits = program
    .command('credits')
    .description('the credits of an organization for creating contacts');
  const amount = () => new Argument('<amount>', 'a whole number, 0 or more').argParser(wholeNumber);
  credits
    .command('set')
    .description('set the balance; the organization becomes metered')
    .addOption(organizationOption().makeOptionMandatory())
    .addArgument(amount())
    .addHelpText('after', examples('reachline credits set --organization org_acme 500'))
    .action(async (value, { organization }) =>
      (await import('./commands/credits.js')).setCredits(io, organization, value),
    );
  credits
    .command('grant')
    .description('add to the balance')
    .addOption(organizationOption().makeOptionMandatory())
    .addArgument(amount())
    .addHelpText('after', examples('reachline credits grant --organization org_acme 100'))
    .action(async (value, { organization }) =>
      (await import('./commands/credits.js')).grantCredits(io, organization, value),
    );
  credits
    .command('show')
    .description('print the balance, or unmetered')
    .addOption(organizationOption().makeOptionMandatory())
    .addHelpText('after', examples('reachline credits show --organization org_acme'))
    .action(async ({ organization }) =>
      (await import('./commands/credits.js')).showCredits(io, organization),
    );
  credits.addHelpText('after', examples('reachline credits set --organization org_acme 500'));
}

const examples = (...lines: string[]) =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('It is a whole number, 0 or more.');
  }
  return value;
}

function positiveNumber(text: string): number {
  const value = wholeNumber(text);
  if (value === 0) throw new InvalidArgumentError('It must be at least 1.');
  return value;
}

function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value > 65535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return value;
}
