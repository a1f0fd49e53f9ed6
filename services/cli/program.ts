/** Every command with its options and help. Commands are imported when they run, so that help is quick. */

import { styleText } from 'node:util';
import { Argument } from 'commander';
import { readVersion } from '../shared/version.js';
import { type Io, printable, printErr, showsColors } from './io.js';
import { withoutMcp } from './mcp-loader.js';
import { portNumber, ReachlineCommand, STREAM_NAMES } from './options.js';
import { addAudiences, addContacts, addCredits, addKeys } from './organization-commands.js';
import { addDeadLetters, addExport, addIngest, addMapping } from './record-commands.js';

/** Commands that print warnings to a log or report of their own. */
const LOGS_WARNINGS = new Set(['serve', 'worker', 'doctor']);

/** `exit` receives the exit code of the command. */
export function createProgram(io: Io, exit: (code: number) => void): ReachlineCommand {
  const program = new ReachlineCommand('reachline')
    .description('Search contacts, audiences and website visits, and see what advertising does.')
    .version(readVersion().version)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(printable(text)),
      getOutHasColors: () => showsColors(io, 'stdout'),
      getErrHasColors: () => showsColors(io, 'stderr'),
    })
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .exitOverride()
    .showHelpAfterError('Run with --help to see how it is used.')
    .examples('reachline serve --demo', 'reachline doctor');
  program.hook('preAction', async (_, command) => {
    if (LOGS_WARNINGS.has(command.name())) return;
    const { findIgnoredVariables, ignoredVariablesWarning } = await import('../shared/config.js');
    const warning = ignoredVariablesWarning(findIgnoredVariables(io.env));
    if (warning !== null) printErr(io, warning);
  });
  program
    .add('serve', 'run the gateway')
    .option('--demo', 'load the sample data into empty stores first')
    .option('--port <number>', 'port to listen on; beats PORT', portNumber)
    .examples('reachline serve --demo', 'REACHLINE_DATA_DIR=/srv/reachline reachline serve --port 80')
    .action(async (options) => exit(await (await import('./commands/serve.js')).serve(io, options)));
  program
    .add('worker', 'consume records from Kafka into the stores')
    .option('--streams <streams>', 'streams separated by commas; all when absent')
    .notes(`
Needs KAFKA_BROKERS. Every stream has a topic of its name and a consumer group; start at most as many workers as there
are partitions. Rejected records go to <topic>.dead-letter: see reachline dead-letters. During an outage of a store the worker
waits. Health and metrics are on REACHLINE_WORKER_PORT.
`)
    .examples(
      'KAFKA_BROKERS=127.0.0.1:9092 reachline worker',
      'KAFKA_BROKERS=k1:9092,k2:9092 reachline worker --streams website-visits,network-a-deliveries',
    )
    .action(async (options) => exit(await (await import('./commands/worker.js')).worker(io, options)));
  addIngest(program, io, exit);
  program
    .add('presets', 'list the exports that ingest --preset knows, or print one as a mapping file')
    .argument('[name]', 'preset to print, to be changed and loaded with ingest --map')
    .examples('reachline presets', 'reachline presets hubspot/contacts > hubspot.json')
    .action(async (name) => (await import('./commands/presets.js')).presets(io, name));
  addMapping(program, io);
  addExport(program, io);
  addDeadLetters(program, io);
  addKeys(program, io);
  addCredits(program, io);

  addAudiences(program, io);
  addContacts(program, io);
  program
    .add('migrate', 'create and upgrade the stores; serve does so by itself')
    .option(
      '--rebuild <indices>',
      'also reindex these indices of Elasticsearch, while they are in use: contacts,visits',
    )
    .option(
      '--bootstrap',
      'create the accounts of ELASTICSEARCH_USERNAME and CLICKHOUSE_USERNAME first, with no more privileges than Reachline needs',
    )
    .notes(
      '--bootstrap uses ELASTICSEARCH_ADMIN_USERNAME, CLICKHOUSE_ADMIN_USERNAME and their _PASSWORD, which nothing else needs.',
    )
    .examples('reachline migrate', 'reachline migrate --rebuild contacts')
    .action(async (options) => (await import('./commands/migrate.js')).migrate(io, options));
  program
    .add('copy', 'copy contacts and audiences into ClickHouse now, where SQL reads them')
    .notes(
      'Needs ELASTICSEARCH_URL and CLICKHOUSE_URL. Workers do so every REACHLINE_SQL_COPY_MINUTES; visits are there as soon as they are written.',
    )
    .examples('reachline copy')
    .action(async () => (await import('./commands/copy.js')).copy(io));
  program
    .add('backup', 'copy the data folder as it is at one moment, also while a server has it')
    .argument('<folder>', 'folder that the backup becomes; new or empty')
    .notes(`
Everything acknowledged before the command is in the backup. The folder appears when it is complete; until then it is named
<folder>.partial. For stores that are servers, see docs/operating/backup.md.
`)
    .examples(
      'reachline backup /backups/reachline-$(date +%F)',
      'reachline restore /backups/reachline-2026-11-22 --dry-run',
    )
    .action(async (folder) => (await import('./commands/backup.js')).backup(io, folder));
  program
    .add('restore', 'put a backup into an empty data folder, after comparing every file')
    .argument('<backup>', 'folder of the backup')
    .option('--data <folder>', 'data folder, new or empty; REACHLINE_DATA_DIR when absent')
    .option('--suppressions-from <folder>', 'newer data folder or backup, whose erasures are applied again')
    .option('--dry-run', 'read and compare the whole backup, and write nothing')
    .examples(
      'reachline restore /backups/reachline-2026-11-22',
      'reachline restore /backups/reachline-2026-11-22 --data /srv/reachline',
    )
    .action(async (folder, options) =>
      (await import('./commands/backup.js')).restore(io, { backup: folder, ...options }),
    );
  program
    .add('demo', 'load the sample data of the organization org_demo')
    .examples('reachline demo', 'REACHLINE_DATA_DIR=/tmp/try reachline demo')
    .action(async () => (await import('./commands/demo.js')).demo(io));
  program
    .add('mcp', 'serve the Model Context Protocol on standard input and output, as a client of a gateway')
    .option('--url <base>', 'address of the gateway (or REACHLINE_URL); http://127.0.0.1:8080 when absent')
    .notes(
      'Started by an assistant, not by hand: docs/reference/mcp.md has the settings for common ones. Needs REACHLINE_API_KEY.',
    )
    .examples('REACHLINE_API_KEY="$KEY" reachline mcp --url https://reachline.example.com')
    .action(async (options) => (await import('./commands/mcp.js').catch(withoutMcp)).mcp(io, options));
  program
    .add('openapi', 'print the OpenAPI document')
    .examples('reachline openapi > openapi.json')
    .action(async () => (await import('./commands/openapi.js')).openapi(io));
  program
    .add('schema', 'print the JSON Schema of the records of a stream, or of mapping files')
    .addArgument(new Argument('<name>', 'stream, or mapping').choices([...STREAM_NAMES, 'mapping']))
    .examples('reachline schema contacts', 'reachline schema mapping > mapping.schema.json')
    .action(async (name) => (await import('./commands/schema.js')).schema(io, name));
  program
    .add('completion', 'print a script that completes commands, options and streams in a shell')
    .addArgument(new Argument('<shell>', 'shell that is to complete').choices(['bash', 'zsh', 'fish']))
    .argument('[words...]', 'words of a command line, for which the script asks what may stand for the last')
    .examples(
      'source <(reachline completion bash)   # in ~/.bashrc',
      'source <(reachline completion zsh)    # in ~/.zshrc, after compinit',
      'reachline completion fish > ~/.config/fish/completions/reachline.fish',
    )
    .action(async (shell, words) =>
      (await import('./commands/completion.js')).completion(io, program, shell, words),
    );
  program
    .add('doctor', 'check settings and stores, and say what to fix')
    .option('--deep', 'also read everything that is stored, and check its integrity')
    .option(
      '--accept-clock',
      'say that the clock is right after a leap, so that old records are deleted again',
    )
    .examples('reachline doctor', 'PORT=9000 reachline doctor', 'reachline doctor --deep')
    .action(async (options) => exit(await (await import('./commands/doctor.js')).doctor(io, options)));
  return program;
}
