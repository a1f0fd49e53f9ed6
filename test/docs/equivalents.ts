import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENTS_FOLDER } from '../../services/search/equivalents.js';

const SHOWN_ROWS = 5;

/** docs/equivalents.md: what each table is about, from its comments, and its first rows. */
export function equivalentsPage(): string {
  const tables = readdirSync(EQUIVALENTS_FOLDER).map((file) => {
    const lines = readFileSync(join(EQUIVALENTS_FOLDER, file), 'utf8').split('\n');
    const rows = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const head = lines.slice(0, lines.indexOf('')).map((line) => line.slice('# '.length));
    return `## [${file}](../services/search/equivalents/${file}): ${rows.length} rows

${head.join('\n')}

\`\`\`
${rows.slice(0, SHOWN_ROWS).join('\n')}
\`\`\`
`;
  });
  return `# Equivalents

Made by \`npm run docs\` from the tables. What they do to a search is in [contract 3.9](contract.md). They are read once at start and applied
to the query alone: after a change of a row, restart the gateway. \`GET /version\` names the version in use.

${tables.join('\n')}`;
}
