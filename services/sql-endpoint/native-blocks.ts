/**
 * Blocks of the Native format for `client_protocol_version`. The embedded engine writes the form without a version. Clients that name a
 * version expect a header before each block and, from 54454 on, a byte before the data of each column: src/Formats/NativeWriter.cpp.
 */
import { TimeSlice } from '../shared/async.js';
import { CODE, SqlError } from './errors.js';

/** BlockInfo in three parts: field 1 (no overflow), field 2 (no bucket), and the end. */
const BLOCK_INFO = Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]);
const FIRST_WITH_SERIALIZATION_KIND = 54454;
const DEFAULT_SERIALIZATION = Buffer.from([0]);

/** Adds to blocks what a protocol version requires. Throws a `SqlError` for a type whose data length is unknown here. */
export async function nativeBlocks(bytes: Uint8Array, version: number): Promise<Buffer> {
  const reader = new Reader(bytes);
  const slice = new TimeSlice();
  const layouts = new Map<string, Layout>();
  const parts: Uint8Array[] = [];
  let written = 0;
  const copyTo = (end: number) => {
    parts.push(bytes.subarray(written, end));
    written = end;
  };
  while (reader.at < bytes.length) {
    const start = reader.at;
    parts.push(BLOCK_INFO);
    const columns = reader.varint();
    const rows = reader.varint();
    for (let column = 0; column < columns; column++) {
      reader.text();
      const type = reader.text();
      copyTo(reader.at);
      if (version >= FIRST_WITH_SERIALIZATION_KIND) parts.push(DEFAULT_SERIALIZATION);
      const layout = layouts.get(type) ?? layoutOf(type);
      layouts.set(type, layout);
      if (rows > 0) {
        layout.prefix(reader);
        layout.data(reader, rows);
      }
    }
    copyTo(reader.at);
    if (slice.shouldYield(reader.at - start)) await slice.yieldToEventLoop();
  }
  return Buffer.concat(parts);
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#view.getUint8(this.at++);
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  }

  uint64(): number {
    this.at += 8;
    return Number(this.#view.getBigUint64(this.at - 8, true));
  }

  skip(bytes: number): void {
    this.at += bytes;
  }

  skipText(): void {
    const length = this.varint();
    this.at += length;
  }

  text(): string {
    const length = this.varint();
    this.at += length;
    return Buffer.from(this.#bytes.subarray(this.at - length, this.at)).toString('utf8');
  }
}

/** Skips the data of a type: first the data that a column has once, then its rows. */
interface Layout {
  prefix(reader: Reader): void;
  data(reader: Reader, rows: number): void;
}

const NO_PREFIX = () => undefined;
const fixed = (bytes: number): Layout => ({
  prefix: NO_PREFIX,
  data: (reader, rows) => reader.skip(rows * bytes),
});

const FIXED_BYTES: [pattern: RegExp, bytes: number][] = [
  [/^(U?Int8|Bool|Enum8|Nothing)$/, 1],
  [/^(U?Int16|Date|Enum16|BFloat16)$/, 2],
  [/^(U?Int32|Float32|Date32|DateTime|Time|IPv4|Decimal32)$/, 4],
  [/^(U?Int64|Float64|DateTime64|Time64|Decimal64|Interval[A-Z]\w+)$/, 8],
  [/^(U?Int128|UUID|IPv6|Decimal128)$/, 16],
  [/^(U?Int256|Decimal256)$/, 32],
];

function layoutOf(type: string): Layout {
  const [, name = type, inner] = /^(\w+)\((.*)\)$/s.exec(type) ?? [];
  const args = inner === undefined ? [] : topLevel(inner, ',');
  const [first = ''] = args;
  const bytes = FIXED_BYTES.find(([pattern]) => pattern.test(name))?.[1];
  if (bytes !== undefined) return fixed(bytes);
  switch (name) {
    case 'Decimal':
      return fixed(decimalBytes(Number(first)));
    case 'FixedString':
      return fixed(Number(first));
    case 'String':
      return {
        prefix: NO_PREFIX,
        data(reader, rows) {
          for (let row = 0; row < rows; row++) reader.skipText();
        },
      };
    case 'Nullable':
      return tuple([fixed(1), layoutOf(first)]);
    case 'Tuple':
      // A Tuple without elements has a byte per row.
      return args.length === 0 ? fixed(1) : tuple(args.map((arg) => layoutOf(elementType(arg))));
    case 'Map':
      return array(tuple(args.map(layoutOf)));
    case 'Array':
      return array(layoutOf(first));
    case 'LowCardinality':
      return lowCardinality(layoutOf(/^Nullable\((?<type>.*)\)$/.exec(first)?.groups?.type ?? first));
    default:
      throw new SqlError(
        CODE.NOT_IMPLEMENTED,
        `A column of type ${name} cannot be sent to this client. Convert it with toString`,
      );
  }
}

function tuple(elements: readonly Layout[]): Layout {
  return {
    prefix(reader) {
      for (const element of elements) element.prefix(reader);
    },
    data(reader, rows) {
      for (const element of elements) element.data(reader, rows);
    },
  };
}

function array(element: Layout): Layout {
  return {
    prefix: element.prefix,
    data(reader, rows) {
      if (rows === 0) return;
      reader.skip((rows - 1) * 8);
      element.data(reader, reader.uint64());
    },
  };
}

const INDEX_BYTES = [1, 2, 4, 8];
const HAS_GLOBAL_KEYS = 256;
const HAS_OWN_KEYS = 512;

function lowCardinality(keys: Layout): Layout {
  const hasFlag = (flags: number, flag: number) => Math.floor(flags / flag) % 2 === 1;
  return {
    prefix: (reader) => reader.skip(8),
    data(reader, rows) {
      if (rows === 0) return;
      const flags = reader.uint64();
      if (hasFlag(flags, HAS_GLOBAL_KEYS)) keys.data(reader, reader.uint64());
      if (hasFlag(flags, HAS_OWN_KEYS)) keys.data(reader, reader.uint64());
      const indexes = reader.uint64();
      reader.skip(indexes * (INDEX_BYTES[flags % 256] ?? 8));
    },
  };
}

function decimalBytes(precision: number): number {
  if (precision <= 9) return 4;
  if (precision <= 18) return 8;
  return precision <= 38 ? 16 : 32;
}

/** The type in `name Type` or `Type`. */
const elementType = (element: string): string => topLevel(element, ' ').at(-1) ?? '';

/** Parts of a text between separators outside parentheses and quotes. */
function topLevel(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[(), ]/gs)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === separator && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
