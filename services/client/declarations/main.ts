/**
 * Writes the package `reachline-client` to dist/reachline-client. Its declarations are self-contained: the types of the operations are
 * written out from the schemas that validate them, because the server's own declarations would need its dependencies.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { STREAMS } from '../../../ingest/streams/index.js';
import { endpoints } from '../../gateway/api.js';
import { IngestQuery } from '../../gateway/ingest/result-schema.js';
import { PROBLEMS } from '../../http/problems.js';
import { packageRoot } from '../../shared/fs.js';
import { readVersion } from '../../shared/version.js';
import { TypeWriter } from './schema-types.js';

const SOURCE = join(packageRoot, 'services/client');
const BUILT = join(import.meta.dirname, '..');
const PACKAGE = join(packageRoot, 'dist/reachline-client');

function operations(): string {
  const writer = new TypeWriter();
  const write = (type: string) => type.replaceAll('\n', '\n    ');
  const paths = endpoints.map(({ path, summary, request, query, response }) =>
    [
      `  /** ${summary}. */`,
      `  ${JSON.stringify(path)}: {`,
      `    request: ${write(writer.typeOf(request))};`,
      `    query: ${query ? write(writer.typeOf(query)) : 'undefined'};`,
      `    response: ${write(writer.typeOf(response))};`,
      '  };',
    ].join('\n'),
  );
  const streams = Object.values(STREAMS).map(
    ({ name, summary, schema }) =>
      `  /** ${summary} */\n  ${JSON.stringify(name)}: ${writer.typeOf(schema, '  ')};`,
  );
  return [
    `export interface Operations {\n${paths.join('\n')}\n}`,
    `export interface StreamRecords {\n${streams.join('\n')}\n}`,
    `export type IngestQuery = ${writer.typeOf(IngestQuery)};`,
    `export type ProblemCode =${Object.keys(PROBLEMS)
      .map((code) => `\n  | '${code}'`)
      .join('')};`,
    writer.interfaces,
  ].join('\n');
}

rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE);
for (const file of readdirSync(SOURCE).filter((name) => name.endsWith('.ts'))) {
  const built = file.replace(/\.ts$/, '.js');
  copyFileSync(join(BUILT, built), join(PACKAGE, built));
}
for (const file of readdirSync(SOURCE).filter((name) => name.endsWith('.ts') && name !== 'operations.ts')) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(join(SOURCE, file), 'utf8'), {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext },
  });
  if (diagnostics.length > 0) {
    throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostics[0]?.messageText, '\n')}`);
  }
  writeFileSync(join(PACKAGE, file.replace(/\.ts$/, '.d.ts')), outputText);
}
writeFileSync(join(PACKAGE, 'operations.d.ts'), operations());
// Removes links to pages that the package does not contain.
const guide = readFileSync(join(packageRoot, 'docs/reference/client.md'), 'utf8');
writeFileSync(join(PACKAGE, 'README.md'), guide.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1'));
const licence = join(packageRoot, 'LICENSE');
if (existsSync(licence)) copyFileSync(licence, join(PACKAGE, 'LICENSE'));
const { license } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  license: string;
};
writeFileSync(
  join(PACKAGE, 'package.json'),
  JSON.stringify(
    {
      name: 'reachline-client',
      version: readVersion().version,
      description: 'Client of the Reachline API for Node.js and browsers',
      license,
      type: 'module',
      sideEffects: false,
      engines: { node: '>=20.19' },
      exports: { '.': { types: './index.d.ts', default: './index.js' } },
    },
    null,
    2,
  ),
);
