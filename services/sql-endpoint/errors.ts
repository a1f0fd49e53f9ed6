import { StoreUnavailableError } from '../shared/store-errors.js';

/** A rejection or failure, with ClickHouse's error code. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** ClickHouse's names and codes of the exceptions that the endpoint itself throws. */
export const CODE = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_COMPRESSION_METHOD: 89,
  UNKNOWN_SETTING: 115,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  REQUIRED_PASSWORD: 194,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  SOCKET_TIMEOUT: 209,
  TOO_MANY_BYTES: 307,
  QUERY_IS_TOO_LARGE: 229,
  CANNOT_SCHEDULE_TASK: 439,
  ACCESS_DENIED: 497,
  AUTHENTICATION_FAILED: 516,
  UNKNOWN_EXCEPTION: 1002,
} as const;

/** Statuses by error code, as on a server: src/Server/HTTP/exceptionCodeToHTTPStatus.cpp of ClickHouse. */
const STATUS_OF_CODES: [status: number, codes: number[]][] = [
  [401, [194]],
  [403, [192, 193, 497, 512, 516]],
  [
    400,
    [
      6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675,
      676,
    ],
  ],
  // Other faults of a statement or of its values, for which a ClickHouse server responds with 500.
  [400, [19, 42, 43, 69, 70, 153, 179, 184, 207, 215, 349, 386, 407, 457]],
  [404, [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]],
  [408, [159]],
  [411, [381]],
  [413, [229]],
  [415, [779]],
  [501, [48]],
  [503, [76, 209, 439]],
];

export const httpStatus = ({ code }: SqlError): number =>
  STATUS_OF_CODES.find(([, codes]) => codes.includes(code))?.[0] ?? 500;

/** The line that clients look for, such as `Code: 62. DB::Exception: Syntax error … (SYNTAX_ERROR)`. */
export function exceptionText({ code, message }: SqlError): string {
  if (message.startsWith('Code: ')) return `${message}\n`;
  const name = Object.entries(CODE).find(([, each]) => each === code)?.[0];
  return `Code: ${code}. DB::Exception: ${message}${name ? ` (${name})` : ''}\n`;
}

/** Converts any thrown value to a `SqlError`. Only messages of the engine are passed on. */
export function toException(thrown: unknown): SqlError {
  if (thrown instanceof SqlError) return thrown;
  if (thrown instanceof StoreUnavailableError)
    return new SqlError(CODE.CANNOT_SCHEDULE_TASK, 'The engine starts again; repeat the statement');
  const { clickhouseCode, message } = thrown as { clickhouseCode?: number; message?: string };
  if (typeof clickhouseCode === 'number') return new SqlError(clickhouseCode, message ?? '');
  return new SqlError(CODE.UNKNOWN_EXCEPTION, 'The statement failed');
}
