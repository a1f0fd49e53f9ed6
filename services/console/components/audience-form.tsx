import { useState } from 'preact/hooks';
import type { Audience } from '../../audiences/schema.js';
import type { RequestOf } from '../api.js';
import { BusyForm, TextField } from './form.js';

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
  return (
    <BusyForm onSubmit={() => onSubmit({ ...fields, name: fields.name.trim() })}>
      <TextField
        label="Name"
        required
        pattern=".*\S.*"
        value={fields.name}
        onText={(name) => setFields({ ...fields, name })}
      />
      {TEXTS.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          value={fields[name] ?? ''}
          onText={(text) => setFields({ ...fields, [name]: text || null })}
        />
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
    </BusyForm>
  );
}
