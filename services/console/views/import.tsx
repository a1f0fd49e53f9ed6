/** Loads a file into a stream: the server says what it is, the person answers what is open, sees the rows as they become, and loads it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ReachlineProblem, type StreamName } from '../../client/index.js';
import { type FailureText, failureOf } from '../api.js';
import { FileColumns } from '../components/file-columns.js';
import { FileQuestion } from '../components/file-question.js';
import { Failure, NoPermission } from '../components/states.js';
import { FigureTable } from '../components/table.js';
import { save } from '../export.js';
import { count, fieldLabel, plural } from '../format.js';
import {
  type CheckAnswer,
  checkFile,
  type FileColumn,
  type IngestAnswer,
  isReadable,
  loadable,
  loadFile,
  type OnDuplicate,
  type PersonMatch,
  peopleText,
  proposedCharset,
  type Question,
  type RecordError,
  reasonOf,
  rejectedText,
  type Settings,
} from '../import-file.js';
import { href, param, setParams } from '../router.js';
import { missingScope } from '../session.js';

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
const labelOf = (stream: string) => STREAMS[stream as StreamName]?.[0] ?? stream;

type Step =
  | { name: 'choose'; error?: FailureText }
  | { name: 'check' }
  | { name: 'checked'; answer: CheckAnswer; error?: FailureText }
  | { name: 'load'; answer: CheckAnswer; sentBytes: number }
  | {
      name: 'stopped';
      answer: CheckAnswer;
      onDuplicate: OnDuplicate | undefined;
      sentBytes: number;
      error?: FailureText;
    }
  | { name: 'done'; answer: CheckAnswer; result: IngestAnswer };

const CHANGED: FailureText = {
  title: 'The file cannot be read any more',
  detail: 'It was changed, moved or deleted after it was chosen. Choose it again.',
};

export function Import() {
  const scope = missingScope('ingest:write');
  if (scope) return <NoPermission scope={scope} what="files" verb="import" />;
  return <Importer />;
}

function Importer() {
  const stream = (Object.hasOwn(STREAMS, param('stream')) ? param('stream') : 'contacts') as StreamName;
  const [label, view, one] = STREAMS[stream];
  const [file, setFile] = useState<File>();
  const [settings, setSettings] = useState<Settings>({});
  const [step, setStep] = useState<Step>({ name: 'choose' });
  /** What the file was taken for, and what it is. */
  const [switched, setSwitched] = useState<{ from: string; to: string; description: string }>();
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  useEffect(() => {
    if (!file) return;
    const checking = new AbortController();
    setStep({ name: 'check' });
    checkFile(stream, file, settings, checking.signal).then(
      (answer) => {
        if (readAsProposed(answer)) return;
        const [other, another] = answer.questions.find(({ code }) => code === 'other_stream')?.choices ?? [];
        // Once: what a file is says nothing of what a person wants after that.
        if (other && !another && !switched) {
          setSwitched({ from: stream, to: other.value, description: other.description ?? '' });
          setParams({ stream: other.value }, { replace: true });
        } else setStep({ name: 'checked', answer });
      },
      async (reason) => {
        if (checking.signal.aborted || readAsProposed(reason)) return;
        setStep({ name: 'choose', error: (await isReadable(file)) ? failureOf(reason) : CHANGED });
      },
    );
    return () => checking.abort();
  }, [file, stream, settings]);

  /** Text that is not UTF-8 is read in the charset that the server proposes; the preview says so. */
  function readAsProposed(answer: unknown): boolean {
    const charset = settings.charset === undefined ? proposedCharset(answer) : undefined;
    if (charset !== undefined) setSettings({ ...settings, charset });
    return charset !== undefined;
  }

  function choose(chosen: File | undefined) {
    if (!chosen || step.name === 'check' || step.name === 'load') return;
    setSwitched(undefined);
    setSettings({});
    setFile(chosen);
  }
  function startAgain() {
    setFile(undefined);
    setStep({ name: 'choose' });
  }

  async function load(answer: CheckAnswer, onDuplicate?: OnDuplicate) {
    if (!file) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    let sentBytes = 0;
    const onProgress = (sent: number) => {
      sentBytes = Math.min(sent, file.size);
      if (!signal.aborted) setStep({ name: 'load', answer, sentBytes });
    };
    onProgress(0);
    try {
      setStep({
        name: 'done',
        answer,
        result: await loadFile(answer, file, settings, onDuplicate, { signal, onProgress }),
      });
    } catch (reason) {
      const question = formQuestionOf(reason);
      if (question) setStep({ name: 'checked', answer: { ...answer, questions: [question] } });
      else if (signal.aborted) setStep({ name: 'stopped', answer, onDuplicate, sentBytes });
      else {
        const error = (await isReadable(file)) ? failureOf(reason) : CHANGED;
        setStep({ name: 'stopped', answer, onDuplicate, sentBytes, error });
      }
    }
  }

  const [question] = step.name === 'checked' ? step.answer.questions : [];
  return (
    <div class="view import">
      <div class="toolbar">
        <h1>Import</h1>
        <label class="field inline">
          <span>into</span>
          <select
            value={stream}
            disabled={step.name === 'load'}
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
      {switched?.to === stream && (
        <p class="note notice" role="status">
          {switched.description
            ? `This is ${switched.description}.`
            : `The columns of this file are those of ${label.toLowerCase()}.`}{' '}
          The file goes into {label}, not into {labelOf(switched.from)}.
        </p>
      )}
      {(step.name === 'choose' || step.name === 'check') && (
        <DropZone busy={step.name === 'check'} onFile={choose} />
      )}
      {step.name === 'choose' && step.error && <Failure error={step.error} />}
      {step.name === 'checked' && question && question.code !== 'required_field' && (
        <FileQuestion
          question={question}
          streamLabel={label}
          labelOf={labelOf}
          onAnswer={(answer, value) =>
            answer === 'stream' ? setParams({ stream: value }) : setSettings({ ...settings, [answer]: value })
          }
        />
      )}
      {step.name === 'checked' && question?.code === 'required_field' && (
        <FileColumns
          answer={step.answer}
          missing={question.field}
          settings={settings}
          onSettings={setSettings}
        />
      )}
      {step.name === 'checked' && !question && (
        <Preview
          answer={step.answer}
          one={one}
          settings={settings}
          onSettings={setSettings}
          onLoad={(onDuplicate) => void load(step.answer, onDuplicate)}
          onCancel={startAgain}
        />
      )}
      {step.name === 'load' && file && (
        <section class="facts" aria-label="Progress">
          <progress max={file.size} value={step.sentBytes} aria-label="Bytes sent" />
          <p role="status">
            {step.sentBytes < file.size
              ? `${megabytes(step.sentBytes)} of ${megabytes(file.size)} sent`
              : 'The file is sent. The server reads the last rows …'}
          </p>
          <button type="button" onClick={() => controller.current.abort()}>
            Stop
          </button>
        </section>
      )}
      {step.name === 'stopped' && file && (
        <section class="facts" aria-label="Result">
          {step.error && <Failure error={step.error} />}
          <p role="status">
            Stopped after {megabytes(step.sentBytes)} of {megabytes(file.size)}. Rows that the server had read
            by then may be loaded. Loading the file again changes nothing of them.
          </p>
          <div class="row">
            {step.error !== CHANGED && (
              <button type="button" class="primary" onClick={() => void load(step.answer, step.onDuplicate)}>
                Load it again
              </button>
            )}
            <button type="button" onClick={startAgain}>
              Choose another file
            </button>
          </div>
        </section>
      )}
      {step.name === 'done' && file && (
        <section class="facts" aria-label="Result">
          <h2>
            {plural(step.result.accepted, one, label.toLowerCase())} loaded
            {step.result.rejected > 0 && `, ${count(step.result.rejected)} rejected`}
          </h2>
          {step.result.matched !== undefined && step.result.matched > 0 && (
            <p>
              {plural(step.result.matched, 'row')} changed {step.result.matched === 1 ? 'a person' : 'people'}{' '}
              that you had already.
            </p>
          )}
          {step.result.skipped > 0 && <p>{count(step.result.skipped)} rows of other kinds were left out.</p>}
          {step.result.invalid_values > 0 && (
            <p>
              {plural(step.result.invalid_values, 'row')} had values that are none, such as n/a, which were
              left out.
            </p>
          )}
          {step.result.suppressed > 0 && (
            <p>{count(step.result.suppressed)} were left out, because the person was erased.</p>
          )}
          {step.result.rejected > 0 && <RejectedRows fileName={file.name} {...step} />}
          <div class="row">
            <a class="button" href={href(view, stream === 'contacts' ? { sort: 'changed' } : {})}>
              Show {label.toLowerCase()}
            </a>
            <button type="button" onClick={startAgain}>
              Import another file
            </button>
          </div>
        </section>
      )}
    </div>
  );
}

