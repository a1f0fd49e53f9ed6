/** Writes `services/search/country-names.txt`: `node dist/test/docs/country-names.js`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import { COUNTRY_LANGUAGES, countryNamesIn } from '../support/country-names.js';

writeFileSync(join(packageRoot, 'services/search/country-names.txt'), countryNamesIn(COUNTRY_LANGUAGES));
