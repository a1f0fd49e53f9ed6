/** The server under attack, what an attacker knows of it, and what is visible of the process from outside. */
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../cli/support.js';
import { freePort } from '../stack/free-port.js';
import type { Answer, CallOptions } from '../support/gateway.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';

/** Number of contacts of the attacker, who has an ordinary key. */
export const HOSTILE_CONTACTS = 100_000;
export const HOSTILE_ORGANIZATION = 'org_hostile';
export const DEMO_ORGANIZATION = 'org_demo';
/** Short, so that stalled requests end within the run. */
export const REQUEST_TIMEOUT_MS = 5000;

export interface Target {
  server: ServerProcess;
  url: string;
  sqlUrl: string;
  /** Key of the attacker. */
  key: string;
  /** Key of the well-behaved client. */
  demoKey: string;
  call(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** Takes a backup of the data folder; resolves with the output of the command. */
  backup(name: string): Promise<string>;
  /** Bytes of memory that the process and those it started have now. */
  residentBytes(): number;
  openFiles(): number;
  stop(): Promise<void>;
}

export async function startTarget(): Promise<Target> {
  const folder = tempFolder();
  const dataDir = join(folder, 'data');
  const environment = { REACHLINE_DATA_DIR: dataDir };
  const demoKey = (await runCommand(['demo'], environment)).trim();
  const contacts = join(folder, 'contacts.ndjson');
  await writeContacts(contacts);
  await runCommand(['ingest', 'contacts', contacts, '--organization', HOSTILE_ORGANIZATION], environment);
  await runCommand(
    ['audiences', 'create', '--organization', HOSTILE_ORGANIZATION, '--name', 'All', '--id', 'aud_all'],
    environment,
  );
  const key = await prepareOrganization(dataDir, HOSTILE_ORGANIZATION);
  const sqlPort = String(await freePort());
  const server = await startServer({
    dataDir,
    key,
    environment: {
      // The default limits, under which the attacks are made.
      REACHLINE_RATE_LIMIT: '6000',
      REACHLINE_SEARCH_PROCESSES: '2',
      REACHLINE_REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
      REACHLINE_SQL_PORT: sqlPort,
    },
  });
  return {
    server,
    url: server.url,
    sqlUrl: `http://127.0.0.1:${sqlPort}`,
    key,
    demoKey,
    call: server.call,
    backup: (name) => runCommand(['backup', join(folder, name)], environment),
    residentBytes: () => residentBytes(server.pid),
    openFiles: () => readdirSync(`/proc/${server.pid}/fd`).length,
    async stop() {
      await server.stop();
    },
  };
}

/** Runs the command line; resolves with its standard output. */
async function runCommand(args: string[], environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runProcess(args, { env: environment });
  if (code !== 0) throw new Error(`reachline ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Every contact has a word for each letter in its title, so that one-letter filters match all of them. */
async function writeContacts(path: string): Promise<void> {
  const file = createWriteStream(path);
  const title = [...LETTERS]
    .slice(0, 13)
    .map((letter) => `${letter}xx`)
    .join(' ');
  for (let index = 0; index < HOSTILE_CONTACTS; index++) {
    const record = {
      organization_id: HOSTILE_ORGANIZATION,
      contact_id: `con-${index}`,
      first_name: `Name${index % 997}`,
      last_name: `Family${index % 9973}`,
      job_title: title,
      company_name: `Company ${index % 499}`,
      country: 'Germany',
      work_emails: [`name${index}@hostile.example`],
    };
    if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

function residentBytes(pid: number): number {
  try {
    // Memory that processes share, such as the program itself, counts once.
    const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number),
    );
    return children.reduce((sum, child) => sum + residentBytes(child), Number(kilobytes ?? 0) * 1024);
  } catch (error) {
    // The process ended meanwhile.
    if (
      (error as NodeJS.ErrnoException).code === 'ENOENT' ||
      (error as NodeJS.ErrnoException).code === 'ESRCH'
    )
      return 0;
    throw error;
  }
}
