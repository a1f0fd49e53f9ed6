/** Loads a file into a stream: checked first, shown as it becomes, then written in parts. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StreamName } from '../../client/index.js';
import { type FieldError, ReachlineProblem } from '../../client/index.js';
import type { IngestQuery } from '../../client/operations.js';
import { type FailureText, failureOf } from '../api.js';
import { Form } from '../components/form.js';
import { Failure, NoPermission } from '../components/states.js';
import { FigureTable } from '../components/table.js';
import { save } from '../export.js';
import { count, fieldLabel, plural } from '../format.js';
import {
  type ColumnChoice,
  columnsOf,
  endOfPart,
  headerRowsOf,
  type ImportFile,
  MAX_LISTED,
  type Rejected,
  readImportFile,
  reasonOf,
  rejectedText,
  sendRows,
  withColumns,
  writeRows,
} from '../import-file.js';
import { href, param, setParams } from '../router.js';
import { type IngestAnswer, missingScope } from '../session.js';

/** Each with its view, and the name of one record. */
export const STREAMS: Record<StreamName, readonly [label: string, view: string, one: string]> = {
  contacts: ['Contacts', '/contacts', 'contact'],
  audiences: ['Audiences', '/audiences', 'audience'],
  'website-visits': ['Visits', '/visits', 'visit'],
  'network-a-campaigns': ['Campaigns', '/advertising', 'campaign'],
  'network-a-creatives': ['Creatives', '/advertising', 'creative'],
  'network-a-companies': ['Advertising companies', '/advertising', 'company'],
  'network-a-deliveries': ['Deliveries', '/advertising', 'delivery'],
  'currency-rates': ['Currency rates', '/advertising', 'rate'],
};
/** A request may have more; the rest of a larger file is checked as it is written. */
const CHECKED = { rows: 90_000, characters: 4 * 1024 * 1024 };

/** What is to be decided before a file can be read. */
type Question =
  | { kind: 'date' | 'number'; text: string }
  | { kind: 'columns'; choices: ColumnChoice[]; fields: readonly string[] };

interface Written {
  accepted: number;
  rejected: number;
  skipped: number;
  suppressed: number;
  listed: Rejected[];
  /** Rows that are done. */
  to: number;
}
const NOTHING: Written = { accepted: 0, rejected: 0, skipped: 0, suppressed: 0, listed: [], to: 0 };

type Step =
  | { name: 'choose' }
  | { name: 'check' }
  | { name: 'ask'; question: Question; resume?: { header: number; written: Written } }
  | { name: 'preview'; answer: IngestAnswer; header: number }
  | { name: 'write'; header: number; written: Written }
  | { name: 'stopped'; header: number; written: Written; error?: FailureText }
  | { name: 'done'; header: number; written: Written };

const errorOf = (error: unknown): FieldError | undefined =>
  error instanceof ReachlineProblem ? error.errors[0] : undefined;

export function Import() {
  const scope = missingScope('ingest:write');
  const stream = (Object.hasOwn(STREAMS, param('stream')) ? param('stream') : 'contacts') as StreamName;
  if (scope) return <NoPermission scope={scope} what="files" verb="import" />;
  return <ImportInto key={stream} stream={stream} />;
}