const megabytes = (bytes: number) =>
  bytes < 1_000_000 ? `${count(Math.ceil(bytes / 1000))} kB` : `${count(Math.round(bytes / 1_000_000))} MB`;

/** The question of a load that found what its check had not read yet. */
function formQuestionOf(error: unknown): Question | undefined {
  const code = error instanceof ReachlineProblem ? error.errors[0]?.code : undefined;
  if (code === 'ambiguous_date') {
    return { code, answer: 'date_order', choices: [{ value: 'dmy' }, { value: 'mdy' }] };
  }
  if (code !== 'ambiguous_number') return undefined;
  return { code, answer: 'decimal', choices: [{ value: '.' }, { value: ',' }] };
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
        onFile(event.dataTransfer?.files[0]);
      }}
    >
      <strong>{busy ? 'Checking …' : 'Drop a file here, or choose one'}</strong>
      <span class="note">
        Excel, CSV or JSON, as HubSpot, Salesforce, Apollo and others export it, or any list. Nothing is
        written before you have seen the rows.
      </span>
      <input
        type="file"
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

interface PreviewProps {
  answer: CheckAnswer;
  one: string;
  settings: Settings;
  onSettings(settings: Settings): void;
  onLoad(onDuplicate: OnDuplicate | undefined): void;
  onCancel(): void;
}

