import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { expect } from 'chai';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { MONEY_PATTERN } from '../../services/advertising/money.js';
import { ID_PATTERN } from '../../services/shared/ids.js';
import { SEED } from '../support/random.js';

/** Folders and files whose regular expressions match only text that this project, its operator or a store wrote, never text of users. */
const TRUSTED = [
  'services/cli/',
  'services/client/declarations/',
  'services/console/vite.config.ts',
  'services/demo/',
  'services/gateway/docs.ts',
  'services/shared/config.ts',
  'services/stores/data-folder/lock.ts',
  'services/stores/clickhouse/migrations/render.ts',
];

/** Regular expressions that may take more than linear time, and the bound of the text that they match. */
const BOUNDED: readonly [expression: RegExp, bound: string][] = [
  [/(?<=^|\s)(?<dash>-+)(?=["\p{L}\p{N}+(])/u, 'a folded query of at most 200 characters'],
  [
    /(?<![\p{L}\p{M}\p{N}])(?<url>(?:[a-z][a-z0-9+.-]*:)?\/\/[^\s"<>]+|(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)(?::\d+)?\/[^\s"<>]*|\/?in\/[^\s"<>]+)/u,
    'a folded query of at most 200 characters',
  ],
  [
    /(?:mailto:)?(?<compound>[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?<![\p{L}\p{M}\p{N}])(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)(?![\p{L}\p{M}\p{N}]))/u,
    'a folded query of at most 200 characters',
  ],
  [
    /(?:tel:)?(?<digits>(?<![\p{L}\p{M}\p{N}])\+?\(?\d(?:(?:(?!\s-+[+(]?\d)[\s()./\p{Pd}])*\d)*(?:[\s,;.]*(?:ext(?:ension|n)?|x|доб|#)[\s.:=]*\d{1,7})?(?![\p{L}\p{M}\p{N}@]))/u,
    'a folded query of at most 200 characters',
  ],
  [
    /(?<=(?:^|\s)-+)(?<chain>[\p{L}\p{M}\p{N}]+(?:[^\s"\p{L}\p{M}\p{N}]+[\p{L}\p{M}\p{N}]+)*)/u,
    'a folded query of at most 200 characters',
  ],
  [
    /^(?:[A-Z]{1,3}\$|[A-Z]{3}(?![A-Za-z])|\p{Sc}|kr\.?|zł|Fr\.)\s*|\s*(?:[A-Z]{3}|\p{Sc}|kr\.?|zł|Fr\.)$/u,
    'a number of at most 96 characters',
  ],
  [/[.,;:!?)\]]+$/, 'a folded query of at most 200 characters'],
  [/[/_-]+(\w)/g, 'paths of the operations'],
  [/0+$/, 'a number written with 20 fractional digits'],
  [/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs, 'a canonical statement: only a quote that is not closed is slow'],
  [/'(?:[^'\\]|\\.)*'/gs, 'a canonical statement: only a quote that is not closed is slow'],
  [
    /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[(), ]/gs,
    'a type as the engine writes it: only a quote that is not closed is slow',
  ],
];
const bounded = new Set(BOUNDED.map(([expression]) => String(expression)));

/** Files that build expressions at run time, and why each expression is linear. */
const COMPOSED: readonly [file: string, reason: string][] = [
  ['ingest/decode.ts', 'names of money fields and a number behind a colon; MONEY_PATTERN is checked below'],
  ['ingest/mapping/date-format.ts', 'fixed repetitions and escaped signs, on text of bounded length'],
  ['ingest/mapping/number-format.ts', 'numbers of at most 96 characters'],
  ['services/advertising/money.ts', 'MONEY_PATTERN is checked below'],
  ['services/search/query-parser.ts', 'a folded query of at most 200 characters'],
  ['services/shared/ids.ts', 'one repetition of a bounded length, anchored at both ends'],
  ['services/shared/sql.ts', 'a name that ends at a colon, then bounded repetitions, anchored at both ends'],
  ['services/sql-endpoint/read-only.ts', 'anchored at both ends, with a known word before every repetition'],
  ['services/sql-endpoint/request.ts', 'one repetition of a bounded length, anchored at both ends'],
  ['services/stores/backup/manifest.ts', 'patterns of the schema of manifests, anchored at both ends'],
];

interface Literal {
  text: string;
  place: string;
}

/** Every regular expression literal of the code, once, and the files that compose others. */
function scan(): { literals: Literal[]; composing: string[] } {
  const found = new Map<string, string>();
  const composing = new Set<string>();
  for (const folder of ['services', 'ingest']) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(folder, name);
      if (!file.endsWith('.ts') || TRUSTED.some((trusted) => file.startsWith(trusted))) continue;
      const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) {
          const { line } = source.getLineAndCharacterOfPosition(node.getStart());
          if (!found.has(node.text)) found.set(node.text, `${file}:${line + 1}`);
        }
        if (ts.isNewExpression(node) && node.expression.getText(source) === 'RegExp') composing.add(file);
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  }
  const literals = [...found].map(([text, place]) => ({ text, place }));
  return { literals, composing: [...composing].sort() };
}

/** Whether an expression has an unbounded repetition. Any other expression takes a bounded number of steps from one position. */
const repeatsWithoutEnd = (source: string) =>
  /[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '_'));

describe('Regular expressions that see text of users', function () {
  this.timeout(180_000);

  const { literals, composing } = scan();

  /** How the worst time grows; null if it is linear. */
  function excess(source: string, flags: string): string | null {
    if (!repeatsWithoutEnd(source)) return null;
    // If the checker cannot prove that an expression is linear, it tries texts, the same in each run, and counts steps.
    const result = checkSync(source, flags, {
      maxRepeatCount: 400,
      randomSeed: SEED,
      timeout: null,
      attackTimeout: null,
      incubationTimeout: null,
    });
    if (result.status === 'safe') return null;
    return result.status === 'vulnerable' ? result.complexity.summary : result.status;
  }

  it('take time proportional to the text, or see only short text', () => {
    const slow: string[] = [];
    for (const { text, place } of literals) {
      if (bounded.has(text)) continue;
      const end = text.lastIndexOf('/');
      const growth = excess(text.slice(1, end), text.slice(end + 1));
      if (growth !== null) slow.push(`${place} ${text}: ${growth}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('take time proportional to the text in patterns and formats of schemas', () => {
    const email = fullFormats.email as RegExp;
    for (const pattern of [ID_PATTERN, MONEY_PATTERN, email.source]) {
      expect(excess(pattern, pattern === email.source ? email.flags : 'u'), pattern).to.equal(null);
    }
  });

  it('are all used that are listed as seeing short text', () => {
    const known = new Set(literals.map(({ text }) => text));
    expect([...bounded].filter((text) => !known.has(text))).to.deep.equal([]);
  });

  it('are built at run time only where listed with a reason', () => {
    expect(composing).to.deep.equal(COMPOSED.map(([file]) => file));
  });
});
