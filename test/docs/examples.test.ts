import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PROBLEMS } from '../../services/http/problems.js';
import { packageRoot } from '../../services/shared/fs.js';
import { startSampleGateway, type TestGateway } from '../support/gateway.js';
import { sampleFolder } from '../support/sample.js';
import { type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { docPaths, readDoc } from './support.js';

const run = promisify(execFile);

/** Blocks that start or install something, or that the reader has to fill in. */
const NOT_RUN = /^(?:npm (?:ci|install|start)|cp |docker |claude )|rl_live_…/m;
const RUNNERS: Record<string, string> = {
  sh: '',
  js: 'node --input-type=module',
  python: 'python3 -',
};

interface Example {
  source: string;
  /** The output that the page prints below the example. */
  shown?: { language: string; text: string };
  language: string;
}

/** The code of a page in order, each block with the output that the next block shows; without blocks marked `sh not-run`. */
function examplesIn(page: string): Example[] {
  const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
  return blocks.flatMap(({ language, text }, index) => {
    if (!(language in RUNNERS) || NOT_RUN.test(text)) return [];
    const next = blocks[index + 1];
    const shown = next && ['json', 'text'].includes(next.language) ? next : undefined;
    return [{ source: text, language, shown }];
  });
}

const MARK = '<<< end of an example >>>';

/** All examples of a page as one script, because later examples use variables and files of earlier examples. */
const scriptOf = (examples: readonly Example[]) =>
  examples
    .map(({ source, language }) => {
      const runner = RUNNERS[language];
      const text = runner ? `${runner} <<'END_OF_EXAMPLE'\n${source}END_OF_EXAMPLE\n` : source;
      return `${text}\necho '${MARK}'`;
    })
    .join('\n');

/** Expects `actual` to contain everything that `expected` shows, in which `…` stands for any text; lists must have the same length. */
function expectIncludes(actual: unknown, expected: unknown, pointer = ''): void {
  if (expected === '…') expect(actual, pointer).to.be.a('string').and.not.equal('');
  else if (typeof expected !== 'object' || expected === null) expect(actual, pointer).to.equal(expected);
  else {
    expect(actual, pointer).to.be.an(Array.isArray(expected) ? 'array' : 'object');
    if (Array.isArray(expected)) expect(actual, pointer).to.have.lengthOf(expected.length);
    for (const [name, value] of Object.entries(expected)) {
      expectIncludes((actual as Record<string, unknown>)[name], value, `${pointer}/${name}`);
    }
  }
}

/** Expects a line of `output` to contain `shown`, in which `…` stands for any text. */
function expectContains(output: string, shown: string): void {
  const parts = shown.split('…');
  const holds = (line: string) => {
    let from = 0;
    return parts.every((part) => {
      const at = line.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  };
  expect(output.split('\n').some(holds), `${shown}\nis not in\n${output}`).to.equal(true);
}

const pages = [
  'README.md',
  ...docPaths().filter((path) => /^docs\/(?:reference|concepts|guides|tutorial)/.test(path)),
].filter((path) => examplesIn(readDoc(path)).length > 0);

describe('The examples of the documentation, run on the sample data', function () {
  this.timeout(120_000);
  let gateway: TestGateway;
  /** The README runs as printed: its commands find the server of the data folder, as after `npm start`. */
  let server: ServerProcess;
  let dataDir: string;
  let folder: string;
  let key: string;
  let hasPython = true;

  before(async () => {
    gateway = await startSampleGateway({ rateLimit: 6000 });
    key = await gateway.keyFor('org_demo');
    folder = tempFolder();
    dataDir = await sampleFolder();
    server = await startServer({ dataDir });
    await run('python3', ['--version']).catch(() => {
      hasPython = false;
    });
  });
  after(async () => {
    await server?.stop();
    await gateway?.close();
  });

  for (const path of pages) {
    it(`of ${path} print what is shown below them`, async function () {
      const all = examplesIn(readDoc(path));
      // A machine without Python still runs the other examples.
      const examples = all.filter(({ language }) => hasPython || language !== 'python');
      if (examples.length === 0) return this.skip();
      const home = join(folder, path.replaceAll('/', '-'));
      await mkdir(home);
      await writeFile(join(home, 'contacts.ndjson'), '{"contact_id": "crm-1"}\n');
      for (const name of ['reachline', 'examples']) await symlink(join(packageRoot, name), join(home, name));
      const isReadme = path === 'README.md';
      const { url } = isReadme ? server : gateway;
      const script = ['set -euo pipefail', scriptOf(examples).replaceAll('http://127.0.0.1:8080', url)].join(
        '\n',
      );
      const { stdout } = await run('bash', ['-c', script], {
        cwd: home,
        env: {
          ...process.env,
          ...(!isReadme && { REACHLINE_API_KEY: key, KEY: key }),
          REACHLINE_DATA_DIR: isReadme ? dataDir : gateway.dataDir,
          // The command finds a server of its own by its data folder; this server must be named.
          ...(path === 'docs/tutorial.md' && { REACHLINE_URL: gateway.url }),
        },
        maxBuffer: 64 * 1024 * 1024,
      }).catch((error: { stdout: string; stderr: string }) => {
        throw new Error(`${path} fails after ${error.stdout.slice(-2000)}\n${error.stderr.slice(-2000)}`);
      });
      const outputs = stdout.split(MARK);
      examples.forEach(({ source, shown }, index) => {
        const output = outputs[index]?.trim() ?? '';
        if (shown?.language === 'json') {
          expectIncludes(JSON.parse(output), JSON.parse(shown.text), source.slice(0, 200));
        }
        for (const line of shown?.language === 'text' ? shown.text.trim().split('\n') : []) {
          expectContains(output.toLowerCase(), line.toLowerCase());
        }
      });
    });
  }
});

describe('The guide on errors', () => {
  const sections = readDoc('docs/reference/errors.md').split(/^## /m).slice(1);

  it('has a section for every code of the API, in their order, with status, meaning and remedy', () => {
    expect(sections.map((section) => section.split('\n')[0])).to.deep.equal(Object.keys(PROBLEMS));
    sections.forEach((section, index) => {
      const [status] = Object.values(PROBLEMS)[index] as readonly [number, string];
      expect(section).to.match(
        new RegExp(`\\n\\*\\*${status}\\*\\* \\S[^\\n]+\\n\\n\\*\\*Remedy:\\*\\* \\S`),
      );
    });
  });
});
