/** Form in which a person chooses the field for each column of a file. */
import { useState } from 'preact/hooks';
import type { Settings } from '../file-load.js';
import { fieldLabel } from '../format.js';
import type { CheckAnswer } from '../import-file.js';
import { Form } from './form.js';

interface FileColumnsProps {
  answer: CheckAnswer;
  /** The required field that no column provides. */
  missing?: string | undefined;
  /** Choices of the person at the last check. */
  settings: Settings;
  onSettings(settings: Settings): void;
}

/** Charsets of spreadsheets and databases that do not write UTF-8. */
const CHARSETS = [
  'utf-8',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'macintosh',
  'shift_jis',
  'gb18030',
];

export function FileColumns({ answer, missing, settings, onSettings }: FileColumnsProps) {
  const [changed, setChanged] = useState<Record<string, string>>({});
  const [row, setRow] = useState(answer.header?.line);
  const [charset, setCharset] = useState(settings.charset ?? 'utf-8');
  const { columns, fields, header, format } = answer;
  const isRead = row === header?.line && charset === (settings.charset ?? 'utf-8');
  const unchanged = Object.keys(changed).length === 0 && isRead;
  const submit = () =>
    onSettings({
      ...settings,
      // Another header row has other columns, so the choices are dropped.
      columns: row === header?.line ? { ...settings.columns, ...changed } : {},
      ...(row !== undefined && { header_row: row }),
      ...((settings.charset !== undefined || charset !== 'utf-8') && { charset }),
    });
  return (
    <Form class="facts" label="Columns" onSubmit={submit}>
      {missing === undefined ? (
        <h2>What do the columns hold?</h2>
      ) : (
        <>
          <h2>Which column is the {fieldLabel(missing).toLowerCase()}?</h2>
          <p class="note">
            {missing === 'contact_id'
              ? 'Every person needs an id that stays the same. Choose the column of the contact id, of an email or of the profile; an id is made of it.'
              : `Every record needs one. Choose the column that holds it.`}
          </p>
        </>
      )}
      <dl>
        {columns.map(({ column, field, samples }, index) => (
          <div key={column}>
            <dt>
              <label for={`column-${index}`}>{column}</label>
              <span class="note samples">{samples.join(' · ')}</span>
            </dt>
            <dd>
              <select
                id={`column-${index}`}
                value={changed[column] ?? field}
                onChange={(event) => setChanged({ ...changed, [column]: event.currentTarget.value })}
              >
                <option value="">Leave out</option>
                {fields.map((name) => (
                  <option key={name} value={name}>
                    {fieldLabel(name)}
                  </option>
                ))}
              </select>
            </dd>
          </div>
        ))}
      </dl>
      {header && (
        <div class="row wraps">
          <label class="field inline">
            <span>The column names are in row</span>
            <input
              type="number"
              min={1}
              max={1000}
              required
              value={row}
              onInput={(event) => setRow(event.currentTarget.valueAsNumber || undefined)}
            />
          </label>
          {format === 'csv' && (
            <label class="field inline">
              <span>Text is written as</span>
              <select value={charset} onChange={(event) => setCharset(event.currentTarget.value)}>
                {[...new Set([charset, ...CHARSETS])].map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          )}
        </div>
      )}
      <button type="submit" class="primary" disabled={unchanged}>
        Check again
      </button>
    </Form>
  );
}
