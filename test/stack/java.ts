import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickJavaOptions } from './quick.js';
import { MissingPrerequisite } from './stack-error.js';

/** Folders of JDKs from packages, on Linux and on macOS. */
const FOLDERS = ['/usr/lib/jvm', '/Library/Java/JavaVirtualMachines'];

/** Home of the oldest Java that is new enough. Throws a `MissingPrerequisite` that says what to install. */
export function findJava(minimum: number): string {
  const found = candidates()
    .map((home) => ({ home, version: versionOf(home) }))
    .filter(({ version }) => version >= minimum)
    .sort((a, b) => a.version - b.version);
  const [best] = found;
  if (best) return best.home;
  throw new MissingPrerequisite(
    `Java ${minimum} or newer is missing. Install one beside the default Java (packages temurin-${minimum}-jdk or openjdk-${minimum}-jdk), or name its folder with ES_JAVA_HOME.`,
  );
}

function candidates(): string[] {
  const named = [process.env.ES_JAVA_HOME, process.env.JAVA_HOME].filter((home) => home !== undefined);
  const installed = FOLDERS.flatMap((folder) =>
    entries(folder).flatMap((name) => [join(folder, name), join(folder, name, 'Contents/Home')]),
  );
  return [...named, ...installed];
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Major version; 0 without Java. */
function versionOf(home: string): number {
  try {
    accessSync(join(home, 'bin/java'), constants.X_OK);
    const [, major] = /^JAVA_VERSION="(\d+)/m.exec(readFileSync(join(home, 'release'), 'utf8')) ?? [];
    return Number(major ?? 0);
  } catch {
    return 0;
  }
}

/** The arguments of Java for a program that logs with the libraries that `distributions.ts` adds. */
export const javaProgram = (classPath: string, main: string, ...args: string[]): string[] => [
  ...quickJavaOptions(),
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  ...['-cp', classPath, main, ...args],
];