const WAYS: Record<OnDuplicate, string> = {
  update: 'Update them',
  create: 'Create them a second time',
  reject: 'Leave their rows out',
};

type FirstRecord = NonNullable<CheckAnswer['result']>['records'][number];

function Preview({ answer, one, settings, onSettings, onLoad, onCancel }: PreviewProps) {
  const { columns, result, preset_description } = answer;
  const [isChoosing, setChoosing] = useState(false);
  const [chosen, setChosen] = useState<OnDuplicate>('update');
  if (!result) return null;
  const { accepted, rejected, skipped, records, errors } = result;
  const { is_whole: isWhole, invalid_values: invalidValues } = result;
  const fields = answer.fields.filter((name) => records.some(({ record }) => name in record));
  const { created, matched = 0, ambiguous = 0, matches = [] } = result;
  const people = peopleText(result);
  const isAsking = created !== undefined && (matched + ambiguous > 0 || !isWhole);
  const onDuplicate = isAsking ? chosen : undefined;
  const loaded = loadable(result, onDuplicate);
  const leftOut = columns.filter(({ fields: given }) => given.length === 0);
  return (
    <section aria-label="Preview">
      <p>
        {preset_description && `This is ${preset_description}. `}
        <strong>{plural(accepted, 'row')}</strong> can be loaded
        {people && ` (${people})`}
        {rejected > 0 && `, ${count(rejected)} would be rejected`}
        {skipped > 0 && `, ${count(skipped)} are of other kinds`}
        {invalidValues > 0 &&
          `; ${plural(invalidValues, 'row has', 'rows have')} values that are none, such as n/a`}
        .
        {!isWhole &&
          ' Only the beginning of the file was checked; the rows behind it are checked as they are loaded.'}
      </p>
      {settings.charset && (
        <p>The file is not in UTF-8; it is read as {settings.charset}. Look at names with accents.</p>
      )}
      {answer.mapping && 'timezone' in answer.mapping && (
        <p>Times without a time zone are read as {String(answer.mapping.timezone)}.</p>
      )}
      {leftOut.length > 0 && (
        <p class="warning-text">
          {leftOut.length === 1 ? 'This column is left out: ' : 'These columns are left out: '}
          {leftOut.map(({ column }) => column).join(', ')}.
        </p>
      )}
      {isAsking && (
        <label class="field">
          <span>People that you have already</span>
          <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value as OnDuplicate)}>
            {Object.entries(WAYS).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
          {ambiguous > 0 && chosen !== 'create' && (
            <span class="note">Rows of people that you have more than once are rejected.</span>
          )}
        </label>
      )}
      <div class="row wraps">
        <button
          type="button"
          class="primary"
          disabled={loaded === 0 && isWhole}
          onClick={() => onLoad(onDuplicate)}
        >
          {isWhole ? `Load ${plural(loaded, one, loaded === 1 ? one : 'rows')}` : 'Load the file'}
        </button>
        {columns.length > 0 && (
          <button type="button" aria-expanded={isChoosing} onClick={() => setChoosing(!isChoosing)}>
            Choose columns and header
          </button>
        )}
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      {isChoosing && <FileColumns answer={answer} settings={settings} onSettings={onSettings} />}
      {records.length > 0 && (
        <>
          <h2>The first rows as they become</h2>
          <FigureTable
            label="First rows"
            columns={fields.map((name) => ({
              label: fieldLabel(name),
              cell: ({ record }: FirstRecord) => textOf((record as Record<string, unknown>)[name]),
            }))}
            rows={records}
            keyOf={({ line }) => String(line)}
          />
        </>
      )}
      {matches.length > 0 && (
        <>
          <h2>{matches.length < matched ? 'The first people that you have' : 'People that you have'}</h2>
          <FigureTable
            label="People that you have"
            columns={[
              { label: 'Line', cell: ({ line }: PersonMatch) => count(line) },
              { label: 'The same', cell: ({ field, value }) => `${fieldLabel(field)}: ${value}` },
              {
                label: 'Contact',
                cell: ({ contact_id: id }) => <a href={href('/contacts', { contact: id })}>{id}</a>,
              },
            ]}
            rows={matches}
            keyOf={({ line }) => String(line)}
          />
        </>
      )}
      {errors.length > 0 && (
        <>
          <h2>What would be rejected</h2>
          <Errors columns={columns} errors={errors} />
        </>
      )}
    </section>
  );
}

