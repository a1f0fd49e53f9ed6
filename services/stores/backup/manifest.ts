/** What a backup holds. The manifest is written last, so a folder without it is not a backup. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Static } from 'typebox';
import { packageRoot } from '../../shared/fs.js';
import { dateTime, nullable, strictObject, stringEnum, Type } from '../../shared/schema.js';
import { compileValidator } from '../../shared/validation.js';
import { readMigrations } from '../common/migrations.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { BackupError } from './errors.js';
import type { FileDigest } from './files.js';

/** Names in a backup. */
export const MANIFEST_FILE = 'backup.json';
/** Holds the files of the data folder under their own names. */
export const DATA_FOLDER = 'data';

/** Raised with every change that an older version could not restore. */
const FORMAT = 1;

/** Names of files and folders, none of which leads upwards. */
const PATH = '^(?!\\.{1,2}(/|$))[^/\\\\\\0]+(/(?!\\.{1,2}(/|$))[^/\\\\\\0]+)*$';
const LINK_PATH = '^clickhouse/(data/[^/]+/[^/]+|metadata/[^/]+)$';
const LINK_TARGET = '^(\\.\\./){1,2}store/[0-9a-f]{3}/[0-9a-f-]{36}/?$';

/** `path` as in the data folder, with slashes. Links and folders without files are kept here alone. */
export type BackupEntry = { path: string } & (
  | ({ kind: 'file' } & FileDigest)
  | { kind: 'link'; target: string }
  | { kind: 'folder' }
);

const EntrySchema = Type.Unsafe<BackupEntry>({
  anyOf: [
    strictObject({
      path: Type.String({ pattern: PATH }),
      kind: stringEnum('', ['file']),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
    strictObject({
      path: Type.String({ pattern: LINK_PATH }),
      kind: stringEnum('', ['link']),
      target: Type.String({ pattern: LINK_TARGET }),
    }),
    strictObject({ path: Type.String({ pattern: PATH }), kind: stringEnum('', ['folder']) }),
  ],
});

const Manifest = strictObject({
  format: Type.Integer({ minimum: 1 }),
  reachline: Type.String({ description: 'Version that took the backup.' }),
  migrations: Type.Array(Type.String(), { description: 'Migrations that this version knows, by store.' }),
  folder_id: nullable(Type.String()),
  taken_at: dateTime('The moment whose records it holds.'),
  counts: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
  }),
  bytes: Type.Integer({ minimum: 0 }),
  entries: Type.Array(EntrySchema, { minItems: 1 }),
});
export type Manifest = Static<typeof Manifest>;

/** Names of the migrations of the embedded stores that this installation has. */
export const knownMigrations = (): string[] =>
  ['sqlite', 'clickhouse'].flatMap((store) =>
    readMigrations(join(packageRoot, 'mappings', store)).map(({ name }) => `${store}/${name}`),
  );

/** The text of the manifest: its fields, and a checksum of them. */
export function manifestText(manifest: Omit<Manifest, 'format'>): string {
  const fields = { format: FORMAT, ...manifest };
  return JSON.stringify({ ...fields, sha256: checksum(fields) }, undefined, 1);
}

const checksum = (fields: object) => createHash('sha256').update(JSON.stringify(fields)).digest('hex');

/** Throws a `BackupError` when the folder is not a backup, or one that this version cannot restore. Reads no other file. */
export function readManifest(folder: string): Manifest {
  const path = join(resolve(folder), MANIFEST_FILE);
  if (!existsSync(path)) {
    const isPartial = existsSync(join(folder, DATA_FOLDER));
    throw new BackupError(
      isPartial
        ? `${resolve(folder)} is a backup that was cut short: its ${MANIFEST_FILE}, which is written last, is missing. Use another backup.`
        : `${resolve(folder)} is not a backup: it holds no ${MANIFEST_FILE}.`,
    );
  }
  const damaged = () =>
    new BackupError(`${path} is damaged: it is not as the backup wrote it. Use another backup.`);
  let fields: Manifest & { sha256: string };
  try {
    fields = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw damaged();
  }
  const { sha256, ...manifest } = fields ?? {};
  if (sha256 !== checksum(manifest) || !Array.isArray(manifest.migrations)) throw damaged();
  requireKnownVersion(resolve(folder), manifest);
  if (isValid(manifest).length > 0 || !isWhole(manifest)) throw damaged();
  return manifest;
}

function requireKnownVersion(folder: string, { format, reachline, migrations }: Manifest): void {
  const known = new Set(knownMigrations());
  const unknown = format > FORMAT ? `format ${format}` : migrations.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new BackupError(
    `The backup ${folder} is of a newer Reachline (${reachline}, with ${unknown}), which this version cannot restore. Install that version or a newer one.`,
  );
}

const isValid = compileValidator(Manifest);

/**
 * Whether the entries are a data folder, each below the folder that it is restored into. ClickHouse links its tables to where their parts
 * are; no other link is restored, and nothing below one, so that no file is written through a link.
 */
function isWhole({ entries, bytes }: Manifest): boolean {
  const kinds = new Map(entries.map(({ path, kind }) => [path, kind]));
  const parentsOf = (path: string) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  const sum = entries.reduce((total, entry) => total + (entry.kind === 'file' ? entry.bytes : 0), 0);
  return (
    sum === bytes &&
    kinds.size === entries.length &&
    kinds.get(SEARCH_FILE) === 'file' &&
    entries.every(({ path }) =>
      parentsOf(path).every((parent) => (kinds.get(parent) ?? 'folder') === 'folder'),
    )
  );
}
