import { resolve } from 'node:path';
import { loadConfig } from '../../shared/config.js';
import { withoutEmbeddedStores } from '../../shared/optional-package.js';
import type { AdoptedErasures } from '../../stores/sqlite/erasure/adopt.js';
import { UsageError } from '../errors.js';
import { formatCount, type Io, printErr, printOut } from '../io.js';
import { withProgress } from '../progress.js';

/** Takes a backup of the data folder, with the process that has it where there is one. */
export async function backup(io: Io, target: string): Promise<void> {
  const { dataDir, elasticsearch, clickhouse } = loadConfig(io.env);
  const used = { records: !elasticsearch, analytics: !clickhouse };
  if (!used.records && !used.analytics) {
    throw new UsageError(
      'Both stores are servers, whose own snapshots are their backup: see docs/operating/backup.md.',
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
    printErr(io, `${server} is a server and not in it: back it up as docs/operating/backup.md says.`);
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
    printOut(io, `${resolve(backup)} is whole: ${describe(result)}, ${seconds} s`);
    return;
  }
  const { seconds, result } = await measured(io, 'restored', (onProgress) =>
    restoreBackup({ backup, dataDir, suppressionsFrom, onProgress }),
  );
  printOut(
    io,
    `${resolve(dataDir)} is as it was at ${result.taken_at}: ${describe(result)}, ${seconds} s. Records since then are to be sent again.`,
  );
  const { holdsSearch } = await import('../../stores/backup/manifest.js');
  if (!holdsSearch(result)) return;
  printErr(
    io,
    suppressionsFrom === undefined
      ? 'Persons erased since then are back. With --suppressions-from, the erasures of a newer data folder or backup are applied again.'
      : describeErasures(result.adopted),
  );
}

const describeErasures = ({ erasures, removed, changed }: AdoptedErasures): string =>
  `${formatCount(erasures)} erasures were applied again. Contacts removed: ${formatCount(removed)}. Contacts that stay without an address of an erased person: ${formatCount(changed)}.`;

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
