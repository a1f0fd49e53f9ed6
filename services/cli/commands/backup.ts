import { resolve } from 'node:path';
import { loadConfig } from '../../shared/config.js';
import { withoutEmbeddedStores } from '../../shared/optional-package.js';
import type { AdoptedErasures } from '../../stores/sqlite/erasure/adopt.js';
import { UsageError } from '../errors.js';
import { formatCount, type Io, printErr, printOut } from '../io.js';
import { withProgress } from '../progress.js';

/** Backs up the data folder. If a server uses the folder, that server makes the backup. */
export async function backup(io: Io, target: string): Promise<void> {
  const { dataDir, elasticsearch, clickhouse } = loadConfig(io.env);
  const used = { records: !elasticsearch, analytics: !clickhouse };
  if (!used.records && !used.analytics) {
    throw new UsageError(
      'Both stores are on servers, so their own snapshots are the backup: see docs/operating/backup.md.',
    );
  }
  const { createBackup } = await import('../../stores/backup/create-backup.js').catch(withoutEmbeddedStores);
  const { seconds, result } = await measured(io, 'copied', (onProgress) =>
    createBackup({ dataDir, used, target, onProgress }),
  );
  printOut(
    io,
    `${resolve(target)} holds the data folder as of ${result.taken_at}: ${describe(result)}, ${seconds} s`,
  );
  const server = used.records ? (used.analytics ? undefined : 'ClickHouse') : 'Elasticsearch';
  if (server !== undefined)
    printErr(
      io,
      `${server} is on a server and not part of this backup: back it up as docs/operating/backup.md says.`,
    );
}

export interface RestoreCommand {
  backup: string;
  data?: string;
  suppressionsFrom?: string;
  dryRun?: boolean;
}

export async function restore(
  io: Io,
  { backup, data, suppressionsFrom, dryRun }: RestoreCommand,
): Promise<void> {
  const dataDir = data ?? loadConfig(io.env).dataDir;
  const { restoreBackup, verifyBackup } = await import('../../stores/backup/restore-backup.js').catch(
    withoutEmbeddedStores,
  );
  if (dryRun) {
    const { seconds, result } = await measured(io, 'compared', (onProgress) =>
      verifyBackup({ backup, onProgress }),
    );
    printOut(io, `${resolve(backup)} is intact: ${describe(result)}, ${seconds} s`);
    return;
  }
  const { seconds, result } = await measured(io, 'restored', (onProgress) =>
    restoreBackup({ backup, dataDir, suppressionsFrom, onProgress }),
  );
  printOut(
    io,
    `${resolve(dataDir)} is restored as of ${result.taken_at}: ${describe(result)}, ${seconds} s. Send the records since then again.`,
  );
  const { holdsSearch } = await import('../../stores/backup/manifest.js');
  if (!holdsSearch(result)) return;
  printErr(
    io,
    suppressionsFrom === undefined
      ? 'Persons erased since then are back. Restore with --suppressions-from to apply the erasures of a newer data folder or backup again.'
      : describeErasures(result.adopted),
  );
}

const describeErasures = ({ erasures, removed, changed }: AdoptedErasures): string =>
  `${formatCount(erasures)} erasures were applied again. They removed ${formatCount(removed)} contacts, and the addresses of erased persons from ${formatCount(changed)} others.`;

function describe({ bytes, counts }: { bytes: number; counts: Record<string, number> }): string {
  const records = Object.entries(counts).map(([name, count]) => `${formatCount(count)} ${name}`);
  return [...records, `${mib(bytes)} MiB`].join(', ');
}

const mib = (bytes: number) => formatCount(Math.ceil(bytes / 1024 / 1024));

const measured = <T>(
  io: Io,
  done: string,
  work: (onProgress: (doneBytes: number, totalBytes: number) => void) => Promise<T>,
): Promise<{ result: T; seconds: string }> =>
  withProgress(io, async (progress) => {
    const result = await work((bytes, total) =>
      progress.update(`${mib(bytes)} of ${mib(total)} MiB ${done}`, bytes, total),
    );
    return { result, seconds: progress.seconds.toFixed(1) };
  });