function ImportInto({ stream }: { stream: StreamName }) {
  const [label, view, one] = STREAMS[stream];
  const [file, setFile] = useState<ImportFile>();
  const [step, setStep] = useState<Step>({ name: 'choose' });
  const [error, setError] = useState<FailureText>();
  const [query, setQuery] = useState<IngestQuery>({});
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  async function choose(chosen: File | undefined) {
    if (!chosen) return;
    controller.current.abort();
    controller.current = new AbortController();
    const { signal } = controller.current;
    setError(undefined);
    setStep({ name: 'check' });
    try {
      const read = await readImportFile(chosen);
      // Another file was chosen, or the view was left.
      if (signal.aborted) return;
      setFile(read);
      await check(read, { map: 'auto' });
    } catch (reason) {
      if (signal.aborted) return;
      setError({ title: 'The file cannot be read', detail: (reason as Error).message });
      setStep({ name: 'choose' });
    }
  }

  /** A dry run; where it cannot say how to read the file, the person is asked. */
  async function check(checked: ImportFile, options: IngestQuery): Promise<void> {
    const { signal } = controller.current;
    setQuery(options);
    setError(undefined);
    setStep({ name: 'check' });
    try {
      const to = endOfPart(checked, 0, CHECKED.rows, CHECKED.characters);
      const dryRun = { ...options, dry_run: true };
      const answer = await sendRows({ stream, file: checked, header: 0, query: dryRun, signal }, 0, to);
      if (answer.preset) setQuery({ ...options, map: answer.preset });
      setFile({ ...checked, columns: checked.columns ?? answer.columns });
      setStep({ name: 'preview', answer, header: headerRowsOf(checked, answer) });
    } catch (reason) {
      if (signal.aborted) return;
      const { code, detail = '' } = errorOf(reason) ?? {};
      if (code === 'ambiguous_date' || code === 'ambiguous_number') return ask(code, detail);
      // The columns may be named as the fields are.
      if (code === 'unknown_mapping' && detail === 'No preset fits.') return check(checked, without(options));
      if (code === 'columns' && checked.type === 'text/csv') return askColumns(checked);
      setError(failureOf(reason));
      setStep({ name: 'choose' });
    }
  }

  /** `resume` is where writing stopped, for a part that leaves open what those before it had settled. */
  function ask(
    code: 'ambiguous_date' | 'ambiguous_number',
    detail: string,
    resume?: { header: number; written: Written },
  ) {
    const [text = detail] = detail.split(/ Say which with | Say with /);
    setStep({ name: 'ask', question: { kind: code === 'ambiguous_date' ? 'date' : 'number', text }, resume });
  }

  async function askColumns(checked: ImportFile) {
    const fields = await fieldsOf(stream);
    const original = { ...checked, rows: checked.originals };
    setFile(original);
    setStep({
      name: 'ask',
      question: { kind: 'columns', fields, choices: columnsOf(original, fields) },
    });
  }

  async function write(header: number, before: Written, options: IngestQuery): Promise<void> {
    if (!file) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    let written = { ...before, to: Math.max(before.to, header) };
    setStep({ name: 'write', header, written });
    try {
      while (written.to < file.rows.length) {
        const to = endOfPart(file, written.to);
        const room = MAX_LISTED - written.listed.length;
        const sending = { stream, file, header, query: options, signal };
        const answer = await writeRows(sending, written.to, to, room);
        written = {
          accepted: written.accepted + answer.accepted,
          rejected: written.rejected + answer.rejected,
          skipped: written.skipped + answer.skipped,
          suppressed: written.suppressed + answer.suppressed,
          listed: [...written.listed, ...answer.listed],
          to,
        };
        setStep({ name: 'write', header, written });
      }
      setStep({ name: 'done', header, written });
    } catch (reason) {
      const { code, detail = '' } = errorOf(reason) ?? {};
      if (code === 'ambiguous_date' || code === 'ambiguous_number')
        return ask(code, detail, { header, written });
      setStep({
        name: 'stopped',
        header,
        written,
        error: signal.aborted ? undefined : failureOf(reason),
      });
    }
  }

  return (
    <div class="view import">
      <div class="toolbar">
        <h1>Import</h1>
        <label class="field inline">
          <span>into</span>
          <select
            value={stream}
            disabled={step.name === 'write'}
            onChange={(event) => setParams({ stream: event.currentTarget.value })}
          >
            {Object.entries(STREAMS).map(([name, [text]]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {file && <span class="total">{file.name}</span>}
      </div>
      {(step.name === 'choose' || step.name === 'check') && (
        <DropZone busy={step.name === 'check'} onFile={(chosen) => void choose(chosen)} />
      )}
      {error && <Failure error={error} />}
      {step.name === 'ask' && file && (
        <Ask
          question={step.question}
          stream={stream}
          onForm={(form) => {
            const options = { ...query, ...form };
            if (!step.resume) return void check(file, options);
            setQuery(options);
            void write(step.resume.header, step.resume.written, options);
          }}
          onColumns={(choices) => {
            const renamed = withColumns(file, choices);
            setFile(renamed);
            void check(renamed, without(query));
          }}
        />
      )}
      {step.name === 'preview' && file && (
        <Preview
          file={file}
          answer={step.answer}
          preset={query.map}
          one={one}
          onLoad={() => void write(step.header, NOTHING, query)}
          onCancel={() => setStep({ name: 'choose' })}
        />
      )}
      {step.name === 'write' && file && (
        <section class="facts" aria-label="Progress">
          <progress max={file.rows.length} value={step.written.to} aria-label="Rows sent" />
          <p role="status">
            {count(step.written.accepted)} accepted, {count(step.written.rejected)} rejected
          </p>
          <button type="button" onClick={() => controller.current.abort()}>
            Stop
          </button>
        </section>
      )}
      {step.name === 'stopped' && (
        <section class="facts" aria-label="Result">
          {step.error && <Failure error={step.error} />}
          <p role="status">
            Stopped: {count(step.written.accepted)} accepted, {count(step.written.rejected)} rejected. What is
            sent again changes nothing.
          </p>
          <button type="button" class="primary" onClick={() => void write(step.header, step.written, query)}>
            Continue
          </button>
        </section>
      )}
      {step.name === 'done' && file && (
        <section class="facts" aria-label="Result">
          <h2>
            {plural(step.written.accepted, one, label.toLowerCase())} loaded
            {step.written.rejected > 0 && `, ${count(step.written.rejected)} rejected`}
          </h2>
          {step.written.skipped > 0 && (
            <p>{count(step.written.skipped)} rows of other kinds were left out.</p>
          )}
          {step.written.suppressed > 0 && (
            <p>{count(step.written.suppressed)} were left out, because the person was erased.</p>
          )}
          {step.written.listed.length > 0 && (
            <RejectedRows file={file} header={step.header} written={step.written} />
          )}
          <div class="row">
            <a class="button" href={href(view, stream === 'contacts' ? { sort: 'changed' } : {})}>
              Show {label.toLowerCase()}
            </a>
            <button type="button" onClick={() => setStep({ name: 'choose' })}>
              Import another file
            </button>
          </div>
        </section>
      )}
    </div>
  );
}

const without = ({ map: _, ...query }: IngestQuery): IngestQuery => query;

interface OpenApi {
  components: { schemas: Record<string, { properties: Record<string, unknown> }> };
}

/** Fields of the records of a stream, without the organization, which is that of the key. */
async function fieldsOf(stream: StreamName): Promise<string[]> {
  const document = (await (await fetch('/openapi.json')).json()) as OpenApi;
  const { properties = {} } = document.components.schemas[`${stream}-record`] ?? {};
  return Object.keys(properties).filter((name) => !/^organization_?id$/i.test(name));
}

function DropZone({ busy, onFile }: { busy: boolean; onFile(file: File | undefined): void }) {
  const [isOver, setOver] = useState(false);
  return (
    <label
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (!busy) onFile(event.dataTransfer?.files[0]);
      }}
    >
      <strong>{busy ? 'Checking …' : 'Drop a file here, or choose one'}</strong>
      <span class="note">
        CSV or JSON, as HubSpot, Salesforce, Apollo and others export it, or any list. Nothing is written
        before you have seen the rows.
      </span>
      <input
        type="file"
        accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl"
        disabled={busy}
        onChange={(event) => {
          const input = event.currentTarget;
          onFile(input.files?.[0]);
          // The same file again is a change too.
          input.value = '';
        }}
      />
    </label>
  );
}

interface AskProps {
  question: Question;
  stream: StreamName;
  onForm(form: IngestQuery): void;
  onColumns(choices: readonly ColumnChoice[]): void;
}

function Ask({ question, stream, onForm, onColumns }: AskProps) {
  if (question.kind === 'columns') {
    return <Columns {...question} stream={stream} onColumns={onColumns} />;
  }
  const options: [label: string, form: IngestQuery][] =
    question.kind === 'date'
      ? [
          ['The day comes first', { date_order: 'dmy' }],
          ['The month comes first', { date_order: 'mdy' }],
        ]
      : [
          ['A point: 1,234.50', { decimal: '.' }],
          ['A comma: 1.234,50', { decimal: ',' }],
        ];
  return (
    <section class="facts" aria-label="Question">
      <h2>{question.kind === 'date' ? 'Which comes first in dates?' : 'What is the decimal mark?'}</h2>
      <p>{question.text}</p>
      <div class="row">
        {options.map(([label, form]) => (
          <button key={label} type="button" onClick={() => onForm(form)}>
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}

interface ColumnsProps {
  choices: readonly ColumnChoice[];
  fields: readonly string[];
  stream: StreamName;
  onColumns(choices: readonly ColumnChoice[]): void;
}

function Columns({ choices: guessed, fields, stream, onColumns }: ColumnsProps) {
  const [choices, setChoices] = useState(guessed);
  const chosen = choices.filter(({ field }) => field !== '').map(({ field }) => field);
  const hasId = stream !== 'contacts' || chosen.some((field) => /^contact_id$|_emails$/.test(field));
  return (
    <Form class="facts" label="Columns" onSubmit={() => onColumns(choices)}>
      <h2>What do the columns hold?</h2>
      <p class="note">This is no export that is known here. Columns without a field are left out.</p>
      <dl>
        {choices.map(({ column, sample, field }, index) => (
          <div key={index}>
            <dt>
              <label for={`column-${index}`}>{column}</label>
            </dt>
            <dd class="row">
              <select
                id={`column-${index}`}
                value={field}
                onChange={(event) =>
                  setChoices(
                    choices.map((choice, at) =>
                      at === index ? { ...choice, field: event.currentTarget.value } : choice,
                    ),
                  )
                }
              >
                <option value="">Leave out</option>
                {fields.map((name) => (
                  <option key={name} value={name} disabled={name !== field && chosen.includes(name)}>
                    {fieldLabel(name)}
                  </option>
                ))}
              </select>
              <span class="note">{sample}</span>
            </dd>
          </div>
        ))}
      </dl>
      {!hasId && (
        <p class="note">One column has to be the contact id, or an email, from which an id is made.</p>
      )}
      <button type="submit" class="primary" disabled={!hasId || chosen.length === 0}>
        Check
      </button>
    </Form>
  );
}

type FirstRecord = NonNullable<IngestAnswer['records']>[number];

interface PreviewProps {
  file: ImportFile;
  answer: IngestAnswer;
  preset: string | undefined;
  one: string;
  onLoad(): void;
  onCancel(): void;
}

function Preview({ file, answer, preset, one, onLoad, onCancel }: PreviewProps) {
  const { records = [], accepted, rejected, skipped, errors } = answer;
  const fields = [...new Set(records.flatMap(({ record }) => Object.keys(record)))].filter(
    (name) => !/^organization_?id$/i.test(name),
  );
  const leftOut = (file.columns ?? []).filter((each) => each.fields.length === 0 && each.column !== '');
  const isWhole = accepted + rejected + skipped >= file.rows.length - 50;
  return (
    <section aria-label="Preview">
      <p>
        {preset === undefined ? (
          'The columns are fields of Reachline.'
        ) : (
          <>
            Recognized as <code>{preset}</code>.
          </>
        )}{' '}
        <strong>{plural(accepted, 'row')}</strong> can be loaded
        {rejected > 0 && `, ${count(rejected)} would be rejected`}
        {skipped > 0 && `, ${count(skipped)} are of other kinds`}
        {!isWhole && '; the rows behind them are checked as they are loaded'}.
      </p>
      {leftOut.length > 0 && <p>Left out: {leftOut.map(({ column }) => column).join(', ')}.</p>}
      <div class="row">
        <button type="button" class="primary" disabled={accepted === 0 && isWhole} onClick={onLoad}>
          {isWhole ? `Load ${plural(accepted, one, accepted === 1 ? one : 'rows')}` : 'Load the file'}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      {records.length > 0 && (
        <>
          <h2>The first rows as they become</h2>
          <FigureTable
            label="First rows"
            columns={fields.map((name) => ({
              label: fieldLabel(name),
              cell: ({ record }: FirstRecord) => textOf(record[name]),
            }))}
            rows={records}
            keyOf={({ line }) => String(line)}
          />
        </>
      )}
      {errors.length > 0 && (
        <>
          <h2>What would be rejected</h2>
          <Errors file={file} errors={errors} />
        </>
      )}
    </section>
  );
}

const textOf = (value: unknown) =>
  Array.isArray(value) ? value.join('; ') : value === null || value === undefined ? '' : String(value);

const SHOWN_ERRORS = 20;

function Errors({ file, errors }: { file: ImportFile; errors: IngestAnswer['errors'] }) {
  return (
    <FigureTable
      label="Rejected rows"
      columns={[
        { label: 'Line', cell: ({ line }) => count(line) },
        {
          label: file.type === 'text/csv' ? 'Column' : 'Field',
          cell: (error) => reasonOf(file, error)[0] || 'the whole row',
        },
        { label: 'Why', cell: (error) => reasonOf(file, error)[1] },
      ]}
      rows={errors.slice(0, SHOWN_ERRORS)}
      keyOf={({ line, pointer }) => `${line} ${pointer}`}
    />
  );
}

function RejectedRows({ file, header, written }: { file: ImportFile; header: number; written: Written }) {
  const { listed, rejected } = written;
  const extension = file.type === 'text/csv' ? 'csv' : 'ndjson';
  return (
    <>
      <Errors file={file} errors={listed} />
      <p>
        <button
          type="button"
          onClick={() =>
            save(
              `${file.name.replace(/\.\w+$/, '')}-rejected.${extension}`,
              new Blob([rejectedText(file, header, listed)], { type: file.type }),
            )
          }
        >
          Download{' '}
          {listed.length < rejected
            ? `the first ${count(listed.length)} rejected rows`
            : plural(rejected, 'rejected row')}
        </button>
      </p>
    </>
  );
}
