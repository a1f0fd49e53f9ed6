/**
 * Loads a file into a stream. The server recognizes the file, the person answers open questions, sees the converted rows, and loads them.
 */
import { useEffect, useState } from 'preact/hooks';
import type { StreamName } from '../../client/index.js';
import { type FailureText, failureOf } from '../api.js';
import { AUDIENCE_SCOPES } from '../components/add-to-audience.js';
import { AudiencePicker } from '../components/audience-picker.js';
import { FileColumns } from '../components/file-columns.js';
import { FileQuestion } from '../components/file-question.js';
import { Failure, NoPermission, ScopedLink } from '../components/states.js';
import { FigureTable } from '../components/table.js';
import { Popover } from '../components/toolbar.js';
import { UndoImportButton } from '../components/undo-import.js';
import { save } from '../export.js';
import type { FileLoad, LoadRequest, OnDuplicate, Settings } from '../file-load.js';
import { count, fieldLabel, megabytes, plural } from '../format.js';
import {
  CHANGED,
  type CheckAnswer,
  checkFile,
  createdBy,
  type FileColumn,
  type IngestAnswer,
  isReadable,
  loadable,
  loadFile,
  type PersonMatch,
  peopleText,
  proposedCharset,
  type RecordError,
  reasonOf,
  rejectedText,
} from '../import-file.js';
import { newImportId } from '../imports.js';
import { href, param, path, setParams } from '../router.js';
import { missingScope, missingScopeOf, useSession } from '../session.js';
import { STREAMS } from '../streams.js';

const labelOf = (stream: string) => STREAMS[stream as StreamName]?.[0] ?? stream;

type Step =
  | { name: 'choose'; error?: FailureText }
  | { name: 'check' }
  | { name: 'checked'; answer: CheckAnswer };

export function Import() {
  const scope = missingScope('ingest:write');
  if (scope) return <NoPermission scope={scope} what="files" verb="import" />;
  return <Importer />;
}

