/** What each column of a file becomes, as a person decides it. */
import { useState } from 'preact/hooks';
import { fieldLabel } from '../format.js';
import type { CheckAnswer } from '../import-file.js';
import { Form } from './form.js';

interface FileColumnsProps {
  answer: CheckAnswer;
  /** The field that no column gives. */
  missing?: string | undefined;
  /** What was chosen before. */
  chosen?: Record<string, string> | undefined;
  onColumns(columns: Record<string, string>): void;
}

export function FileColumns({ answer, missing, chosen = {}, onColumns }: FileColumnsProps) {
  const [changed, setChanged] = useState<Record<string, string>>({});
  const { columns, fields } = answer;
  const unchanged = Object.keys(changed).length === 0;
  return (
    <Form class="facts" label="Columns" onSubmit={() => onColumns({ ...chosen, ...changed })}>
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
      <button type="submit" class="primary" disabled={unchanged}>
        Check again
      </button>
    </Form>
  );
}
