/** Mappings that a request may name. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findStream } from '../streams/index.js';
import type { Stream } from '../streams/stream.js';
import { compileMapping } from './compile.js';
import type { Mapping } from './mapping.js';
import { MAX_MAPPING_BYTES, MappingError, type MappingFile, parseMappingFile } from './mapping-file.js';

export interface StoredMapping {
  readonly stream: Stream;
  /** Name of the preset; absent for a file of the folder. */
  readonly preset?: string;
  readonly file: MappingFile;
  readonly mapping: Mapping;
}

const MAX_FILES = 200;
export const MAX_NAME_LENGTH = 64;
const fileName = /^[a-z0-9][a-z0-9._-]{0,63}\.json$/;

/**
 * The mappings in the files `<name>.json` of a folder. A missing folder means no mappings, unless the folder is required. Throws a
 * `MappingError` for the first invalid file.
 */
export function readMappings(folder: string, { isRequired = false } = {}): Map<string, StoredMapping> {
  const names = entriesOf(folder, isRequired).filter((name) => name.endsWith('.json'));
  if (names.length > MAX_FILES) {
    throw new MappingError(`${folder} has ${names.length} mappings; at most ${MAX_FILES} are read.`);
  }
  return new Map(
    names.sort().map((name) => {
      const path = join(folder, name);
      return within(path, () => {
        if (!fileName.test(name)) {
          throw new MappingError('its name must be 1 to 64 characters of a-z 0-9 . _ - before .json.');
        }
        if (statSync(path).size > MAX_MAPPING_BYTES) {
          throw new MappingError(`A mapping file may have ${MAX_MAPPING_BYTES} bytes at most.`);
        }
        return [name.slice(0, -'.json'.length), compileStored(parseMappingFile(readFileSync(path, 'utf8')))];
      });
    }),
  );
}

function compileStored(file: MappingFile): StoredMapping {
  const stream = file.stream === undefined ? undefined : findStream(file.stream);
  if (stream === undefined) throw new MappingError('stream: is required of a mapping that requests name.');
  return { stream, file, mapping: compileMapping(file, stream) };
}

function entriesOf(folder: string, isRequired: boolean): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (!isRequired) return [];
    throw new MappingError(`There is no folder ${folder}, which REACHLINE_MAPPINGS names.`);
  }
}

/** Prefixes errors with the name of the mapping. */
function within<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    throw new MappingError(error.message.replace(/^/gm, `${name}: `));
  }
}
