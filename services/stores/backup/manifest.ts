/** The manifest of a backup: the list of all its files. The manifest is written last, so a folder without a manifest is not a backup. */
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Static } from 'typebox';
import { packageRoot } from '../../shared/fs.js';
import { dateTime, nullable, strictObject, stringEnum, Type } from '../../shared/schema.js';
import { compileValidator } from '../../shared/validation.js';
import { readMigrations } from '../common/migrations.js';
import { ANALYTICS_FOLDER, SEARCH_FILE } from '../data-folder/layout.js';
import { BackupError } from './errors.js';
import type { FileDigest } from './files.js';

/** Names of files and folders in a backup. */
export const MANIFEST_FILE = 'backup.json';
/** Folder that contains the files of the data folder under their own names. */
export const DATA_FOLDER = 'data';

/** Version of the format, increased with every change that older versions of Reachline could not restore. */
const FORMAT = 1;

/** Maximum number of files, links and folders together; embedded stores have thousands. */
const MAX_ENTRIES = 500_000;
/** Maximum number of folders: each folder is created and synced separately. */
const MAX_FOLDERS = 50_000;
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** Pattern of names of files and folders. No such name leads upwards, or has control characters that would control a terminal. */
const NAME = '(?!\\.{1,2}(/|$))[^/\\\\\\p{C}\\p{Zl}\\p{Zp}]+';
const PATH = `^(?=.{1,1024}$)${NAME}(/${NAME})*$`;
const LINK_PATH = `^clickhouse/(data/${NAME}/${NAME}|metadata/${NAME})$`;
const VERSION = '^[0-9A-Za-z.+-]{1,64}$';
const MIGRATION = '^[0-9A-Za-z_./-]{1,128}$';
const LINK_TARGET = '^(\\.\\./){1,2}store/[0-9a-f]{3}/[0-9a-f-]{36}/?$';

/** `path` is relative to the data folder, with slashes. Links, and folders without files, exist only in this list. */
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
  reachline: Type.String({ description: 'Version that took the backup.', pattern: VERSION }),
  migrations: Type.Array(Type.String({ pattern: MIGRATION }), {
    description: 'Migrations that this version knows, by store.',
  }),
  folder_id: nullable(Type.String()),
  taken_at: dateTime('The moment whose records it holds.'),
  counts: Type.Unsafe<Record<string, number>>({
    type: 'object',
    propertyNames: { pattern: '^[a-z_]{1,32}$' },
    additionalProperties: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  }),
  bytes: Type.Integer({ minimum: 0 }),
  entries: Type.Array(EntrySchema, { minItems: 1, maxItems: MAX_ENTRIES }),
});
export type Manifest = Static<typeof Manifest>;

/** Names of the migrations of the embedded stores in this installation. */
export const knownMigrations = (): string[] =>
  ['sqlite', 'clickhouse'].flatMap((store) =>
    readMigrations(join(packageRoot, 'mappings', store)).map(({ name }) => `${store}/${name}`),
  );

/** The text of the manifest: its fields, and their checksum. */
export function manifestText(manifest: Omit<Manifest, 'format'>): string {
  const fields = { format: FORMAT, ...manifest };
  return JSON.stringify({ ...fields, sha256: checksum(fields) }, undefined, 1);
}

const checksum = (fields: object) => createHash('sha256').update(JSON.stringify(fields)).digest('hex');

/** Reads only the manifest. Throws `BackupError` if the folder is not a backup, or if this version cannot restore it. */
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
    fields = JSON.parse(readText(path));
  } catch {
    throw damaged();
  }
  const { sha256, ...manifest } = fields ?? {};
  if (sha256 !== checksum(manifest) || !isPrintable(manifest)) throw damaged();
  requireKnownVersion(resolve(folder), manifest);
  if (isValid(manifest).length > 0 || !isWhole(manifest)) throw damaged();
  return manifest;
}

function requireKnownVersion(folder: string, { format, reachline, migrations }: Manifest): void {
  const known = knownMigrations();
  const unknown = format > FORMAT ? `format ${format}` : migrations.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  // Releases keep all migrations, so the backup of a newer version has all migrations that this version knows.
  if (format <= FORMAT && known.some((name) => !migrations.includes(name))) {
    throw new BackupError(
      `The backup ${folder} is from an unreleased version of Reachline: restore it with that version, export its records (reachline export), and load them with this one (reachline ingest) into an empty folder. See docs/operating/upgrade.md.`,
    );
  }
  throw new BackupError(
    `The backup ${folder} is of a newer Reachline (${reachline}, with ${unknown}), which this version cannot restore. Install that version or a newer one.`,
  );
}

const isValid = compileValidator(Manifest);

/** Whether there are more files or folders than a restore accepts. */
export const hasTooMany = (entries: readonly BackupEntry[]): boolean =>
  entries.length > MAX_ENTRIES || entries.filter(({ kind }) => kind === 'folder').length > MAX_FOLDERS;

/** Whether the backup includes the contacts. With Elasticsearch, contacts are not in the data folder. */
export const holdsSearch = ({ entries }: Pick<Manifest, 'entries'>): boolean =>
  entries.some(({ path }) => path === SEARCH_FILE);

/** Checks the fields of a newer manifest that messages show. This version may not know its other fields. */
function isPrintable({ format, reachline, migrations }: Manifest): boolean {
  const matches = (pattern: string, value: unknown) =>
    typeof value === 'string' && new RegExp(pattern).test(value);
  return (
    Number.isInteger(format) &&
    matches(VERSION, reachline) &&
    Array.isArray(migrations) &&
    migrations.every((name) => matches(MIGRATION, name))
  );
}

/** Reads a regular file of bounded size. Never waits for a writer, as a named pipe would. */
function readText(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_MANIFEST_BYTES) throw new Error('not a manifest');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * Whether the entries form a data folder, with each entry below the folder into which it is restored. ClickHouse links its tables to the
 * location of their parts. A restore creates no other link, and no entry below a link, so that it writes no file through a link.
 */
function isWhole({ entries, bytes }: Manifest): boolean {
  const kinds = new Map(entries.map(({ path, kind }) => [path, kind]));
  const parentsOf = (path: string) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  const sum = entries.reduce((total, entry) => total + (entry.kind === 'file' ? entry.bytes : 0), 0);
  return (
    !hasTooMany(entries) &&
    sum === bytes &&
    kinds.size === entries.length &&
    (kinds.get(SEARCH_FILE) === 'file' ||
      entries.some(({ path }) => path.startsWith(`${ANALYTICS_FOLDER}/`))) &&
    entries.every(({ path }) =>
      parentsOf(path).every((parent) => (kinds.get(parent) ?? 'folder') === 'folder'),
    )
  );
}
