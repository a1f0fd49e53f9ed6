import { useState } from 'preact/hooks';
import type { AudienceName } from '../memberships.js';
import { useRequest } from '../use-request.js';
import { TextField } from './form.js';

const SHOWN = 8;

interface AudiencePickerProps {
  label: string;
  /** Of the button of an audience: `Add to Customers`. */
  verb: string;
  disabled: boolean;
  /** Ids of audiences that cannot be picked, since it would change nothing. */
  except?: readonly string[];
  /** Whether they are listed before anything is typed. */
  isOpen?: boolean;
  onPick(audience: AudienceName): void;
  /** Where a new audience of the typed name can be made. */
  onCreate?(name: string): void;
}

/** Finds an audience by its name. */
export function AudiencePicker(props: AudiencePickerProps) {
  const { label, verb, disabled, except = [], isOpen = false, onPick, onCreate } = props;
  const [typed, setTyped] = useState('');
  const query = typed.trim();
  const isAsked = !disabled && (query !== '' || isOpen);
  const found = useRequest(
    '/api/audiences/search',
    isAsked ? { ...(query === '' ? {} : { query }), limit: SHOWN } : null,
  );
  const offered = isAsked ? (found.data?.audiences ?? []) : [];
  const isNew = query !== '' && !offered.some(({ name }) => name.toLowerCase() === query.toLowerCase());
  return (
    <>
      <TextField
        label={label}
        value={typed}
        placeholder="Name of an audience"
        spellcheck={false}
        disabled={disabled}
        onText={setTyped}
      />
      <ul class="offers">
        {offered.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              disabled={disabled || except.includes(id)}
              onClick={() => {
                setTyped('');
                onPick({ id, name });
              }}
            >
              {except.includes(id) ? `In ${name}` : `${verb} ${name}`}
            </button>
          </li>
        ))}
        {onCreate && isNew && !found.loading && (
          <li>
            <button
              type="button"
              disabled={disabled}
              onClick={() => {
                setTyped('');
                onCreate(query);
              }}
            >
              New audience “{query}”
            </button>
          </li>
        )}
      </ul>
      {!onCreate && query !== '' && found.data && offered.length === 0 && (
        <p class="note">No audience matches.</p>
      )}
    </>
  );
}
