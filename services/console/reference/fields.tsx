/** The fields of an object with type, limits and meaning; those of nested objects fold. */

import { choicesOf, flatten, limitsOf, objectOf, type Parameter, type Schema, typeOf } from './open-api.js';
import { Description } from './text.js';

interface FieldProps {
  name: string;
  id?: string;
  schema: Schema;
  required: boolean;
  /** Where it goes, for parameters. */
  place?: string;
  description?: string;
}

function Field({ name, id, schema, required, place, description }: FieldProps) {
  const flat = flatten(schema);
  const nested = objectOf(schema);
  const limits = limitsOf(schema);
  const choices = choicesOf(schema);
  return (
    <li id={id} class="api-field">
      <p class="field-head">
        <code class="field-name">{name}</code>
        <span class="note">
          {typeOf(schema)}
          {place && `, ${place}`}
        </span>
        {required && <span class="required">required</span>}
      </p>
      <Description text={description ?? schema.description ?? flat.description} />
      {limits.length > 0 && <p class="note">{limits.join('; ')}</p>}
      {choices.length > 0 && <Choices values={choices} />}
      {flat.pattern && (
        <p class="note">
          matches <code>{flat.pattern}</code>
        </p>
      )}
      {nested && (
        <details>
          <summary>
            Fields of <code>{name}</code>
          </summary>
          <Fields schema={nested} />
        </details>
      )}
    </li>
  );
}

const SHOWN_CHOICES = 12;

function Choices({ values }: { values: unknown[] }) {
  const list = (some: unknown[]) =>
    some.map((value, index) => (
      <>
        {index > 0 && ' '}
        <code key={String(value)}>{String(value)}</code>
      </>
    ));
  if (values.length <= SHOWN_CHOICES) return <p class="note choices">one of {list(values)}</p>;
  return (
    <details>
      <summary>one of {values.length} values</summary>
      <p class="note choices">{list(values)}</p>
    </details>
  );
}

/** List of the fields of a schema. `anchor` is the prefix of the fields' ids (`<anchor>-<name>`), so that links can point to a field. */
export function Fields({ schema, anchor }: { schema: Schema; anchor?: string }) {
  const object = objectOf(schema);
  if (!object) return <p class="note">{typeOf(schema)}</p>;
  const required = new Set(object.required);
  return (
    <ul class="fields">
      {Object.entries(object.properties ?? {}).map(([name, field]) => (
        <Field
          key={name}
          name={name}
          id={anchor && `${anchor}-${name}`}
          schema={field}
          required={required.has(name)}
        />
      ))}
    </ul>
  );
}

export function ParameterFields({ parameters }: { parameters: Parameter[] }) {
  return (
    <ul class="fields">
      {parameters.map(({ name, in: place, schema, required = false, description }) => (
        <Field
          key={name}
          name={name}
          id={`parameter-${name}`}
          schema={schema}
          required={required}
          place={place}
          description={description}
        />
      ))}
    </ul>
  );
}
