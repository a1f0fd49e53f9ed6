import { useEffect, useState } from 'preact/hooks';
import { plural } from '../format.js';
import type { AudienceName } from '../memberships.js';
import { shownOf, useRequest } from '../use-request.js';
import { Form, TextField } from './form.js';
import { Failed } from './states.js';

const SHOWN = 8;

interface AudiencePickerProps {
  label: string;
  /** Action of an audience's button, such as `Add to` in `Add to Customers`. */
  verb: string;
  disabled: boolean;
  /** Ids of audiences that cannot be picked, because picking them would change nothing. */
  except?: readonly string[];
  /** For a popover: audiences are listed before anything is typed, and the field has the focus. */
  isOpen?: boolean;
  onPick(audience: AudienceName): void;
  /** Called to create an audience with the typed name. If absent, none can be created. */
  onCreate?(name: string): void;
}

/** Finds audiences by name. */
export function AudiencePicker(props: AudiencePickerProps) {
  const { label, verb, disabled, except = [], isOpen = false, onPick, onCreate } = props;
  const [typed, setTyped] = useState('');
  const query = typed.trim();
  const isAsked = !disabled && (query !== '' || isOpen);
  const found = useRequest(
    '/api/audiences/search',
    isAsked ? { ...(query === '' ? {} : { query }), limit: SHOWN } : null,
  );
  const offered = isAsked ? (shownOf(found)?.data.audiences ?? []) : [];
  const named = offered.filter(({ name }) => name.toLowerCase() === query.toLowerCase());
  const isNew = query !== '' && named.length === 0;
  const pick = ({ id, name }: AudienceName) => {
    setTyped('');
    onPick({ id, name });
  };
  const isCreatable = isNew && found.state === 'current' && !found.loading;
  function create() {
    setTyped('');
    onCreate?.(query);
  }
  useEffect(() => {
    if (isOpen) document.querySelector<HTMLElement>('.popover[open] .popover-body input')?.focus();
  }, []);
  /** The text with which Enter was pressed. */
  const [entered, setEntered] = useState('');
  // Picks the audience with that name, or creates it if none has it, once the server has said so.
  useEffect(() => {
    if (entered === '' || entered !== query || found.state !== 'current' || found.loading) return;
    setEntered('');
    const [only, ...more] = named;
    if (only && more.length === 0 && !except.includes(only.id)) pick(only);
    else if (!only && onCreate) create();
  }, [entered, found]);
  return (
    <>
      <Form onSubmit={() => setEntered(query)}>
        <TextField
          label={label}
          value={typed}
          placeholder="Name of an audience"
          spellcheck={false}
          disabled={disabled}
          onText={setTyped}
        />
      </Form>
      {isAsked && <Failed what="The audiences" answer={found} />}
      <ul class="offers">
        {offered.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              disabled={disabled || except.includes(id)}
              onClick={() => pick({ id, name })}
            >
              {except.includes(id) ? `In ${name}` : `${verb} ${name}`}
            </button>
          </li>
        ))}
        {onCreate && isCreatable && (
          <li>
            <button type="button" disabled={disabled} onClick={create}>
              New audience “{query}”
            </button>
          </li>
        )}
      </ul>
      {isAsked && found.state === 'current' && found.data.total_count > SHOWN && (
        <p class="note">
          {SHOWN} of {plural(found.data.total_count, 'audience')}; type to find others.
        </p>
      )}
      {!onCreate && query !== '' && found.state === 'current' && offered.length === 0 && (
        <p class="note">No audience matches.</p>
      )}
    </>
  );
}