const textOf = (value: unknown) =>
  Array.isArray(value) ? value.join('; ') : value === null || value === undefined ? '' : String(value);

const SHOWN_ERRORS = 20;

function Errors({ columns, errors }: { columns: readonly FileColumn[]; errors: readonly RecordError[] }) {
  return (
    <FigureTable
      label="Rejected rows"
      columns={[
        { label: 'Line', cell: ({ line }) => count(line) },
        {
          label: columns.length > 0 ? 'Column' : 'Field',
          cell: (error) => reasonOf(columns, error)[0] || 'the whole row',
        },
        { label: 'Why', cell: (error) => reasonOf(columns, error)[1] },
      ]}
      rows={errors.slice(0, SHOWN_ERRORS)}
      keyOf={({ line, pointer }) => `${line} ${pointer}`}
    />
  );
}

function RejectedRows({
  fileName,
  answer,
  result,
}: {
  fileName: string;
  answer: CheckAnswer;
  result: IngestAnswer;
}) {
  const { rejected_records: listed = [], rejected, errors } = result;
  const [extension, type] = answer.header ? ['csv', 'text/csv'] : ['ndjson', 'application/x-ndjson'];
  const name = `${fileName.replace(/\.\w+$/, '')}-rejected.${extension}`;
  return (
    <>
      <Errors columns={answer.columns} errors={errors} />
      <p>
        <button type="button" onClick={() => save(name, new Blob([rejectedText(answer, result)], { type }))}>
          Download{' '}
          {listed.length < rejected
            ? `the first ${count(listed.length)} rejected rows`
            : plural(rejected, 'rejected row')}
        </button>
      </p>
    </>
  );
}
