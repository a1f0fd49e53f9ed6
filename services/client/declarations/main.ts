/**
 * Writes the declaration files of `reachline/client` beside its built modules. They stand alone: the types of the operations are
 * written out from the schemas that validate them, because the server's own declarations would bring its dependencies along.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { STREAMS } from '../../../ingest/streams/index.js';
import { endpoints } from '../../gateway/api.js';
import { IngestQuery } from '../../gateway/ingest-endpoint.js';
import { PROBLEMS } from '../../http/problems.js';
import { packageRoot } from '../../shared/fs.js';
import { TypeWriter } from './schema-types.js';

const SOURCE = join(packageRoot, 'services/client');
/** Of the build that this file is part of, which may not be in place yet. */
const BUILT = join(import.meta.dirname, '..');

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

for (const file of readdirSync(SOURCE).filter((name) => name.endsWith('.ts') && name !== 'operations.ts')) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(join(SOURCE, file), 'utf8'), {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext },
  });
  if (diagnostics.length > 0) {
    throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostics[0]?.messageText, '\n')}`);
  }
  writeFileSync(join(BUILT, file.replace(/\.ts$/, '.d.ts')), outputText);
}
writeFileSync(join(BUILT, 'operations.d.ts'), operations());
