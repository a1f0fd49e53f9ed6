import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';

/** Environment of a process that finds no embedded stores. */
export const slim = {
  NODE_OPTIONS: `--import=file://${join(packageRoot, 'dist/test/support/without-embedded-stores.js')}`,
};
