/** Packages that only peers need, installed into a cache outside of the repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = { fastify: '5.12.8', pg: '8.23.1', '@duckdb/node-api': '1.5.6-r.1' };

const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'reachline-peers');

export function installPackages(): void {
  const manifest = JSON.stringify({ private: true, dependencies: PACKAGES });
  const done = join(FOLDER, 'installed.json');
  if (existsSync(done)) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), manifest);
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'ignore' });
  writeFileSync(done, manifest);
}

/** Throws where `installPackages` has not run. */
export const requirePeer = createRequire(join(FOLDER, 'package.json'));
