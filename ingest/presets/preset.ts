import type { MappingFile } from '../mapping/mapping-file.js';

/** A mapping of one table or stream of a known source. */
export type Preset = MappingFile & Required<Pick<MappingFile, 'description' | 'stream' | 'recognize'>>;
