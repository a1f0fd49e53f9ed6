import { PRESETS } from '../../../ingest/presets/index.js';
import { didYouMean } from '../../shared/did-you-mean.js';
import { UsageError } from '../errors.js';
import { type Io, printOut, printTable } from '../io.js';

/** Lists the presets, or prints one as a mapping file. Throws UsageError. */
export function presets(io: Io, name: string | undefined): void {
  if (name === undefined) {
    const rows = Object.entries(PRESETS).map(([each, { stream, description }]) => [
      each,
      stream,
      description,
    ]);
    printTable(io, ['PRESET', 'STREAM', 'LOADS'], rows);
    return;
  }
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (preset === undefined) {
    const hint = didYouMean(name, Object.keys(PRESETS)) || 'List them with: reachline presets';
    throw new UsageError(`There is no preset ${JSON.stringify(name)}. ${hint}`);
  }
  printOut(io, JSON.stringify(preset, null, 2));
}
