/** Compiles a mapping into a function from source records to records of a stream. */
import type { TObject } from 'typebox';
import { didYouMean } from '../../services/shared/did-you-mean.js';
import { isObject } from '../../services/shared/json.js';
import { type DeadLetter, deadLetter } from '../records/outcome.js';
import type { Stream } from '../streams/stream.js';
import { type CellRule, cellRuleOf, isDebris, isReportLine, isSpreadsheetError, unwrapped } from './cells.js';
import type { DateOrder } from './date-format.js';
import type { JoinedRows, JoinPlan, MappedRecord, Mapping, NamedColumn, SourceRecord } from './mapping.js';
import {
  isOwnForm,
  type Join,
  MappingError,
  type MappingFile,
  type SourceOptions,
  type ValueSource,
} from './mapping-file.js';
import { compilePath, parsedCell, parseTemplate, type Read, rootOf } from './path.js';
import { dimensionCheck, notADay } from './row-scope.js';
import { changedText, fillTemplate, isTooLong, textOf, textTooLong, withPrefix } from './source-values.js';
import {
  type ColumnForm,
  ConversionFailure,
  type Convert,
  converterTo,
  isEmpty,
  MAX_LIST_ENTRIES,
  type TargetType,
  targetTypes,
} from './target-types.js';
import { type TimeZone, timeZone } from './time-zone.js';
import { toolId } from './tool-id.js';

const TEXT_CHANGES = [
  'trim',
  'part',
  'email',
  'host',
  'profile',
  'lower',
  'lookup',
  'salesforce',
  'id',
] as const;
const MAX_LISTED = 10;
/** Maximum number of sources of all fields together, because each source reads its text again. */
const MAX_ALL_SOURCES = 512;
/** Maximum number of column problems that are listed. */
const MAX_COLUMN_PROBLEMS = 100;

/** Reads a value of the source before conversion; undefined if the source has no value. */
type Extractor = (source: SourceRecord) => unknown | ConversionFailure;

/**
 * Compiles a mapping for a stream. Throws a `MappingError` that names every problem by its path in the file: unknown fields, and invalid
 * time zones, date formats and templates.
 */
export function compileMapping(file: MappingFile, stream: Stream): Mapping {
  return new Compiler(file, stream).compile();
}

/** Joined tables with which a mapping is compiled, once they are read. */
interface Tables {
  joins: { [name: string]: JoinedRows };
  /** Formats by column, or one format for every value; undefined for JSON. */
  forms?: ReadonlyMap<string, ColumnForm> | ColumnForm;
}

class Compiler {
  readonly #file: MappingFile;
  readonly #stream: Stream;
  readonly #types: ReadonlyMap<string, TargetType>;
  /** Problems of the mapping, each after its path in the file. */
  readonly #problems: string[] = [];
  readonly #zones = new Map<string, TimeZone | undefined>();
  /** Every path of the source record, as written, with the fields that read it. */
  readonly #paths = new Map<string, Set<string>>();
  /** The field that is being compiled. */
  #field: string | undefined;
  /** The paths into each joined row. */
  readonly #joinPaths = new Map<string, Set<string>>();
  readonly #tables: Tables;
  /** Whether texts are read literally. */
  readonly #isOwnForm: boolean;
  /** Number of values of the current record that were left out as placeholders. */
  #leftOut = 0;
  #sources = 0;
  /** Whether the source being compiled provides the key of a join. */
  #isJoinKey = false;
  readonly #dates = new Set<string>();
  /** Whether a column is read only by fields that are counts, by column. */
  readonly #numbers = new Map<string, boolean>();

  constructor(file: MappingFile, stream: Stream, tables: Tables = { joins: {} }) {
    this.#tables = tables;
    this.#isOwnForm = isOwnForm(file);
    this.#file = file;
    this.#stream = stream;
    this.#types = targetTypes(stream);
    for (const name of Object.keys(file.join ?? {})) this.#joinPaths.set(name, new Set());
  }

