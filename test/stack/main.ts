/**
 * Real servers for tests: `npm run -s stack -- start | stop | status`. The addresses go to standard output as assignments,
 * everything else to standard error.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { isRunning } from './process-identity.js';
import { QUICK } from './quick.js';
import { runOnStack } from './run-on-stack.js';
import { readStack, SERVER_NAMES, type ServerName, startStack, stopStack, VARIABLES } from './stack.js';
import { StackError } from './stack-error.js';

const tell = (line: string) => void process.stderr.write(`${line}\n`);

const program = new Command('stack').description('real servers for tests, without Docker');

program
  .command('start')
  .description('start the servers, wait until they answer and print their addresses')
  .addOption(
    new Option('--only <names>', `some of ${SERVER_NAMES.join(',')}`)
      .default(SERVER_NAMES, 'all')
      .argParser(parseNames),
  )
  .action(async ({ only }: { only: ServerName[] }) => {
    const interrupted = () => void stopStack(tell).finally(() => process.exit(130));
    process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
    const stack = await startStack(only, tell);
    for (const name of SERVER_NAMES) {
      const server = stack[name];
      if (server) process.stdout.write(`${VARIABLES[name]}=${server.address}\n`);
    }
  });

program
  .command('stop')
  .description('end what start started, and remove its data')
  .action(async () => {
    if (Object.keys(readStack()).length === 0) tell('nothing runs');
    await stopStack(tell);
  });

program
  .command('run')
  .description(
    'run a command with the addresses in its environment, on servers started for it where it has none',
  )
  .option('--quick', 'servers for many short tests, with their data in memory')
  .argument('<command...>', 'after --')
  .action(async ([command = '', ...args]: string[], { quick }: { quick?: true }) => {
    if (quick) Object.assign(process.env, QUICK);
    process.exitCode = await runOnStack(command, args, tell);
  });

program
  .command('status')
  .description('tell what runs; exit code 1 when a server that was started does not')
  .action(() => {
    const stack = readStack();
    for (const name of SERVER_NAMES) {
      const server = stack[name];
      const running = server !== undefined && isRunning(server);
      const state = running ? 'runs' : server ? 'ended' : 'was not started';
      process.stdout.write(
        `${name} ${state}${server ? ` (${server.address}, process ${server.pid})` : ''}\n`,
      );
      if (server && !running) process.exitCode = 1;
    }
  });

function parseNames(text: string): ServerName[] {
  return text.split(',').map((name) => {
    if (!Object.hasOwn(VARIABLES, name)) {
      throw new InvalidArgumentError(`There are ${SERVER_NAMES.join(', ')}.`);
    }
    return name as ServerName;
  });
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  tell(error.message);
  process.exitCode = 1;
}
