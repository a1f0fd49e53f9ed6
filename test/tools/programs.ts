/** Programs that drive a client, and what they print: a line for each call. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../services/shared/fs.js';
import { goProgram, javaLibrary, pythonEnvironment } from '../stack/distributions.js';

const FOLDER = join(packageRoot, 'test/tools');
const exec = promisify(execFile);

/** The outcome of a call: its detail, or the error. */
export interface CallResult {
  ok: boolean;
  title: string;
  detail: string;
}

/** Runs a program against an endpoint. Throws `MissingPrerequisite` where the machine lacks what it needs. */
export type ToolProgram = (url: string, password: string) => Promise<CallResult[]>;

export const jdbc =
  (version: string, properties: readonly string[] = []): ToolProgram =>
  async (url, password) => {
    const classPath = await javaLibrary(`com.clickhouse:clickhouse-jdbc:${version}:all`);
    return run('java', ['-cp', classPath, join(FOLDER, 'jdbc/Metadata.java'), url, password, ...properties]);
  };

export const go =
  (compression: string): ToolProgram =>
  async (url, password) =>
    run(await goProgram(join(FOLDER, 'go')), [new URL(url).host, password, compression]);

export const python =
  (client: string): ToolProgram =>
  async (url, password) => {
    const environment = await pythonEnvironment(join(FOLDER, 'python/requirements.txt'));
    return run(join(environment, 'bin/python'), [join(FOLDER, 'python/clients.py'), client, url, password]);
  };

async function run(command: string, args: readonly string[]): Promise<CallResult[]> {
  const { stdout } = await exec(command, args, {
    env: { ...process.env, TZ: 'America/New_York' },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([status]) => status === 'ok' || status === 'not ok')
    .map(([status, title = '', detail = '']) => ({ ok: status === 'ok', title, detail }));
}
