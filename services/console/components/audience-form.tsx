import { useState } from 'preact/hooks';
import type { Audience } from '../../audiences/schema.js';
import type { RequestOf } from '../api.js';

export const AUDIENCE_FLAGS = [
  ['network_a', 'Network A'],
  ['network_b', 'Network B'],
  ['network_c', 'Network C'],
] as const;
const TEXTS = [
  ['description', 'Description'],
  ['tracking_utm_value', 'UTM value'],
] as const;

export type AudienceFields = Omit<RequestOf<'/api/audiences/create'>, 'organization_id' | 'id'>;

/** What can be edited of an audience; `null` clears. */
export const fieldsOfAudience = ({
  name,
  description,
  network_a,
  network_b,
  network_c,
  tracking_utm_value,
}: Audience) => ({ name, description, network_a, network_b, network_c, tracking_utm_value });

interface AudienceFormProps {
  audience?: Audience;
  submit: string;
  onSubmit(fields: AudienceFields): Promise<unknown>;
}

export function AudienceForm({ audience, submit, onSubmit }: AudienceFormProps) {
  const [fields, setFields] = useState<AudienceFields>(audience ? fieldsOfAudience(audience) : { name: '' });
  const [busy, setBusy] = useState(false);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        void onSubmit({ ...fields, name: fields.name.trim() }).then(() => setBusy(false));
      }}
    >
      <fieldset disabled={busy}>
        <label class="field">
          <span>Name</span>
          <input
            required
            pattern=".*\S.*"
            autocomplete="off"
            value={fields.name}
            onInput={(event) => setFields({ ...fields, name: event.currentTarget.value })}
          />
        </label>
        {TEXTS.map(([name, label]) => (
          <label key={name} class="field">
            <span>{label}</span>
            <input
              autocomplete="off"
              value={fields[name] ?? ''}
              onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value || null })}
            />
          </label>
        ))}
        <div class="row">
          {AUDIENCE_FLAGS.map(([name, label]) => (
            <label key={name} class="field inline">
              <input
                type="checkbox"
                checked={fields[name] ?? false}
                onChange={(event) => setFields({ ...fields, [name]: event.currentTarget.checked })}
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
        <button type="submit" class="primary">
          {submit}
        </button>
      </fieldset>
    </form>
  );
}
