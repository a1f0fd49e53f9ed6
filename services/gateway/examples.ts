import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../http/openapi.js';
import { packageRoot } from '../shared/fs.js';

/**
 * Examples that `npm run docs` wrote from responses of a gateway with the sample data; a test compares them. The build does not write the
 * examples: that takes 5 s and needs the embedded stores, which an installation with `--omit=optional` lacks.
 */
export const EXAMPLES_FILE = join(packageRoot, 'services/gateway/examples.json');

/** Reads an example record for each stream, and an example response for each path. */
export const readExamples = () =>
  JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as { records: Json; responses: Json };
