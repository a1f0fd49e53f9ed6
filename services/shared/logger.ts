import { trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger, pino } from 'pino';

const KEY = /rl_live_[0-9A-Za-z_]*/g;

const LOGGED_PATH_LENGTH = 256;

/** A path for the log: truncated, and decoded if it contains a percent-encoded API key, so that redaction finds the key. */
export function loggedPath(path: string): string {
  const cut = path.length > LOGGED_PATH_LENGTH ? `${path.slice(0, LOGGED_PATH_LENGTH)}…` : path;
  if (!cut.includes('%')) return cut;
  let decoded = cut;
  // Proxies may encode a path two or three times.
  for (let round = 0; round < 3; round++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return decoded.includes('rl_live_') ? decoded : cut;
}

/** A JSON logger that redacts API keys in every line. It does not log headers. With tracing, a line has the ids of its trace and span. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: traceIds,
    hooks: {
      streamWrite: (line: string) =>
        line.includes('rl_live_') ? line.replace(KEY, 'rl_live_[redacted]') : line,
    },
  };
  return pino(options, destination ?? logFile(1));
}

/** Ids of the active span, in the names of OpenTelemetry; nothing without tracing. */
function traceIds(): object {
  const context = trace.getActiveSpan()?.spanContext();
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}

const MAX_WRITE_BYTES = 16 * 1024;

/** Buffers lines for up to 250 ms. */
export function logFile(dest: string | number): DestinationStream {
  return pino.destination({
    dest,
    sync: false,
    minLength: MAX_WRITE_BYTES - 1,
    maxWrite: MAX_WRITE_BYTES,
    periodicFlush: 250,
  });
}