function Importer() {
  const session = useSession();
  const load = session.fileLoad.value;
  const asked = (Object.hasOwn(STREAMS, param('stream')) ? param('stream') : 'contacts') as StreamName;
  const stream = load ? (load.answer.stream as StreamName) : asked;
  const [label, , one] = STREAMS[stream];
  const [chosen, setFile] = useState<File>();
  const file = load?.file ?? chosen;
  const [settings, setSettings] = useState<Settings>({});
  const [step, setStep] = useState<Step>({ name: 'choose' });
  /** Set if the file belongs to another stream than the one chosen: both streams, and what the file is. */
  const [switched, setSwitched] = useState<{ from: string; to: string; description: string }>();

  useEffect(() => {
    if (!chosen) return;
    const checking = new AbortController();
    setStep({ name: 'check' });
    checkFile(session, asked, chosen, settings, checking.signal).then(
      (answer) => {
        if (readAsProposed(answer)) return;
        const [other, another] = answer.questions.find(({ code }) => code === 'other_stream')?.choices ?? [];
        // Switches the stream only once; afterwards the person's choice counts.
        if (other && !another && !switched) {
          setSwitched({ from: asked, to: other.value, description: other.description ?? '' });
          setParams({ stream: other.value }, { replace: true });
        } else setStep({ name: 'checked', answer });
      },
      async (reason) => {
        if (checking.signal.aborted || readAsProposed(reason)) return;
        setStep({ name: 'choose', error: (await isReadable(chosen)) ? failureOf(reason) : CHANGED });
      },
    );
    return () => checking.abort();
  }, [chosen, asked, settings]);

  /** Reads text that is not UTF-8 in the charset that the server proposes. The preview says so. */
  function readAsProposed(answer: unknown): boolean {
    const charset = settings.charset === undefined ? proposedCharset(answer) : undefined;
    if (charset !== undefined) setSettings({ ...settings, charset });
    return charset !== undefined;
  }

  // Questions are answered in this view, even if they came up while another view was open.
  useEffect(() => {
    if (!load?.question) return;
    session.fileLoad.value = null;
    setFile(load.file);
    setSettings(load.settings);
    setStep({ name: 'checked', answer: { ...load.answer, questions: [load.question] } });
  }, [load?.question]);

  function choose(next: File | undefined) {
    if (!next || step.name === 'check') return;
    setSwitched(undefined);
    setSettings({});
    setFile(next);
  }
  function startAgain() {
    session.fileLoad.value = null;
    setFile(undefined);
    setStep({ name: 'choose' });
  }
  async function start(what: LoadRequest) {
    const { result, answer } = await loadFile(session, what);
    // The import view shows the outcome itself.
    if (path.value === '/import') return;
    session.notice.value = {
      text: result
        ? `${loadedText(answer, result)} from ${what.file.name}.`
        : `${what.file.name} was not loaded completely. See Import.`,
      isFailure: result === undefined,
    };
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
            disabled={load?.state === 'loading'}
            onChange={(event) => {
              session.fileLoad.value = null;
              setParams({ stream: event.currentTarget.value });
            }}
          >
            {Object.entries(STREAMS).map(([name, [text]]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {file && <span class="total">{file.name}</span>}
        {stream === 'contacts' && (
          <ScopedLink href={href('/imports')} scopes={['contacts:read']}>
            Earlier imports
          </ScopedLink>
        )}
      </div>
      {switched?.to === stream && (
        <p class="note notice" role="status">
          {switched.description
            ? `This is ${switched.description}.`
            : `The columns of this file are those of ${label.toLowerCase()}.`}{' '}
          The file goes into {label}, not into {labelOf(switched.from)}.
        </p>
      )}
      {load ? (
        <Loaded load={load} onLoad={() => void start(load)} onClose={startAgain} />
      ) : (
        <>
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
                answer === 'stream'
                  ? setParams({ stream: value })
                  : setSettings({ ...settings, [answer]: value })
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
              onLoad={(choice) =>
                chosen &&
                void start({
                  answer: step.answer,
                  file: chosen,
                  settings,
                  importId: stream === 'contacts' ? newImportId(chosen.name) : undefined,
                  ...choice,
                })
              }
              onCancel={startAgain}
            />
          )}
        </>
      )}
    </div>
  );
}

const loadedText = ({ stream }: CheckAnswer, { accepted, rejected }: IngestAnswer) => {
  const [label, , one] = STREAMS[stream as StreamName];
  return `${plural(accepted, one, label.toLowerCase())} loaded${rejected > 0 ? `, ${count(rejected)} rejected` : ''}`;
};

interface LoadedProps {
  load: FileLoad;
  onLoad(): void;
  onClose(): void;
}

/** A running load, or its outcome. */
function Loaded({ load, onLoad, onClose }: LoadedProps) {
  const { file, answer, state, sentBytes, error, result, onDuplicate, importId, audience } = load;
  const [label, view] = STREAMS[answer.stream as StreamName];
  if (state === 'loading') {
    return (
      <section class="facts" aria-label="Progress">
        <progress max={file.size} value={sentBytes} aria-label="Bytes sent" />
        <p class="note">The load goes on when you open another view.</p>
      </section>
    );
  }
  if (!result) {
    return (
      <section class="facts" aria-label="Result">
        {error && <Failure error={error} />}
        <p role="status">
          Stopped after {megabytes(sentBytes)} of {megabytes(file.size)}. Rows that the server had read by
          then may be loaded. Loading the file again does not change them.
        </p>
        <div class="row">
          {error !== CHANGED && (
            <button type="button" class="primary" onClick={onLoad}>
              Load it again
            </button>
          )}
          <button type="button" onClick={onClose}>
            Choose another file
          </button>
        </div>
      </section>
    );
  }
  const created = createdBy(result, onDuplicate);
  return (
    <section class="facts" aria-label="Result">
      <h2>{loadedText(answer, result)}</h2>
      {result.stale > 0 && (
        <p>
          {plural(result.stale, 'row')} {result.stale === 1 ? 'is' : 'are'} older than what you have, and
          changed nothing.
        </p>
      )}
      {audience && (
        <p>
          {result.stale > 0 ? 'All others' : 'All of them'} are in {audience.name}.
        </p>
      )}
      {onDuplicate === 'update' && result.matched !== undefined && result.matched > 0 && (
        <p>
          {plural(result.matched, 'row')} changed {result.matched === 1 ? 'a person' : 'people'} that you had
          already.
        </p>
      )}
      {result.skipped > 0 && <p>{count(result.skipped)} rows of other kinds were left out.</p>}
      {result.invalid_values > 0 && (
        <p>{plural(result.invalid_values, 'row')} had placeholders such as n/a, which were left out.</p>
      )}
      {result.suppressed > 0 && (
        <p>{count(result.suppressed)} were left out, because the person was erased.</p>
      )}
      {result.rejected > 0 && <RejectedRows fileName={file.name} answer={answer} result={result} />}
      <div class="row">
        {importId && created !== 0 ? (
          <>
            <a class="button" href={href(view, { data_import_id: importId })}>
              {created === undefined ? 'Show the new contacts' : `Show ${plural(created, 'new contact')}`}
            </a>
            <UndoImportButton importId={importId} onDone={onClose} />
          </>
        ) : (
          <a class="button" href={href(view, importId ? { sort: 'changed' } : {})}>
            Show {label.toLowerCase()}
          </a>
        )}
        <button type="button" onClick={onClose}>
          Import another file
        </button>
      </div>
    </section>
  );
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
          // Resets the input, so that choosing the same file again is a change.
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
  onLoad(choice: Pick<LoadRequest, 'onDuplicate' | 'audience'>): void;
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
  const [audience, setAudience] = useState<LoadRequest['audience']>();
  if (!result) return null;
  const { accepted, rejected, skipped, records, errors } = result;
  const { is_whole: isWhole, invalid_values: invalidValues } = result;
  const fields = answer.fields.filter((name) => records.some(({ record }) => name in record));
  const { created, matched = 0, ambiguous = 0, matches = [] } = result;
  const people = peopleText(result);
  const isAsking = created !== undefined && (matched + ambiguous > 0 || !isWhole);
  // People are looked up even if the check found nobody, because some may have come since.
  const onDuplicate = created === undefined ? undefined : chosen;
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
        {invalidValues > 0 && `; ${plural(invalidValues, 'row has', 'rows have')} placeholders such as n/a`}.
        {!isWhole &&
          ' Only the beginning of the file was checked; the other rows are checked while they are loaded.'}
      </p>
      {settings.charset && (
        <p>The file is not in UTF-8; it is read as {settings.charset}. Check names with accents.</p>
      )}
      {answer.mapping && 'timezone' in answer.mapping && (
        <p>Times without a time zone are read as {String(answer.mapping.timezone)}.</p>
      )}
      {answer.missing_tables && (
        <p class="warning-text">
          {`Names and ids from another table of this export, ${answer.missing_tables.join(' and ')}, stay unknown. `}
          Load both files with <code>reachline ingest --with</code> to have them.
        </p>
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
      {answer.stream === 'contacts' && (
        <div class="row wraps">
          {audience ? (
            <>
              <span>The loaded contacts join {audience.name}.</span>
              <button type="button" onClick={() => setAudience(undefined)}>
                Do not add them
              </button>
            </>
          ) : (
            <Popover label="Add them to an audience" needs={missingScopeOf(AUDIENCE_SCOPES)}>
              {(close) => (
                <AudiencePicker
                  label="Add to an audience, or name a new one"
                  verb="Add to"
                  disabled={false}
                  isOpen
                  onPick={(picked) => {
                    close();
                    setAudience(picked);
                  }}
                  onCreate={(name) => {
                    close();
                    setAudience({ name });
                  }}
                />
              )}
            </Popover>
          )}
        </div>
      )}
      <div class="row wraps">
        <button
          type="button"
          class="primary"
          disabled={loaded === 0 && isWhole}
          onClick={() => onLoad({ onDuplicate, audience })}
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
          <h2>The first rows after conversion</h2>
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
