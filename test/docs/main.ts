/** `npm run docs`: writes the pages that are made from the source. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES_FILE } from '../../services/gateway/examples.js';
import { packageRoot } from '../../services/shared/fs.js';
import { configurationPage } from './configuration.js';
import { equivalentsPage } from './equivalents.js';
import { FACTS_FILE, operationFacts } from './operation-facts.js';
import { operationsPage } from './operations.js';
import { responseExamples } from './response-examples.js';

writeFileSync(join(packageRoot, 'docs/operating/configuration.md'), configurationPage());
writeFileSync(join(packageRoot, 'docs/reference/equivalents.md'), equivalentsPage());
writeFileSync(join(packageRoot, 'docs/reference/operations.md'), operationsPage());
writeFileSync(FACTS_FILE, operationFacts());
writeFileSync(EXAMPLES_FILE, `${JSON.stringify(await responseExamples(), null, 2)}\n`);
