import type { DestinationStream, Logger } from 'pino';
import type { Config } from '../shared/config.js';
import { createLogger, logFile } from '../shared/logger.js';
import { type Io, printable, styled } from './io.js';

/** Opens the log on standard error: readable lines on a terminal, otherwise JSON, unless REACHLINE_LOG_FORMAT chooses. */
export function openLog(io: Io, { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Logger {
  const file = logFile(2);
  const isReadable = logFormat === 'auto' ? io.stderr.isTTY === true : logFormat === 'text';
  return createLogger(logLevel, isReadable ? readableLines(io, file) : file);
}

const STYLES: Record<string, Parameters<typeof styled>[2]> = {
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['red', 'bold'],
};

/** Formats a line as `14:03:21.042 WARN  waiting for the records store  store=records`. The stack of an error follows on the next lines. */
function readableLines(io: Io, destination: DestinationStream & { flushSync?(): void }) {
  return {
    write: (line: string) => destination.write(readable(io, line)),
    flushSync: () => destination.flushSync?.(),
  };
}

function readable(io: Io, line: string): string {
  const {
    level,
    time,
    msg = '',
    err,
    ...fields
  } = JSON.parse(line) as Record<string, unknown> & {
    level: string;
    time: string;
    err?: { stack?: string; message?: string };
  };
  const values = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`);
  const head = [
    styled(io, 'stderr', 'gray', time.slice(11, 23)),
    styled(io, 'stderr', STYLES[level] ?? 'gray', level.toUpperCase().padEnd(5)),
    shown(msg),
  ].join(' ');
  const rest = values.length === 0 ? '' : `  ${styled(io, 'stderr', 'gray', values.join(' '))}`;
  const stack = err
    ? `\n    ${(err.stack ?? err.message ?? '').split('\n').map(escaped).join('\n    ')}`
    : '';
  return `${head}${rest}${stack}\n`;
}

/** Escapes the characters that a terminal would obey. */
const escaped = (text: string) => json(text).slice(1, -1).replaceAll('\\"', '"');

const json = (value: unknown) => printable(JSON.stringify(value));

const shown = (value: unknown) => (typeof value === 'string' ? escaped(value) : json(value));
