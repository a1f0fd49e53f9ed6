import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { docPaths, linksOf, readDoc, servedPages, slug } from './support.js';

const FOLDERS = ['services', 'ingest', 'mappings', 'test', 'bench', 'deploy', 'docs', 'site'];
const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name}`,
  ),
);

/** Folders that the operator creates. */
const NOT_IN_REPOSITORY = ['deploy/tls/certificates'];

/** Whether a page may name this path: from the root, or the end of the path of some file. */
const isThere = (path: string) =>
  NOT_IN_REPOSITORY.includes(path) ||
  existsSync(join(packageRoot, path)) ||
  files.some((file) => file.endsWith(`/${path}`));

/** Paths between backticks: those that begin with a folder of this repository, and names of source files. */
function pathsIn(page: string): string[] {
  const quoted = [...page.matchAll(/`([\w./-]+)`/g)].map(([, text]) => text as string);
  return quoted.filter(
    (text) =>
      /^(services|ingest|mappings|test|bench|deploy|docs)\//.test(text) || /\w\.(ts|sql|yml)$/.test(text),
  );
}

const headingsOf = (path: string) =>
  [...readDoc(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) => slug(title as string));

describe('The documentation', () => {
  for (const path of docPaths()) {
    it(`names only files that exist: ${path}`, () => {
      const page = readDoc(path);
      expect(pathsIn(page).filter((each) => !isThere(each))).to.deep.equal([]);
    });

    it(`has links that lead somewhere: ${path}`, () => {
      const broken = linksOf(path).filter(
        ({ path: to, anchor }) =>
          !existsSync(join(packageRoot, to)) || (anchor !== '' && !headingsOf(to).includes(anchor)),
      );
      expect(broken).to.deep.equal([]);
    });
  }

  it('is listed in docs/README.md, each page once', () => {
    const listed = linksOf('docs/README.md').map(({ path }) => path);
    const pages = docPaths().filter((path) => /^docs\/(?!README|index|decisions\/)/.test(path));
    expect(listed).to.have.members([...pages, 'docs/decisions']);
  });

  it('links from what is served at /docs only to what is served there, images apart', () => {
    const served = servedPages().map(({ path }) => path);
    const links = served.flatMap((page) => linksOf(page).map(({ path }) => `${path} in ${page}`));
    expect(links).to.have.length.above(30);
    const isServed = (path = '') => served.includes(path) || path.startsWith('docs/images/');
    expect(links.filter((link) => !isServed(link.split(' ')[0]))).to.deep.equal([]);
  });

  it('names for each guarantee a test that exists, with its title', () => {
    const rows = [...readDoc('docs/guarantees.md').matchAll(/^\| \d+ \| .+ \| (`test\/.+`) \| (.+) \|$/gm)];
    expect(rows).to.have.length.above(10);
    for (const [, paths = '', title = ''] of rows) {
      const sources = [...paths.matchAll(/`([^`]+)`/g)].map(([, path]) => readDoc(path as string));
      const words = title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
      // In the title of a test or of a group of tests: a comment or a text elsewhere proves nothing.
      const isTitle = new RegExp(String.raw`\b(?:it|describe)\(\s*(['"\x60])(?:(?!\1)[^\n])*${words}`);
      expect(
        sources.some((source) => isTitle.test(source)),
        `${title} in ${paths}`,
      ).to.equal(true);
    }
  });

  it('has an entry in the runbook for each alert, and no other', () => {
    const alerts = [...readDoc('docs/operating/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
      ([, name]) => name,
    );
    const runbook = readDoc('docs/operating/runbook.md');
    expect([...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).to.deep.equal(alerts);
    for (const entry of runbook.split(/^## /m).slice(1)) {
      for (const part of ['Meaning', 'Impact', 'Check', 'Remedy'])
        expect(entry).to.contain(`- **${part}**: `);
    }
  });

  it('has every section of the contract that the code and the pages cite', () => {
    const sections = new Set(
      [...readDoc('docs/contract.md').matchAll(/^(\d+\.\d+) /gm)].map(([, section]) => section),
    );
    const sources = files.filter((file) => /\.(?:tsx?|sql|md)$/.test(file) && file !== 'docs/contract.md');
    const cited = sources.flatMap((file) =>
      [...readDoc(file).matchAll(/\bcontract (\d+\.\d+)/g)].map(([, section]) => `${section} in ${file}`),
    );
    expect(cited).to.have.length.above(50);
    expect(cited.filter((each) => !sections.has(each.split(' ')[0]))).to.deep.equal([]);
  });

  it('never has npx look for the package, which is registered nowhere', () => {
    expect(
      docPaths().filter((path) => path !== 'CHANGELOG.md' && readDoc(path).includes('npx reachline')),
    ).to.deep.equal([]);
  });
});
