/** `npm run docs`: writes the pages that are made from the source. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { configurationPage } from './configuration.js';
import { examplesModule, responseExamples } from './response-examples.js';

writeFileSync(join(packageRoot, 'docs/configuration.md'), configurationPage());
writeFileSync(join(packageRoot, 'services/gateway/examples.ts'), examplesModule(await responseExamples()));
