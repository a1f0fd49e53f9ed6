import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../http/openapi.js';
import { packageRoot } from '../shared/fs.js';

/**
 * Examples written by `npm run docs` from responses of a gateway with the sample data; a test compares them. The build does not make them:
 * that takes 5 s and the embedded stores, which an installation with `--omit=optional` lacks.
 */
export const EXAMPLES_FILE = join(packageRoot, 'services/gateway/examples.json');

/** An example record by stream, and an example response by path. */
export const readExamples = () =>
  JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as { records: Json; responses: Json };
