/** A rejection or failure with ClickHouse's code for it. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** ClickHouse's codes of the exceptions that this endpoint itself throws. */
export const CODE = {
  badArguments: 36,
  notImplemented: 48,
  unknownDatabase: 81,
  unknownSetting: 115,
  unknownCompressionMethod: 89,
  readonly: 164,
  requiredPassword: 194,
  tooManySimultaneousQueries: 202,
  socketTimeout: 209,
  queryIsTooLarge: 229,
  accessDenied: 497,
  authenticationFailed: 516,
  unknownException: 1002,
} as const;

const NAMES: { [code: number]: string } = {
  36: 'BAD_ARGUMENTS',
  48: 'NOT_IMPLEMENTED',
  89: 'UNKNOWN_COMPRESSION_METHOD',
  115: 'UNKNOWN_SETTING',
  164: 'READONLY',
  194: 'REQUIRED_PASSWORD',
  202: 'TOO_MANY_SIMULTANEOUS_QUERIES',
  209: 'SOCKET_TIMEOUT',
  229: 'QUERY_IS_TOO_LARGE',
  497: 'ACCESS_DENIED',
  516: 'AUTHENTICATION_FAILED',
  1002: 'UNKNOWN_EXCEPTION',
};

/** As a server maps them: src/Server/HTTP/exceptionCodeToHTTPStatus.cpp of ClickHouse. */
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
  [404, [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]],
  [408, [159]],
  [411, [381]],
  [413, [229]],
  [415, [779]],
  [501, [48]],
  [503, [76, 209, 439]],
];
const STATUS = new Map(STATUS_OF_CODES.flatMap(([status, codes]) => codes.map((code) => [code, status])));

export function httpStatus({ code }: SqlError): number {
  return STATUS.get(code) ?? 500;
}

/** The line clients look for, such as `Code: 62. DB::Exception: Syntax error … (SYNTAX_ERROR)`. */
export function exceptionText({ code, message }: SqlError): string {
  const name = NAMES[code];
  return message.startsWith('Code: ')
    ? `${message}\n`
    : `Code: ${code}. DB::Exception: ${message}${name ? ` (${name})` : ''}\n`;
}

/** Any thrown value as a `SqlError`. Only messages of the engine are passed on. */
export function toException(thrown: unknown): SqlError {
  if (thrown instanceof SqlError) return thrown;
  const { clickhouseCode, message } = thrown as { clickhouseCode?: number; message?: string };
  if (typeof clickhouseCode === 'number') {
    return new SqlError(clickhouseCode, message ?? '');
  }
  return new SqlError(CODE.unknownException, 'The statement failed');
}
