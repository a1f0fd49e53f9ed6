/** One request: entered, shown in every language, sent, and its answer. */
import { signal } from '@preact/signals';
import { useId, useState } from 'preact/hooks';
import { Code } from '../components/code.js';
import { Fact } from '../components/fact.js';
import { TextField } from '../components/form.js';
import { currentKey, missingScope, organizationId, session, signIn } from '../session.js';
import { Samples } from './code-samples.js';
import { flatten, type Operation, type Parameter, scopeOf } from './open-api.js';
import type { Sample } from './samples.js';

interface Received {
  status: number;
  statusText: string;
  headers: [string, string][];
  text: string;
  milliseconds: number;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** With the organization of the key in place of that of the sample data. */
function ofOrganization(value: unknown): unknown {
  if (organizationId.value === '' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ofOrganization);
  const name = ['organization_id', 'organizationId'].find((each) => each in value);
  return name === undefined ? value : { ...value, [name]: organizationId.value };
}

export function TryIt({ operation }: { operation: Operation }) {
  const { method, path, parameters, body, secured } = operation;
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(
      parameters
        .filter(({ in: place, example }) => place === 'path' || example !== undefined)
        .map(({ name, schema, example }) => [name, String(example ?? flatten(schema).enum?.[0] ?? '')]),
    ),
  );
  const [edited, setEdited] = useState<string>();
  const [received, setReceived] = useState<Received | string>();
  const [sending, setSending] = useState(false);
  const stream = parameters.find(({ in: place }) => place === 'path')?.name;
  const example = body?.content.examples?.[values[stream ?? ''] ?? '']?.value ?? body?.content.example;
  const own = ofOrganization(example);
  const text = edited ?? (body && JSON.stringify(own, null, 2));

  const headers: Record<string, string> = body ? { 'Content-Type': 'application/json' } : {};
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place } of parameters) {
    const value = values[name] ?? '';
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '' && place === 'query') query.append(name, value);
    else if (value !== '') headers[name] = value;
  }
  const url = address + (query.size > 0 ? `?${query}` : '');
  const sample: Sample = {
    method,
    url: location.origin + url,
    secured,
    headers,
    ...(text === undefined ? {} : { body: text }),
  };

  async function send(event: Event) {
    event.preventDefault();
    setSending(true);
    const start = performance.now();
    try {
      const sent = secured && keyShown() !== '' ? { ...headers, 'X-Api-Key': keyShown() } : headers;
      const response = await fetch(url, { method, headers: sent, body: text });
      const answer = await response.text();
      setReceived({
        status: response.status,
        statusText: response.statusText,
        headers: [...response.headers],
        text: pretty(answer),
        milliseconds: Math.round(performance.now() - start),
      });
    } catch {
      setReceived('The server cannot be reached.');
    } finally {
      setSending(false);
    }
  }

  const id = useId();
  const scope = scopeOf(operation);
  const missing = secured && scope !== undefined && missingScope(scope) !== null;
  return (
    <section aria-labelledby={id} class="try-it">
      <h2 id={id}>Try it</h2>
      <Samples sample={sample} />
      <form onSubmit={(event) => void send(event)}>
        {secured && <KeyField />}
        <ParameterInputs
          parameters={parameters}
          values={values}
          onChange={(name, value) => {
            setValues({ ...values, [name]: value });
            // Each stream has an example of its own.
            if (name === stream) setEdited(undefined);
          }}
        />
        {text !== undefined && (
          <label class="field body-field">
            <span>Body (application/json)</span>
            <textarea
              spellcheck={false}
              rows={Math.min(text.split('\n').length + 1, 18)}
              value={text}
              onInput={({ currentTarget }) => setEdited(currentTarget.value)}
            />
          </label>
        )}
        <p class="row">
          <button type="submit" class="primary" disabled={sending || missing}>
            Send
          </button>
          {edited !== undefined && (
            <button type="button" onClick={() => setEdited(undefined)}>
              Reset
            </button>
          )}
          {missing && (
            <span class="note">
              This key lacks the scope <code>{scope}</code>.
            </span>
          )}
        </p>
      </form>
      <div role="status">
        {sending && <p class="note">Waiting for the answer …</p>}
        {received !== undefined && !sending && <ReceivedAnswer received={received} />}
      </div>
    </section>
  );
}

/** A key that is typed; `null` once it is that of the session. */
const typedKey = signal<string | null>(null);
const keyShown = () => typedKey.value ?? currentKey.value;

/** Signs in as soon as the key is whole. */
async function enterKey(key: string): Promise<void> {
  typedKey.value = key;
  if (!/^rl_live_\w{8}_\w{38}$/.test(key)) return;
  await signIn(key);
  if (session.value?.key === typedKey.value) typedKey.value = null;
}

function KeyField() {
  return (
    <TextField
      label={`API key${organizationId.value === '' ? '' : `, of ${organizationId}`}`}
      type="password"
      name="key"
      spellcheck={false}
      value={keyShown()}
      onText={(text) => void enterKey(text.trim())}
    />
  );
}

interface ParameterInputsProps {
  parameters: Parameter[];
  values: Record<string, string>;
  onChange(name: string, value: string): void;
}

function ParameterInputs({ parameters, values, onChange }: ParameterInputsProps) {
  const input = ({ name, in: place, schema }: Parameter) => {
    const { enum: given, type } = flatten(schema);
    const choices = given ?? (type === 'boolean' ? [true, false] : undefined);
    const field = { name, value: values[name] ?? '' };
    const change = (text: string) => onChange(name, text);
    if (!choices) return <TextField key={name} label={name} {...field} onText={change} />;
    return (
      <label key={name} class="field">
        <span>{name}</span>
        <select {...field} onChange={(event) => change(event.currentTarget.value)}>
          {place !== 'path' && <option value="">not sent</option>}
          {choices.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </select>
      </label>
    );
  };
  const inPath = parameters.filter(({ in: place }) => place === 'path');
  const optional = parameters.filter(({ in: place }) => place !== 'path');
  return (
    <>
      {inPath.map(input)}
      {optional.length > 0 && (
        <details>
          <summary>Parameters and headers</summary>
          <div class="stack">{optional.map(input)}</div>
        </details>
      )}
    </>
  );
}

function ReceivedAnswer({ received }: { received: Received | string }) {
  if (typeof received === 'string') return <p class="bad">{received}</p>;
  const { status, statusText, headers, text, milliseconds } = received;
  const [, code] = status >= 400 ? (/"code": "(\w+)"/.exec(text) ?? []) : [];
  return (
    <>
      <p class="received">
        <strong class={status < 400 ? 'good' : 'bad'}>
          {status} {statusText}
        </strong>{' '}
        <span class="note">{milliseconds} ms</span>
        {code && <a href={`/docs/errors#${code}`}>What {code} means</a>}
      </p>
      <details>
        <summary>{headers.length} headers</summary>
        <dl class="headers">
          {headers.map(([name, value]) => (
            <Fact key={name} label={name}>
              {value}
            </Fact>
          ))}
        </dl>
      </details>
      <Code label="Body of the answer" text={text} />
    </>
  );
}
