import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENTS_FOLDER } from '../../services/search/equivalents.js';

/** Tables that readers want to see whole: they decide what a filter by title or company finds. */
const WHOLE = ['companies.txt', 'optional-words.txt', 'titles.txt'];
const SHOWN_ROWS = 5;

/** docs/reference/equivalents.md: what each table is about, from its comments, and its rows, of long ones the first. */
export function equivalentsPage(): string {
  const tables = readdirSync(EQUIVALENTS_FOLDER).map((file) => {
    const lines = readFileSync(join(EQUIVALENTS_FOLDER, file), 'utf8').split('\n');
    const rows = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const head = lines.slice(0, lines.indexOf('')).map((line) => line.slice('# '.length));
    const shown = WHOLE.includes(file) ? rows : [...rows.slice(0, SHOWN_ROWS), '…'];
    return `## ${file}: ${rows.length} rows

${head.join('\n')}

\`\`\`
${shown.join('\n')}
\`\`\`
`;
  });
  return `# Equivalents

Made by \`npm run docs\` from the tables in \`services/search/equivalents\`. What they do to a search is in [contract 3.9](../contract.md). They are
read once at start and applied to the query alone: after a change of a row, restart the gateway. \`GET /version\` names the version in use.

${tables.join('\n')}`;
}