  compile(): Mapping {
    const {
      stream: named,
      fields,
      where = {},
      unless = {},
      join = {},
      recognize = [],
      each,
      each_column,
    } = this.#file;
    if (named !== undefined && named !== this.#stream.name) {
      this.#refuse('stream', `The mapping is for ${named}, not for ${this.#stream.name}.`);
    }
    const onOf = Object.entries(join).map(
      ([name, { on }]) => [name, this.#text(`join.${name}.on`, on)] as const,
    );
    this.#onOf = new Map(onOf);
    const targets = Object.entries(fields).map(([name, source]) => {
      this.#field = name;
      return this.#target(name, source);
    });
    this.#field = undefined;
    if (this.#sources > MAX_ALL_SOURCES) {
      this.#refuse('fields', `A mapping may have ${MAX_ALL_SOURCES} sources; this one has ${this.#sources}.`);
    }
    const checkScope = this.#scope();
    const isAnother = this.#condition(where);
    const isOneOf = this.#condition(unless, true);
    const isLeftOut = (record: SourceRecord) => isAnother(record) || isOneOf(record);
    const joins = Object.fromEntries(
      Object.entries(join).map(([name, each]) => [name, this.#join(name, each)]),
    );
    if (each !== undefined && each_column !== undefined)
      this.#refuse('each_column', 'Give either this or each.');
    if (this.#problems.length > 0) throw new MappingError(this.#problems.join('\n'));
    const takeOthers = this.#others();
    const open = this.#opener();
    const marks = recognize.map((mark) => {
      const names = [mark].flat();
      const reads = names.map((name) => compilePath(name));
      return {
        name: names[0] as string,
        isIn: (source: SourceRecord) => reads.some((read) => read(source) !== undefined),
      };
    });
    const split = each_column
      ? columnSplitter(each_column, this.#mentioned())
      : each === undefined
        ? undefined
        : splitter(each);
    const opened = (given: SourceRecord) => {
      const [first] = split?.(given, 1) ?? [];
      const message = isObject(first) ? first : given;
      const source = open(message);
      const isOpened = source !== message;
      // The kind of a record is read first from the envelope; other fields are read first from the record.
      const kind = isOpened ? { ...source, ...message } : source;
      return { source, whole: isOpened ? { ...message, ...source } : source, isLeftOut: isLeftOut(kind) };
    };

    const mapped = (whole: SourceRecord, source: SourceRecord): DeadLetter | MappedRecord => {
      const record: Record<string, unknown> = {};
      for (const target of targets) {
        const value = target(whole);
        if (value === undefined) continue;
        if (value instanceof Rejection) return value.deadLetter;
        record[target.field] = value;
      }
      return takeOthers(source, record) ?? { record };
    };
    const required = ((this.#stream.schema as TObject).required ?? []).filter(
      (field) => field !== this.#stream.organizationField,
    );

    return {
      joins,
      missingTables: Object.entries(join).flatMap(([name, { table }]) =>
        this.#tables.joins[name] === undefined ? [table] : [],
      ),
      withJoins: (rows) => this.#with({ joins: rows }),
      withForms: (forms) => this.#with({ forms }),
      openColumns: {
        dates: [...this.#dates],
        period: this.#file.period_column,
        numbers: [...this.#numbers].map(([name, isCount]) => ({ name, isCount })),
      },
      declared: { dateOrder: this.#file.date_order, decimal: this.#file.decimal },
      marks: recognize,
      columnNames: (columns) => this.#columnNames(columns),
      marksOfTable: (columns) => this.#marksOfTable(columns),
      checkColumns: (columns) => this.#checkColumns(columns),
      missingPaths: (columns) =>
        [...this.#paths.keys()].filter(
          (path) =>
            ![...columns, each_column?.name, each_column?.value].some(
              (column) => column === path || column === rootOf(path),
            ),
        ),
      fieldsOf: (column) => this.#fieldsOf(column),
      givesOrganization: (columns) => this.#givesOrganization(columns),
      missingMarks(message) {
        const { isLeftOut: isOther, whole } = opened(message);
        return isOther
          ? null
          : marks.filter(({ isIn }) => !isIn(whole) && !isIn(message)).map(({ name }) => name);
      },
      split,
      apply: (message) => {
        const { isLeftOut: isOther, whole, source } = opened(message);
        if (isOther) return 'skipped';
        this.#leftOut = 0;
        const outcome = checkScope(whole) ?? mapped(whole, source);
        const isComplete = 'record' in outcome && required.every((field) => !isEmpty(outcome.record[field]));
        if (!isComplete && this.#isTable && isReportLine(textOf(Object.values(message)[0]))) return 'skipped';
        return 'record' in outcome && this.#leftOut > 0 ? { ...outcome, leftOut: this.#leftOut } : outcome;
      },
    };
  }

  get #isTable(): boolean {
    return this.#tables.forms instanceof Map;
  }

  #refuse(where: string, detail: string): void {
    this.#problems.push(`${where}: ${detail}`);
  }

  #with(tables: Partial<Tables>): Mapping {
    return new Compiler(this.#file, this.#stream, { ...this.#tables, ...tables }).compile();
  }

  #onOf: ReadonlyMap<string, (row: SourceRecord) => string | undefined> = new Map();

  #target(field: string, source: ValueSource): Target {
    const type = this.#types.get(field);
    if (type === undefined) {
      const hint = didYouMean(field, [...this.#types.keys()]);
      this.#refuse(
        `fields.${field}`,
        `${JSON.stringify(field)} is not a field of ${this.#stream.name}. ${hint}`.trimEnd(),
      );
    }
    const where = `fields.${field}`;
    const alternatives = Array.isArray(source)
      ? source.map((each, index) => this.#converted(`${where}[${index}]`, type ?? 'text', each))
      : [this.#converted(where, type ?? 'text', source)];
    const target = (record: SourceRecord) => {
      for (const extract of alternatives) {
        const value = extract(record);
        if (value instanceof ConversionFailure) return rejection(field, value);
        if (!isEmpty(value)) return value;
      }
      return undefined;
    };
    return Object.assign(target, { field });
  }

  /** Converts one alternative to the type of its field. */
  #converted(where: string, type: TargetType, source: string | SourceOptions): Extractor {
    const options = typeof source === 'string' ? { path: source } : source;
    this.#sources++;
    if (options.value !== undefined) {
      const value = this.#converter(where, type, options)(options.value);
      if (value instanceof ConversionFailure) this.#refuse(`${where}.value`, `${value.detail}.`);
      return () => value;
    }
    if (options.all !== undefined) return this.#all(where, type, options.all);
    const extract = this.#extractor(where, type, options);
    const convert = this.#converter(where, type, options);
    const rule = this.#rule;
    return (record) => {
      const value = extract(record);
      if (value instanceof ConversionFailure || isEmpty(value)) return value;
      const converted = convert(value);
      return rule === undefined ? converted : this.#applyRule(rule, converted);
    };
  }

  get #rule(): CellRule | undefined {
    return this.#isOwnForm ? undefined : cellRuleOf(this.#field);
  }

  /** Applies the rule of a field to a text, or to each entry of a list. Counts placeholders. */
  #applyRule(rule: CellRule, value: unknown): unknown {
    const ruled = (entry: unknown) => {
      if (typeof entry !== 'string' || entry === '') return entry;
      const result = rule(entry);
      if (result === null || (Array.isArray(result) && result.length === 0)) this.#leftOut++;
      return result ?? undefined;
    };
    return Array.isArray(value)
      ? [...new Set(value.flatMap(ruled))].filter((entry) => entry !== undefined)
      : ruled(value);
  }

  #cell(path: string, type: TargetType): (source: SourceRecord) => unknown {
    const read = this.#read(path);
    const clean = this.#cleaner(type);
    return clean === undefined ? read : (source) => clean(read(source));
  }

  /** Cleans the texts of the field: removes placeholders of spreadsheets, and normalizes ids. Undefined if texts are read literally. */
  #cleaner(type: TargetType): ((value: unknown) => unknown) | undefined {
    const isOwnForm = this.#isOwnForm;
    const readsId = this.#readsId;
    if (isOwnForm && !readsId) return undefined;
    const isNumber = type === 'integer' || type === 'money';
    return (value) => {
      if (typeof value !== 'string' || value === '') return value;
      if (isOwnForm) return toolId(value.trim());
      const text = unwrapped(value.trim());
      // A number whose text is an error is lost and not 0, so its record is rejected.
      if (isDebris(text) && !(isNumber && isSpreadsheetError(text))) {
        this.#leftOut++;
        return undefined;
      }
      return readsId ? toolId(text) : text;
    };
  }

  /**
   * Whether the source being compiled reads an id. In files in the format of the stream, only ids of the network count, which are numbers.
   */
  get #readsId(): boolean {
    if (this.#field === undefined) return this.#isJoinKey;
    if (this.#isOwnForm && !this.#stream.name.startsWith('network-a-')) return false;
    return this.#field === 'id' || this.#field.endsWith('_id');
  }

  #all(where: string, type: TargetType, sources: readonly (string | SourceOptions)[]): Extractor {
    if (type !== 'list') this.#refuse(where, 'all is for fields that hold a list.');
    const extractors = sources.map((each, index) => this.#converted(`${where}.all[${index}]`, 'list', each));
    return (record) => {
      const list = new Set<unknown>();
      for (const extract of extractors) {
        const value = extract(record);
        if (value instanceof ConversionFailure) return value;
        if (isEmpty(value)) continue;
        for (const entry of [value].flat()) {
          if (list.size >= MAX_LIST_ENTRIES) break;
          list.add(entry);
        }
      }
      return [...list];
    };
  }

  /** The value before it is converted to the type of its field. */
  #extractor(where: string, type: TargetType, options: SourceOptions): Extractor {
    const extract = this.#sourceExtractor(where, type, options);
    const { prefix, keep_prefix = false } = options;
    const behind: Extractor = (record) => {
      const value = extract(record);
      if (value instanceof ConversionFailure || prefix === undefined) return value;
      return withPrefix(value, prefix, keep_prefix, type === 'list');
    };
    if (!TEXT_CHANGES.some((name) => options[name])) return behind;
    const changed = (value: unknown) => (typeof value === 'string' ? changedText(value, options) : value);
    return (record) => {
      const value = behind(record);
      return Array.isArray(value) ? value.map(changed) : changed(value);
    };
  }

  #sourceExtractor(where: string, type: TargetType, options: SourceOptions): Extractor {
    if (options.path !== undefined) {
      const read = this.#cell(options.path, type);
      return (record) => {
        const value = read(record);
        return isTooLong(value) ? textTooLong : value;
      };
    }
    const parts = parseTemplate(options.template ?? '');
    if (typeof parts === 'string') {
      this.#refuse(`${where}.template`, parts);
      return () => undefined;
    }
    const reads = parts.map(({ literal, path }) => ({
      literal,
      read: path === undefined ? undefined : this.#cell(path, type),
    }));
    return (record) => fillTemplate(reads, record, options.complete);
  }

  #converter(where: string, type: TargetType, options: SourceOptions): Convert {
    try {
      const zone =
        this.#zone(`${where}.timezone`, options.timezone) ?? this.#zone('timezone', this.#file.timezone);
      return converterTo(type, options, zone, this.#formOf(type, options));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#refuse(`${where}.format`, error.message);
      return (value) => value;
    }
  }

  /** Registers the column of a source whose format is not declared. Returns the format of the column once the format is determined. */
  #formOf(type: TargetType, { path, format, decimal, date_order }: SourceOptions): ColumnForm | undefined {
    if (path === undefined) return undefined;
    if (type === 'integer' || type === 'money') {
      if (decimal !== undefined) return undefined;
      this.#numbers.set(path, type === 'integer' && this.#numbers.get(path) !== false);
    } else if (type === 'date' || type === 'date-time') {
      if (format !== undefined) return undefined;
      if (date_order !== undefined) return { order: date_order as DateOrder };
      this.#dates.add(path);
    } else return undefined;
    const { forms } = this.#tables;
    return forms instanceof Map ? forms.get(path) : (forms as ColumnForm | undefined);
  }

  #zone(where: string, name: string | undefined): TimeZone | undefined {
    if (name === undefined || this.#zones.has(name)) return this.#zones.get(name ?? '');
    let zone: TimeZone | undefined;
    try {
      zone = timeZone(name);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#refuse(where, error.message);
    }
    this.#zones.set(name, zone);
    return zone;
  }

  /** Reads a path of the source record or of a joined row. */
  #read(path: string): Read {
    const [name = '', ...rest] = path.split('.');
    const joined = this.#joinPaths.get(name);
    if (joined === undefined || rest.length === 0) {
      const fields = this.#paths.get(path) ?? new Set();
      if (this.#field !== undefined) fields.add(this.#field);
      this.#paths.set(path, fields);
      return compilePath(path);
    }
    const inner = rest.join('.');
    joined.add(inner);
    const [on, rows] = [this.#onOf.get(name), this.#tables.joins[name]];
    if (on === undefined || rows === undefined) return () => undefined;
    return (record) => {
      const key = on(record);
      return key === undefined ? undefined : rows.get(key)?.[inner];
    };
  }

  /** Compiles a source outside the fields; the compiled function returns text. */
  #text(where: string, source: ValueSource): (row: SourceRecord) => string | undefined {
    this.#isJoinKey = true;
    const extractors = [source].flat().map((each) => this.#converted(where, 'text', each));
    this.#isJoinKey = false;
    return (row) => {
      for (const extract of extractors) {
        const value = extract(row);
        if (typeof value === 'string' && value !== '') return value;
      }
      return undefined;
    };
  }

  /** Compiles the function that opens the envelope. Without an envelope, the function returns the message itself. */
  #opener(): (message: SourceRecord) => SourceRecord {
    const reads = (this.#file.envelope ?? []).map((path) => compilePath(path));
    return (message) => {
      for (const read of reads) {
        const found = read(message);
        const record = typeof found === 'string' ? parsedCell(found) : found;
        if (isObject(record)) return record;
      }
      return message;
    };
  }

  /** Whether a record has none of the texts at one of the paths. With `excluded`: whether the record has one of the texts. */
  #condition(where: NonNullable<MappingFile['where']>, excluded = false): (record: SourceRecord) => boolean {
    const conditions = Object.entries(where).map(([path, texts]) => ({
      read: this.#read(path),
      texts: new Set([texts].flat()),
    }));
    return (record) => conditions.some(({ read, texts }) => texts.has(textOf(read(record))) === excluded);
  }

  /** Compiles the check that rejects a row which covers several days, or only a part of one day. */
  #scope(): (source: SourceRecord) => DeadLetter | null {
    const { period, dimensions = {} } = this.#file;
    const isFiner = dimensionCheck(dimensions);
    const [start, end] = [this.#day('period.start', period?.start), this.#day('period.end', period?.end)];
    return (source) => {
      const days = [start(source), end(source)];
      const failure = days.find((day) => day instanceof ConversionFailure);
      if (failure instanceof ConversionFailure) return rejection('date', failure).deadLetter;
      const [first, last] = days;
      const isPeriod = typeof first === 'string' && typeof last === 'string';
      return (isPeriod ? notADay(first, last, period?.end_is_after) : null) ?? isFiner(source);
    };
  }

  #day(where: string, source: ValueSource | undefined): Extractor {
    const alternatives = source === undefined ? [] : [source].flat();
    const extractors = alternatives.map((each, index) => this.#converted(`${where}[${index}]`, 'date', each));
    return (record) => extractors.map((extract) => extract(record)).find((value) => !isEmpty(value));
  }

  #join(name: string, { table, each, key, newest = [], where = {} }: Join): JoinPlan {
    // The paths of the key refer to the joined table, so a separate compiler compiles them.
    const own = new Compiler({ fields: {} }, this.#stream);
    const keyOf = own.#text(`join.${name}.key`, key);
    const isLeftOut = own.#condition(where);
    this.#problems.push(...own.#problems);
    const versions = newest.map((path) => compilePath(path));
    const picks = [...(this.#joinPaths.get(name) ?? [])].map((path) => ({ path, read: compilePath(path) }));
    const open = this.#opener();
    return {
      table,
      split: each === undefined ? undefined : splitter(each),
      isAmongMessages: Object.keys(where).length > 0,
      keyOf(row, onlyMessages = false) {
        const record = open(row);
        const isOther = record === row ? onlyMessages : isLeftOut({ ...record, ...row });
        return isOther ? undefined : keyOf(record);
      },
      versionOf(row) {
        for (const read of versions) {
          const text = textOf(read(open(row)));
          if (text !== '') return text;
        }
        return '';
      },
      pick(row) {
        const record = open(row);
        return Object.fromEntries(picks.map(({ path, read }) => [path, read(record)]));
      },
    };
  }

  /** The fields of the source that the mapping mentions. */
  #mentioned(): Set<string> {
    const { ignore, dimensions = {} } = this.#file;
    return new Set([
      ...Object.keys(dimensions).flatMap((path) => [path, rootOf(path)]),
      ...[...this.#paths.keys()].flatMap((path) => [path, rootOf(path)]),
      ...(Array.isArray(ignore) ? ignore : []),
    ]);
  }

  /** Whether a field that the mapping does not mention belongs to the stream, or is dropped by its decoder. */
  #isField(name: string): boolean {
    const { derivedFields = [], aliases = {} } = this.#stream;
    return this.#types.has(name) || derivedFields.includes(name) || Object.hasOwn(aliases, name);
  }

  /** Copies the fields that the mapping does not mention. */
  #others(): (source: SourceRecord, record: Record<string, unknown>) => DeadLetter | undefined {
    if (this.#file.ignore === 'rest') return () => undefined;
    const mentioned = this.#mentioned();
    const converters = new Map<string, Convert>();
    for (const [name, type] of this.#types) {
      if (mentioned.has(name)) continue;
      const convert = this.#converter('', type, { path: name });
      this.#field = name;
      const [clean = (value: unknown) => value, rule] = [this.#cleaner(type), this.#rule];
      this.#field = undefined;
      converters.set(name, (given) => {
        const value = clean(given);
        if (value instanceof ConversionFailure || isEmpty(value)) return value;
        const converted = convert(value);
        return rule === undefined ? converted : this.#applyRule(rule, converted);
      });
    }
    return (source, record) => {
      let unknown: string[] | undefined;
      for (const name in source) {
        if (mentioned.has(name)) continue;
        const convert = converters.get(name);
        if (convert === undefined) {
          if (this.#isField(name)) record[name] = source[name];
          else if (unknown) unknown.push(name);
          else unknown = [name];
          continue;
        }
        if (Object.hasOwn(record, name)) continue;
        // Null clears a field of a contact.
        const given = source[name];
        const value = given === null ? null : isEmpty(given) ? undefined : convert(given);
        if (value instanceof ConversionFailure) return rejection(name, value).deadLetter;
        if (value !== undefined) record[name] = value;
      }
      return unknown && this.#unknownFields(unknown);
    };
  }

  #unknownFields(names: readonly string[]): DeadLetter {
    const shown = names.slice(0, MAX_LISTED).map((name) => JSON.stringify(name.slice(0, 128)));
    const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
    return deadLetter(
      'unknown_field',
      '',
      `The mapping does not mention ${shown.join(', ')}${more}. List them under "ignore", or ignore "rest".`,
    );
  }

  #columnNames(columns: readonly string[]): Map<string, string> {
    const { ignore, recognize = [] } = this.#file;
    const marks = recognize.flat();
    const known = [...this.#mentioned(), ...marks, ...(ignore === 'rest' ? [] : this.#types.keys())];
    const given = new Set(columns);
    const spelling = new Map(
      known.filter((name) => !given.has(name)).map((name) => [name.toLowerCase(), name]),
    );
    const isKnown = new Set(known);
    const names = new Map<string, string>();
    for (const column of columns) {
      const name = isKnown.has(column) ? undefined : spelling.get(column.toLowerCase());
      if (name === undefined) continue;
      names.set(column, name);
      spelling.delete(column.toLowerCase());
    }
    return names;
  }

  #marksOfTable(columns: readonly NamedColumn[]): NamedColumn[] {
    const { where = {}, unless = {}, recognize = [], envelope = [], each = [], each_column } = this.#file;
    const paths = [...Object.keys(where), ...Object.keys(unless), recognize, envelope, each].flat(2);
    const decisive = new Set(paths.flatMap((path) => [path, rootOf(path)]));
    const mentioned = this.#mentioned();
    // The first of the columns that become rows represents all of these columns.
    const first = each_column && columns.find(([, name]) => !mentioned.has(name));
    return columns.filter((column) => decisive.has(column[1]) || column === first);
  }

  #checkColumns(columns: readonly string[]): string[] {
    const { ignore, each_column } = this.#file;
    const mentioned = this.#mentioned();
    const problems: string[] = [];
    const taken = new Set<string>();
    for (const [index, column] of columns.entries()) {
      if (problems.length >= MAX_COLUMN_PROBLEMS) break;
      const isMentioned = mentioned.has(column);
      if (!isMentioned && (ignore === 'rest' || each_column)) continue;
      if (taken.has(column)) problems.push(`The file has two columns ${JSON.stringify(column)}.`);
      taken.add(column);
      if (isMentioned || this.#isField(column)) continue;
      if (column === '') problems.push(`Column ${index + 1} has no name.`);
      else {
        const hint = didYouMean(column, [...this.#types.keys()]);
        const detail = `The column ${JSON.stringify(column)} is not a field of ${this.#stream.name}. ${hint}`;
        problems.push(detail.trimEnd());
      }
    }
    return problems;
  }

  #fieldsOf(column: string): string[] {
    const { ignore, each_column } = this.#file;
    const isMentioned = this.#mentioned().has(column);
    if (!isMentioned && ignore !== 'rest' && this.#isField(column)) return [column];
    const read = isMentioned ? column : each_column?.value;
    const fields = [...this.#paths].filter(([path]) => path === read || rootOf(path) === read);
    return [...new Set(fields.flatMap(([, names]) => [...names]))];
  }

  #givesOrganization(columns: readonly string[]): boolean {
    const { organizationField } = this.#stream;
    return (
      Object.hasOwn(this.#file.fields, organizationField) ||
      (this.#file.ignore !== 'rest' && columns.includes(organizationField))
    );
  }
}

/** Compiles a function that splits a message into the entries of the list at a path, each with the other fields of the message. */
function splitter(path: string): NonNullable<Mapping['split']> {
  const read = compilePath(path);
  const root = rootOf(path);
  return (message, limit) => {
    const entries = read(message);
    if (!Array.isArray(entries)) return null;
    const { [root]: _, ...others } = message;
    return entries.slice(0, limit).map((entry) => (isObject(entry) ? { ...others, ...entry } : entry));
  };
}

/** Compiles a function that splits a row into its unmentioned columns, each with the other columns of the row. */
function columnSplitter(
  { name, value }: NonNullable<MappingFile['each_column']>,
  mentioned: ReadonlySet<string>,
): NonNullable<Mapping['split']> {
  return (row, limit) => {
    const columns = Object.keys(row);
    const others = columns.filter((column) => mentioned.has(column));
    if (others.length === columns.length) return null;
    const kept = Object.fromEntries(others.map((column) => [column, row[column]]));
    return columns
      .filter((column) => !mentioned.has(column))
      .slice(0, limit)
      .map((column) => ({ ...kept, [name]: column, [value]: row[column] }));
  };
}

interface Target {
  (source: SourceRecord): unknown | Rejection;
  field: string;
}

class Rejection {
  readonly deadLetter: DeadLetter;

  constructor(deadLetter: DeadLetter) {
    this.deadLetter = deadLetter;
  }
}

const rejection = (field: string, { code, detail }: ConversionFailure) =>
  new Rejection(deadLetter(code, `/${field}`, `${field} ${detail}.`));
