import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './fs.js';

/** Name and versions of the program: the response of `/version`. */
export interface Version {
  name: string;
  version: string;
  node: string;
}

export function readVersion(): Version {
  const { name, version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as Version;
  return { name, version, node: process.version };
}
