/** Every command with its options and help. A command's code is imported when it runs, so that help prints quickly. */

import { styleText } from 'node:util';
import { Argument } from 'commander';
import { readVersion } from '../shared/version.js';
import { type Io, printable, printErr, showsColors } from './io.js';
import { withoutMcp } from './mcp-loader.js';
import { portNumber, ReachlineCommand, STREAM_NAMES } from './options.js';
import { addAudiences, addContacts, addCredits, addImports, addKeys } from './organization-commands.js';
import { addChanges, addDeadLetters, addExport, addIngest, addMapping } from './record-commands.js';

/** Commands that report warnings in their own log or report. */
const LOGS_WARNINGS = new Set(['serve', 'worker', 'doctor']);

/** `exit` receives the exit code of the command. */
export function createProgram(io: Io, exit: (code: number) => void): ReachlineCommand {
  const program = new ReachlineCommand('reachline')
    .description('Search contacts, audiences and website visits, and see the results of advertising.')
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
    .showHelpAfterError('Run the command with --help to see its options.')
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
    .option('--port <number>', 'port to listen on; overrides PORT', portNumber)
    .examples('reachline serve --demo', 'REACHLINE_DATA_DIR=/srv/reachline reachline serve --port 80')
    .action(async (options) => exit(await (await import('./commands/serve.js')).serve(io, options)));
  program
    .add('worker', 'consume records from Kafka into the stores')
    .option('--streams <streams>', 'streams separated by commas (default: all)')
    .notes(`
Needs KAFKA_BROKERS. Each stream has its own topic and consumer group. Start at most as many workers as a topic has partitions.
Rejected records go to <topic>.dead-letter: see reachline dead-letters. While a store is unavailable, the worker waits. It serves
health and metrics on REACHLINE_WORKER_PORT.
`)
    .examples(
      'KAFKA_BROKERS=127.0.0.1:9092 reachline worker',
      'KAFKA_BROKERS=k1:9092,k2:9092 reachline worker --streams website-visits,network-a-deliveries',
    )
    .action(async (options) => exit(await (await import('./commands/worker.js')).worker(io, options)));
  addIngest(program, io, exit);
  program
    .add('presets', 'list the presets of ingest --preset, or print one of them as a mapping file')
    .argument('[name]', 'preset to print; change the output, and load it with ingest --map')
    .examples('reachline presets', 'reachline presets hubspot/contacts > hubspot.json')
    .action(async (name) => (await import('./commands/presets.js')).presets(io, name));
  addMapping(program, io);
  addExport(program, io);
  addChanges(program, io, exit);
  addDeadLetters(program, io);
  addKeys(program, io);
  addCredits(program, io);

  addAudiences(program, io);
  addContacts(program, io);
  addImports(program, io);
  program
    .add('migrate', 'create and upgrade the stores; serve does this when it starts')
    .option(
      '--rebuild <indices>',
      'also reindex these Elasticsearch indices (contacts,visits), which stay in use meanwhile',
    )
    .option(
      '--bootstrap',
      'first create the users of ELASTICSEARCH_USERNAME and CLICKHOUSE_USERNAME, with only the privileges that Reachline needs',
    )
    .notes(
      '--bootstrap needs ELASTICSEARCH_ADMIN_USERNAME, CLICKHOUSE_ADMIN_USERNAME and the matching _PASSWORD. No other command uses them.',
    )
    .examples('reachline migrate', 'reachline migrate --rebuild contacts')
    .action(async (options) => (await import('./commands/migrate.js')).migrate(io, options));
  program
    .add('backup', 'copy the data folder as of one moment; a server may use it meanwhile')
    .argument('<folder>', 'folder for the backup; new or empty')
    .notes(`
The backup has everything that was acknowledged before the command began. Until it is complete, its folder is named
<folder>.partial. To back up stores on servers, see docs/operating/backup.md.
`)
    .examples(
      'reachline backup /backups/reachline-$(date +%F)',
      'reachline restore /backups/reachline-2026-11-22 --dry-run',
    )
    .action(async (folder) => (await import('./commands/backup.js')).backup(io, folder));
  program
    .add('restore', 'copy a backup into an empty data folder, after verifying every file')
    .argument('<backup>', 'folder of the backup')
    .option('--data <folder>', 'data folder to restore into, new or empty (default: REACHLINE_DATA_DIR)')
    .option(
      '--suppressions-from <folder>',
      'newer data folder or backup; its erasures are applied to the restored data',
    )
    .option('--dry-run', 'verify the whole backup, and write nothing')
    .examples(
      'reachline restore /backups/reachline-2026-11-22',
      'reachline restore /backups/reachline-2026-11-22 --data /srv/reachline',
    )
    .action(async (folder, options) =>
      (await import('./commands/backup.js')).restore(io, { backup: folder, ...options }),
    );
  program
    .add('demo', 'load the sample data into the organization org_demo')
    .examples('reachline demo', 'REACHLINE_DATA_DIR=/tmp/try reachline demo')
    .action(async () => (await import('./commands/demo.js')).demo(io));
  program
    .add('mcp', 'serve the Model Context Protocol on standard input and output, as a client of a gateway')
    .option(
      '--url <base>',
      'address of the gateway (default: REACHLINE_URL, otherwise http://127.0.0.1:8080)',
    )
    .choice('--tools <set>', 'tools that are listed (default: core)', ['core', 'all'])
    .notes(
      'An assistant starts this command: docs/reference/mcp.md has the settings for common assistants. Needs REACHLINE_API_KEY.',
    )
    .examples('REACHLINE_API_KEY="$KEY" reachline mcp --url https://reachline.example.com')
    .action(async (options) => (await import('./commands/mcp.js').catch(withoutMcp)).mcp(io, options));
  program
    .add('openapi', 'print the OpenAPI document')
    .examples('reachline openapi > openapi.json')
    .action(async () => (await import('./commands/openapi.js')).openapi(io));
  program
    .add('schema', 'print the JSON Schema of the records of a stream, or of mapping files')
    .addArgument(new Argument('<name>', 'name of a stream, or mapping').choices([...STREAM_NAMES, 'mapping']))
    .examples('reachline schema contacts', 'reachline schema mapping > mapping.schema.json')
    .action(async (name) => (await import('./commands/schema.js')).schema(io, name));
  program
    .add('completion', 'print a shell script that completes commands, options and streams')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(['bash', 'zsh', 'fish']))
    .argument('[words...]', 'words of a command line; used by the script to complete the last word')
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
    .option('--deep', 'also read all stored data and check its integrity')
    .option(
      '--accept-clock',
      'confirm that the clock is right after it jumped, so that deletion of old records resumes',
    )
    .examples('reachline doctor', 'PORT=9000 reachline doctor', 'reachline doctor --deep')
    .action(async (options) => exit(await (await import('./commands/doctor.js')).doctor(io, options)));
  return program;
}
