/** The mappings that an ingest request may name: presets, and files of a folder. */
import { join } from 'node:path';
import { memoize } from '../../services/shared/cache.js';
import { compileMapping } from '../mapping/compile.js';
import { readMappings, type StoredMapping } from '../mapping/stored-mappings.js';
import { STREAMS } from '../streams/index.js';
import type { Stream } from '../streams/stream.js';
import { PRESETS, type Preset } from './index.js';

/** The mapping of a preset, compiled at its first use: compiling all presets would dominate the start of a process. */
export const presetMapping = memoize((name) => {
  const preset = PRESETS[name] as Preset;
  return compileMapping(preset, STREAMS[preset.stream] as Stream);
});

export interface MappingFolders {
  dataDir: string;
  /** Folder of mapping files; null means `mappings` in the data folder, which need not exist. */
  mappingsDir: string | null;
}

/** The mappings by name. A file takes precedence over a preset of the same name. Throws a `MappingError` for an invalid file. */
export function namedMappings({ dataDir, mappingsDir }: MappingFolders): Map<string, StoredMapping> {
  const presets = Object.entries(PRESETS).map(([name, file]): [string, StoredMapping] => [
    name,
    {
      file,
      stream: STREAMS[file.stream] as Stream,
      preset: name,
      get mapping() {
        return presetMapping(name);
      },
    },
  ]);
  const folder = mappingsDir ?? join(dataDir, 'mappings');
  return new Map([...presets, ...readMappings(folder, { isRequired: mappingsDir !== null })]);
}
