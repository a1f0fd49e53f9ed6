/** Mapping files of the exports of known tools, `mappings/presets/<source>/<table>.json` (docs/reference/presets.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import type { MappingFile } from '../mapping/mapping-file.js';

/** A mapping of one table or stream of a known source. */
export type Preset = MappingFile & Required<Pick<MappingFile, 'description' | 'stream' | 'recognize'>>;

const FOLDER = join(packageRoot, 'mappings/presets');

/** Presets by the name `<source>/<table>`. */
export const PRESETS: Readonly<Record<string, Preset>> = Object.fromEntries(
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => [file.slice(0, -'.json'.length), JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))]),
);
