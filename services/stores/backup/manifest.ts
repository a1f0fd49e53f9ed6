/** What a backup holds. The manifest is written last, so a folder without it is not a backup. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../shared/fs.js';
import { readMigrations } from '../common/migrations.js';
import { BackupError } from './errors.js';
import type { FileDigest } from './files.js';

/** Names in a backup. */
export const MANIFEST_FILE = 'backup.json';
/** Holds the files of the data folder under their own names. */
export const DATA_FOLDER = 'data';

/** Raised with every change that an older version could not restore. */
const FORMAT = 1;

/** `path` as in the data folder, with slashes. Links and folders without files are kept here alone. */
export type BackupEntry = { path: string } & (
  | ({ kind: 'file' } & FileDigest)
  | { kind: 'link'; target: string }
  | { kind: 'folder' }
);

export interface Manifest {
  format: number;
  /** Version that took the backup. */
  reachline: string;
  /** Migrations that this version knows, by store. */
  migrations: string[];
  folder_id: string | null;
  /** The moment whose records it holds, ISO 8601. */
  taken_at: string;
  counts: Record<string, number>;
  bytes: number;
  entries: BackupEntry[];
}

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
  if (sha256 !== checksum(manifest)) throw damaged();
  requireKnownVersion(resolve(folder), manifest);
  const outside = manifest.entries.find((entry) => !isInside(entry));
  if (outside) throw damaged();
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

/** Whether an entry stays within the folder that it is restored into. */
function isInside(entry: BackupEntry): boolean {
  const root = '/root/';
  const path = resolve(root, entry.path);
  const reached = entry.kind === 'link' ? resolve(path, '..', entry.target) : path;
  return path.startsWith(root) && reached.startsWith(root);
}
