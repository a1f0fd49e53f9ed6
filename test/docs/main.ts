/** `npm run docs`: writes the pages that are made from the source. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { configurationPage } from './configuration.js';

writeFileSync(join(packageRoot, 'docs/configuration.md'), configurationPage());
