import { useState } from 'preact/hooks';
import type { Audience } from '../../audiences/schema.js';
import type { RequestOf } from '../api.js';
import { useLoss } from '../router.js';
import { useSession } from '../session.js';
import { BusyForm, TextField, UNSAVED, useWrongFields } from './form.js';

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

interface AudienceFormProps {
  audience?: Audience;
  submit: string;
  /** Only the fields that were edited. Other fields keep changes that somebody else made meanwhile. */
  onSubmit(typed: Partial<AudienceFields>): Promise<unknown>;
}

export function AudienceForm({ audience, submit, onSubmit }: AudienceFormProps) {
  const [typed, setTyped] = useState<Partial<AudienceFields>>({});
  const fields: Partial<AudienceFields> = { ...audience, ...typed };
  useLoss(Object.keys(typed).length > 0 ? UNSAVED : null);
  const session = useSession();
  const { setWrong, errorOf } = useWrongFields();
  return (
    <BusyForm
      onSubmit={async () => {
        await onSubmit(typed);
        setWrong(session.notice.value?.fields ?? []);
      }}
    >
      <TextField
        label="Name"
        required
        pattern=".*\S.*"
        value={fields.name ?? ''}
        error={errorOf('name')}
        onText={(name) => setTyped({ ...typed, name })}
      />
      {TEXTS.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          value={fields[name] ?? ''}
          error={errorOf(name)}
          onText={(text) => setTyped({ ...typed, [name]: text || null })}
        />
      ))}
      <div class="row">
        {AUDIENCE_FLAGS.map(([name, label]) => (
          <label key={name} class="field inline">
            <input
              type="checkbox"
              checked={fields[name] ?? false}
              onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.checked })}
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
