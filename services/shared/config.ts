import { availableParallelism } from 'node:os';
import { Ajv2020 } from 'ajv/dist/2020.js';
import envSchema from 'env-schema';
import Type, { type Static } from 'typebox';

/** Every setting, with its default: the only place that knows the environment's names. */
const Environment = Type.Object({
  PORT: Type.Integer({
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'Port the gateway listens on.',
  }),
  HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address the gateway listens on; 0.0.0.0 for all.',
  }),
  REACHLINE_DATA_DIR: Type.String({
    default: './data',
    minLength: 1,
    description: 'Folder of the embedded stores.',
  }),
  REACHLINE_LOG_LEVEL: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Least severe log line that is written.',
  }),
  REACHLINE_RATE_LIMIT: Type.Integer({
    default: 6000,
    minimum: 0,
    description: 'Requests a key may send in 60 seconds; 0 for no limit.',
  }),
  REACHLINE_PROVISIONAL_DAYS: Type.Integer({
    default: 7,
    minimum: 0,
    maximum: 3660,
    description: 'Days before today whose advertising figures count as provisional.',
  }),
  REACHLINE_CORS_ORIGINS: Type.String({
    default: '',
    description: 'Origins that may call from a browser, separated by commas.',
  }),
  REACHLINE_REQUEST_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
    description: 'Milliseconds after which a request is given up.',
  }),
  REACHLINE_SEARCH_THREADS: Type.Integer({
    default: Math.max(1, Math.min(4, availableParallelism() - 1)),
    minimum: 1,
    maximum: 64,
    description: 'Threads that search the embedded store.',
  }),
});
type Environment = Static<typeof Environment>;

export interface Config {
  port: number;
  host: string;
  dataDir: string;
  logLevel: Environment['REACHLINE_LOG_LEVEL'];
  /** Requests a key may send in 60 seconds; 0 for no limit. */
  rateLimit: number;
  provisionalDays: number;
  corsOrigins: string[];
  requestTimeoutMs: number;
  searchThreads: number;
}

/** The environment breaks rules; the message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const names = new Set(Object.keys(Environment.properties));

/** Reads the environment. Throws a `ConfigError` that lists every problem at once. */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const problems = Object.keys(environment)
    .filter((name) => name.startsWith('REACHLINE_') && !names.has(name))
    .map((name) => `${name} is not a setting of Reachline`);
  const ajv = new Ajv2020({ allErrors: true, coerceTypes: true, useDefaults: true, removeAdditional: true });
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => names.has(name) && value !== ''),
  );
  let env: Environment;
  try {
    env = envSchema<Environment>({ schema: Environment, data: given, env: false, dotenv: false, ajv });
  } catch (error) {
    const errors = (
      error as { errors?: { instancePath: string; message?: string; params: Record<string, unknown> }[] }
    ).errors;
    if (!errors) throw error;
    for (const { instancePath, message, params } of errors) {
      const name = instancePath.slice(1);
      const allowed = params.allowedValues ? `: ${(params.allowedValues as string[]).join(', ')}` : '';
      problems.push(`${name} is ${JSON.stringify(given[name])} but ${message}${allowed}`);
    }
    throw new ConfigError(problems.join('\n'));
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return {
    port: env.PORT,
    host: env.HOST,
    dataDir: env.REACHLINE_DATA_DIR,
    logLevel: env.REACHLINE_LOG_LEVEL,
    rateLimit: env.REACHLINE_RATE_LIMIT,
    provisionalDays: env.REACHLINE_PROVISIONAL_DAYS,
    corsOrigins: env.REACHLINE_CORS_ORIGINS.split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
    requestTimeoutMs: env.REACHLINE_REQUEST_TIMEOUT_MS,
    searchThreads: env.REACHLINE_SEARCH_THREADS,
  };
}
